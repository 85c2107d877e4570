//! `Digest`: the first characters of a hash, to distribute keys or to look up values.

use std::fmt::Write;
use std::marker::PhantomData;

use table_store::Result;

use crate::key::codec::name::{Name, named};
use crate::key::codec::{Alphabet, DerivedPart, Facts, Form, PartSource};

/// A hash function for bytes.
///
/// ```
/// use table_core::key::codec::{Crc32, Fnv1a, Hasher};
///
/// /// Returns the hash of a string.
/// fn digits<H: Hasher>(text: &str) -> String {
///     let mut out = String::new();
///     H::hash(text.as_bytes(), &mut out);
///     out
/// }
/// assert_eq!(digits::<Crc32>("123456789"), "cbf43926");
/// assert_eq!(digits::<Fnv1a>("").len(), Fnv1a::DIGITS);
/// ```
#[diagnostic::on_unimplemented(
    message = "[T178] the hash `{Self}` needs the feature `hashes`",
    label = "this hash is not compiled",
    note = "in Cargo.toml, add `features = [\"hashes\"]` to `table-core`, or to `table-patterns`",
    note = "`crc32` and `fnv1a` need no feature"
)]
pub trait Hasher {
    /// The name of the hash function. It must never change after rows have been stored.
    const NAME: &'static str;
    /// The number of hexadecimal digits of a hash.
    const DIGITS: usize;

    /// Appends the hash of `bytes` as lower-case hexadecimal digits.
    fn hash(bytes: &[u8], out: &mut String);
}

/// The SHA-256 hash, as 64 hexadecimal digits. Requires the `hashes` feature.
///
/// ```
/// # #[cfg(feature = "hashes")] {
/// use table_core::key::codec::{Hasher, Sha256};
///
/// let mut digits = String::new();
/// Sha256::hash(b"abc", &mut digits);
/// assert!(digits.starts_with("ba7816bf") && digits.len() == Sha256::DIGITS);
/// # }
/// ```
#[derive(Debug)]
pub enum Sha256 {}

/// The MD5 hash, as 32 hexadecimal digits. It is not secure. Use it only for compatibility with other programs. Requires the `hashes` feature.
///
/// ```
/// # #[cfg(feature = "hashes")] {
/// use table_core::key::codec::{Hasher, Md5};
///
/// let mut digits = String::new();
/// Md5::hash(b"abc", &mut digits);
/// assert_eq!(digits, "900150983cd24fb0d6963f7d28e17f72");
/// # }
/// ```
#[derive(Debug)]
pub enum Md5 {}

/// The CRC-32 hash of zip files (IEEE 802.3), as 8 hexadecimal digits.
#[derive(Debug)]
pub enum Crc32 {}

/// The 64-bit FNV-1a hash, as 16 hexadecimal digits.
#[derive(Debug)]
pub enum Fnv1a {}

#[cfg(feature = "hashes")]
impl Hasher for Sha256 {
    const NAME: &'static str = "sha256";
    const DIGITS: usize = 64;

    fn hash(bytes: &[u8], out: &mut String) {
        use sha2::Digest as _;
        print(&sha2::Sha256::digest(bytes), out);
    }
}

#[cfg(feature = "hashes")]
impl Hasher for Md5 {
    const NAME: &'static str = "md5";
    const DIGITS: usize = 32;

    fn hash(bytes: &[u8], out: &mut String) {
        use md5::Digest as _;
        print(&md5::Md5::digest(bytes), out);
    }
}

#[cfg(feature = "hashes")]
fn print(hash: &[u8], out: &mut String) {
    for byte in hash {
        let _ = write!(out, "{byte:02x}");
    }
}

impl Hasher for Crc32 {
    const NAME: &'static str = "crc32";
    const DIGITS: usize = 8;

    fn hash(bytes: &[u8], out: &mut String) {
        let crc =
            bytes.iter().fold(u32::MAX, |crc, byte| {
                (0..8).fold(crc ^ u32::from(*byte), |crc, _| {
                    if crc & 1 == 1 { crc >> 1 ^ 0xEDB8_8320 } else { crc >> 1 }
                })
            });
        let _ = write!(out, "{:08x}", !crc);
    }
}

impl Hasher for Fnv1a {
    const NAME: &'static str = "fnv1a";
    const DIGITS: usize = 16;

    fn hash(bytes: &[u8], out: &mut String) {
        let hash = bytes.iter().fold(0xCBF2_9CE4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01B3)
        });
        let _ = write!(out, "{hash:016x}");
    }
}

/// A derived key part that contains the first `N` characters of a hash of `C`'s encoding. The value cannot be recovered from the hash, so the field is also
/// stored as a property.
///
/// `FORM` selects the characters. They are hexadecimal digits (`'x'` in lower case, `'X'` in upper case), or an alphabet of RFC 4648 without padding (`'u'` for
/// base64url, `'b'` for base32).
///
/// Fixed width, not ordered. Different values may have the same characters. A short digest therefore distributes keys, but does not identify a value.
///
/// ```
/// use table_core::key::codec::{Crc32, DerivedPart, Digest, Text};
///
/// let mut key = String::new();
/// Digest::<Text, Crc32, 8>::encode(&"123456789".to_owned(), &mut key)?;
/// Digest::<Text, Crc32, 4, 'X'>::encode(&"123456789".to_owned(), &mut key)?;
/// Digest::<Text, Crc32, 6, 'u'>::encode(&"123456789".to_owned(), &mut key)?;
/// assert_eq!(key, "cbf43926CBF4y_Q5Jg");
/// # Ok::<(), table_core::Error>(())
/// ```
#[derive(Debug)]
pub struct Digest<C, H, const N: usize, const FORM: char = 'x'>(PhantomData<(C, H)>);

impl<C, H: Hasher, const N: usize, const FORM: char> Digest<C, H, N, FORM> {
    const ALPHABET: &'static str = match FORM {
        'X' => "0123456789ABCDEF",
        'u' => "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_",
        'b' => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
        _ => "0123456789abcdef",
    };
    /// The number of bits in one character.
    const BITS: u32 = Self::ALPHABET.len().ilog2();
    /// The number of characters in a complete hash.
    const CHARACTERS: usize = (4 * H::DIGITS).div_ceil(Self::BITS as usize);

    /// Appends the first `N` characters of a hash, which is passed as hexadecimal digits.
    fn push(digits: &str, out: &mut String) {
        let (mut bits, mut held, mut left) = (0, 0, N);
        let mut push = |bits: u32| {
            let at = bits as usize & (Self::ALPHABET.len() - 1);
            if left > 0 {
                out.push_str(Self::ALPHABET.get(at..=at).unwrap_or_default());
                left -= 1;
            }
        };
        for digit in digits.chars().filter_map(|digit| digit.to_digit(16)) {
            bits = bits << 4 | digit;
            held += 4;
            if held >= Self::BITS {
                held -= Self::BITS;
                push(bits >> held);
            }
        }
        if held > 0 {
            push(bits << (Self::BITS - held));
        }
    }
}

struct Named<C, T, H, const N: usize, const FORM: char>(PhantomData<(C, T, H)>);

impl<T, C: PartSource<T>, H: Hasher, const N: usize, const FORM: char> Named<C, T, H, N, FORM> {
    /// Returns the name of the part. If the source's encoding has a fixed width, the name includes the width, because the hash depends on it.
    const fn name<const CAPACITY: usize>() -> Name<CAPACITY> {
        let name = Name::EMPTY.with("hash(").with(H::NAME).with(",").with_number(N);
        let name = name.with(match FORM {
            'X' => ",upper,",
            'u' => ",base64url,",
            'b' => ",base32,",
            _ => ",",
        });
        let name = name.with(C::SOURCE_NAME);
        if C::SOURCE_FORM.is_fixed() {
            name.with(":").with_number(C::SOURCE_FORM.max).with(")")
        } else {
            name.with(")")
        }
    }

    named!();
}

impl<T, C, H, const N: usize, const FORM: char> DerivedPart<T> for Digest<C, H, N, FORM>
where
    C: PartSource<T>,
    H: Hasher,
{
    const NAME: &'static str = Named::<C, T, H, N, FORM>::NAMED;
    const FORM: Form = Form::fixed(N, false, Alphabet::of(Self::ALPHABET));
    const FACTS: Facts = Facts {
        fault: if N >= 1 && N <= Self::CHARACTERS {
            C::SOURCE_FAULT
        } else {
            Some("[T029] `hash(…, n, field)`: n must be between 1 and the number of characters of the hash")
        },
        ..Facts::NONE
    };

    fn encode(value: &T, out: &mut String) -> Result<()> {
        // The value's encoding is needed only temporarily, so it is appended to the buffer and later removed.
        let start = out.len();
        C::write_hashed(value, out)?;
        let mut digits = String::with_capacity(H::DIGITS);
        H::hash(out.get(start..).unwrap_or_default().as_bytes(), &mut digits);
        out.truncate(start);
        Self::push(&digits, out);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash<H: Hasher>(text: &str) -> String {
        let mut out = String::new();
        H::hash(text.as_bytes(), &mut out);
        out
    }

    fn characters<const N: usize, const FORM: char>(text: &str) -> String {
        let mut out = String::new();
        Digest::<crate::key::codec::Text, Crc32, N, FORM>::encode(&text.to_owned(), &mut out).unwrap();
        out
    }

    #[test]
    fn encodings_follow_rfc_4648() {
        // The CRC-32 consists of the bytes cb f4 39 26.
        assert_eq!(characters::<8, 'X'>("123456789"), "CBF43926");
        assert_eq!(characters::<6, 'u'>("123456789"), "y_Q5Jg");
        assert_eq!(characters::<3, 'u'>("123456789"), "y_Q");
        assert_eq!(characters::<7, 'b'>("123456789"), "ZP2DSJQ");
        #[cfg(feature = "hashes")]
        {
            let mut out = String::new();
            Digest::<crate::key::codec::Text, Sha256, 43, 'u'>::encode(&"abc".to_owned(), &mut out).unwrap();
            assert_eq!(out, "ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0");
        }
    }

    #[test]
    fn hashes_match_their_definitions() {
        assert_eq!(hash::<Crc32>("123456789"), "cbf43926");
        assert_eq!(hash::<Fnv1a>("foobar"), "85944171f73967e8");
        #[cfg(feature = "hashes")]
        {
            assert_eq!(
                hash::<Sha256>("abc"),
                "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
            );
            assert_eq!(hash::<Md5>("abc"), "900150983cd24fb0d6963f7d28e17f72");
        }
    }
}
