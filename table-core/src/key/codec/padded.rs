//! `Padded`: an integer, zero-padded to the maximum number of digits of its type.

use table_store::Result;

use crate::key::codec::digits::{decode_integer, integer_form, push_sign};
use crate::key::codec::fault::{mismatch, refused};
use crate::key::codec::{Counted, Form, Integer, KeyCodec, Reversible, decimal};

/// A codec that writes an integer, zero-padded to the width of its type (DQ-10). The default codec for integers.
///
/// - Unsigned: 3, 5, 10, 20 or 39 decimal digits for `u8` to `u128`.
/// - Signed: a sign and 3, 5, 10, 19 or 39 digits for `i8` to `i128`. The sign is `0` for zero and positive values. For negative values, it is `-`, which sorts
///   before `0`. Each digit `d` of a negative value is written as 9 − `d`, so -2 sorts before -1.
/// - Fixed width, ordered. Every value can be encoded. In reverse order, a value is written as its mirror image in the type's range. For example, the `u8` 0 is
///   written as 255.
///
/// ```
/// use table_core::key::codec::{KeyCodec, Padded};
///
/// let text = |value: i32| {
///     let mut out = String::new();
///     Padded::encode(&value, &mut out).map(|()| out)
/// };
/// assert_eq!(text(223)?, "00000000223");
/// assert_eq!(text(-1)?, "-9999999998");
/// assert_eq!(<Padded as KeyCodec<u32>>::FORM.max, 10);
/// # Ok::<(), table_core::Error>(())
/// ```
#[derive(Debug)]
pub enum Padded {}

impl<T: Integer> KeyCodec<T> for Padded {
    const NAME: &'static str = "padded";
    const FORM: Form = integer_form::<T>(decimal::digits_of(T::VALUE_BITS));

    #[inline]
    fn encode(value: &T, out: &mut String) -> Result<()> {
        let (negative, magnitude) = value.split();
        out.reserve(integer_form::<T>(decimal::digits_of(T::VALUE_BITS)).max);
        push_sign::<T>(negative, out);
        T::push_padded(magnitude, negative, out);
        Ok(())
    }

    #[inline]
    fn decode(text: &str) -> Result<T> {
        decode_integer(text, T::SIGNED, decimal::digits_of(T::VALUE_BITS))
            .and_then(|(negative, magnitude)| T::join(negative, magnitude))
            .ok_or_else(|| mismatch(text, "padded"))
    }
}

impl<T: Integer> Reversible<T> for Padded {
    #[inline]
    fn encode_reversed(value: &T, out: &mut String) -> Result<()> {
        Self::encode(&value.mirrored(), out)
    }

    #[inline]
    fn decode_reversed(text: &str) -> Result<T> {
        <Self as KeyCodec<T>>::decode(text).map(T::mirrored)
    }
}

impl<T: Integer> Counted<T> for Padded {
    fn count(value: &T) -> Result<u64> {
        let (negative, magnitude) = value.split();
        u64::try_from(magnitude).ok().filter(|_| !negative).ok_or_else(|| {
            refused(format!("{value} cannot be inverted; the largest possible number is {}", u64::MAX))
        })
    }

    fn of_count(count: u64) -> Option<T> {
        T::join(false, count.into())
    }
}
