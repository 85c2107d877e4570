//! `Bucket`: a small number computed from a value. It distributes a hot key over several partitions.

use std::marker::PhantomData;

use table_store::{Error, Result};

use crate::key::codec::fault::CodecFault;
use crate::key::codec::name::{Name, named};
use crate::key::codec::{Alphabet, DerivedPart, Facts, Form, PartSource};

/// A codec that writes a bucket number from 0 to `N - 1`. A hash of `C`'s encoding determines the bucket. The number is zero-padded to the width of `N - 1`.
///
/// The hash is the 64-bit FNV-1a of the UTF-8 bytes, followed by the finalizer of `MurmurHash3` (`fmix64`), modulo `N`. The hash function never changes, and
/// `N` must not change once entities are stored.
///
/// A read of one value queries only that value's bucket. A read of all values queries all `N` buckets. The order of values is lost, so range queries are not
/// available.
///
/// ```
/// use table_core::key::codec::{Bucket, DerivedPart, Padded};
///
/// let mut key = "day_20140423_".to_owned();
/// Bucket::<Padded, 16>::encode(&223u32, &mut key)?;
/// assert_eq!(key, "day_20140423_08");
/// # Ok::<(), table_core::Error>(())
/// ```
#[derive(Debug)]
pub struct Bucket<C, const N: u32>(PhantomData<C>);

struct Named<C, T, const N: u32>(PhantomData<(C, T)>);

impl<T, C: PartSource<T>, const N: u32> Named<C, T, N> {
    /// Returns the name of the part. If the source's encoding has a fixed width, the name includes the width and the sign, because the hash depends on them.
    const fn name<const CAPACITY: usize>() -> Name<CAPACITY> {
        let mut name = Name::EMPTY.with("bucket(").with(C::SOURCE_NAME);
        if C::SOURCE_FORM.is_fixed() {
            let sign = if C::SOURCE_FORM.alphabet.contains('-') { ":-" } else { ":" };
            name = name.with(sign).with_number(C::SOURCE_FORM.max);
        }
        name.with(",").with_number(N as usize).with(")")
    }

    named!();
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

    /// The number of buckets, which is the minimum number of requests needed to read all values.
    pub const COUNT: u32 = N;

    /// Appends the encoding of bucket `number`.
    ///
    /// # Errors
    /// `KeyEncoding` if the bucket does not exist.
    #[doc(hidden)]
    pub fn encode_bucket(number: u32, out: &mut String) -> Result<()> {
        if number >= N {
            return Err(Error::of(CodecFault::Bucket { number, last: N.saturating_sub(1) }));
        }
        for place in (0..Self::WIDTH).rev() {
            let [digit, ..] = (number / 10u32.pow(place) % 10).to_le_bytes();
            out.push(char::from(b'0' + digit));
        }
        Ok(())
    }
}

const fn hash(text: &[u8]) -> u64 {
    let mut hash: u64 = 0xCBF2_9CE4_8422_2325;
    let mut at = 0;
    while at < text.len() {
        hash = (hash ^ text[at] as u64).wrapping_mul(0x0000_0100_0000_01B3);
        at += 1;
    }
    // The low bits of FNV-1a depend only on the low bits of the input. The finalizer mixes all bits.
    hash = (hash ^ (hash >> 33)).wrapping_mul(0xFF51_AFD7_ED55_8CCD);
    hash = (hash ^ (hash >> 33)).wrapping_mul(0xC4CE_B9FE_1A85_EC53);
    hash ^ (hash >> 33)
}

fn bucket<const N: u32>(text: &str) -> u32 {
    u32::try_from(hash(text.as_bytes()) % u64::from(N.max(1))).unwrap_or_default()
}

impl<T, C: PartSource<T>, const N: u32> DerivedPart<T> for Bucket<C, N> {
    const NAME: &'static str = Named::<C, T, N>::NAMED;
    const FORM: Form = Form::fixed(Self::WIDTH as usize, false, Alphabet::DIGITS);
    const FACTS: Facts = Facts { fault: C::SOURCE_FAULT, ..Facts::NONE };

    fn encode(value: &T, out: &mut String) -> Result<()> {
        // The value's encoding is needed only temporarily, so it is appended to the buffer and later removed.
        let start = out.len();
        C::write_hashed(value, out)?;
        let number = bucket::<N>(out.get(start..).unwrap_or_default());
        out.truncate(start);
        Self::encode_bucket(number, out)
    }
}
