//! `Bucket`: a small number computed from a value, which distributes a hot key over partitions.

use std::marker::PhantomData;
use std::ops::Range;

use crate::error::{Error, Result};
use crate::key::codec::fault::{CodecFault, mismatch};
use crate::key::codec::name::Name;
use crate::key::codec::{Alphabet, DerivedPart, Form, PartSource, decimal};

/// A derived part with a small number of values, all of which can be enumerated.
///
/// Laws: a value has the same bucket in every version and on every machine; every bucket has one encoding of the form [`FORM`](DerivedPart::FORM),
/// and the encodings sort by number. The order of values is lost, so ranges of values are not available.
pub trait Buckets<T>: DerivedPart<T> {
    /// The number of buckets, which is also the minimum number of requests for reading all values.
    const COUNT: u32;

    /// Returns the bucket of a value. It is less than [`COUNT`](Self::COUNT).
    ///
    /// # Errors
    /// `KeyEncoding` if the value cannot be encoded.
    fn bucket_of(value: &T) -> Result<u32>;

    /// Appends the encoding of a bucket.
    ///
    /// # Errors
    /// `KeyEncoding` if the bucket does not exist.
    fn encode_bucket(bucket: u32, out: &mut String) -> Result<()>;

    /// Decodes a bucket.
    ///
    /// # Errors
    /// `EntityMismatch` if the string is not an output of `encode_bucket`.
    fn decode_bucket(text: &str) -> Result<u32>;

    /// Returns every bucket, for reads of all values. Such a read sends at least one request for each bucket.
    #[must_use]
    fn all_buckets() -> Range<u32> {
        0..Self::COUNT
    }
}

/// A codec that writes the number of one of `N` buckets, chosen by a hash of `C`'s encoding. The number is padded to the digits of `N - 1`.
///
/// The bucket is the 64-bit FNV-1a hash of the UTF-8 bytes, followed by the finalizer of `MurmurHash3` (`fmix64`), modulo `N`. The function never
/// changes, and `N` must not change after entities have been stored. A read of one value computes its bucket; a read of all values queries all
/// `N` buckets.
///
/// ```
/// use table_core::key::codec::{Bucket, Buckets, DerivedPart, Padded};
///
/// type Part = Bucket<Padded, 16>;
/// let bucket = <Part as Buckets<u32>>::bucket_of(&223)?;
/// let mut key = "day_20140423_".to_owned();
/// Part::encode(&223u32, &mut key)?;
/// assert_eq!(key, format!("day_20140423_{bucket:02}"));
/// assert_eq!(<Part as Buckets<u32>>::all_buckets(), 0..16);
/// # Ok::<(), table_core::Error>(())
/// ```
#[derive(Debug)]
pub struct Bucket<C, const N: u32>(PhantomData<C>);

struct Named<C, T, const N: u32>(PhantomData<(C, T)>);

impl<T, C: PartSource<T>, const N: u32> Named<C, T, N> {
    /// The name includes the width and the sign, because the hash depends on them.
    const NAME: &'static Name<256> = {
        let mut name = Name::EMPTY.with("bucket(").with(C::SOURCE_NAME);
        if C::SOURCE_FORM.is_fixed() {
            let sign = if C::SOURCE_FORM.alphabet.contains('-') { ":-" } else { ":" };
            name = name.with(sign).with_number(C::SOURCE_FORM.max);
        }
        &name.with(",").with_number(N as usize).with(")")
    };
}

impl<C, const N: u32> Bucket<C, N> {
    const WIDTH: u32 = {
        assert!(N > 0, "[T036] `bucket(field, n)`: n must be at least 1");
        let mut width = 1;
        let mut rest = (N - 1) / 10;
        while rest > 0 {
            width += 1;
            rest /= 10;
        }
        width
    };
}

const fn hash(text: &[u8]) -> u64 {
    let mut hash: u64 = 0xCBF2_9CE4_8422_2325;
    let mut at = 0;
    while at < text.len() {
        hash = (hash ^ text[at] as u64).wrapping_mul(0x0000_0100_0000_01B3);
        at += 1;
    }
    // The low bits of FNV-1a depend only on the low bits of the input; the finalizer mixes all bits.
    hash = (hash ^ (hash >> 33)).wrapping_mul(0xFF51_AFD7_ED55_8CCD);
    hash = (hash ^ (hash >> 33)).wrapping_mul(0xC4CE_B9FE_1A85_EC53);
    hash ^ (hash >> 33)
}

fn bucket<const N: u32>(text: &str) -> u32 {
    u32::try_from(hash(text.as_bytes()) % u64::from(N.max(1))).unwrap_or_default()
}

impl<T, C: PartSource<T>, const N: u32> DerivedPart<T> for Bucket<C, N> {
    const NAME: &'static str = Named::<C, T, N>::NAME.as_str();
    const FORM: Form = Form::fixed(Self::WIDTH as usize, false, Alphabet::DIGITS);
    const FAULT: Option<&'static str> = C::SOURCE_FAULT;

    fn encode(value: &T, out: &mut String) -> Result<()> {
        // The encoding of the value is needed only temporarily, so it is appended to the buffer and removed again.
        let start = out.len();
        C::write_hashed(value, out)?;
        let number = bucket::<N>(out.get(start..).unwrap_or_default());
        out.truncate(start);
        <Self as Buckets<T>>::encode_bucket(number, out)
    }
}

impl<T, C: PartSource<T>, const N: u32> Buckets<T> for Bucket<C, N> {
    const COUNT: u32 = N;

    fn bucket_of(value: &T) -> Result<u32> {
        let mut text = String::new();
        C::write_hashed(value, &mut text)?;
        Ok(bucket::<N>(&text))
    }

    fn encode_bucket(number: u32, out: &mut String) -> Result<()> {
        if number >= N {
            return Err(Error::of(CodecFault::Bucket { number, last: N.saturating_sub(1) }));
        }
        for place in (0..Self::WIDTH).rev() {
            let [digit, ..] = (number / 10u32.pow(place) % 10).to_le_bytes();
            out.push(char::from(b'0' + digit));
        }
        Ok(())
    }

    fn decode_bucket(text: &str) -> Result<u32> {
        Some(text)
            .filter(|text| text.len() == Self::WIDTH as usize)
            .and_then(|text| decimal::read(text.as_bytes(), false))
            .and_then(|number| u32::try_from(number).ok())
            .filter(|number| *number < N)
            .ok_or_else(|| mismatch(text, <Self as DerivedPart<T>>::NAME))
    }
}
