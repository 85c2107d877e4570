//! `Digits`: an integer with a declared number of digits.

use crate::error::Result;
use crate::key::codec::fault::{mismatch, refused};
use crate::key::codec::name::Name;
use crate::key::codec::{Alphabet, Form, Integer, KeyCodec, Reversible, decimal};

/// An integer as `N` zero-padded decimal digits. A signed integer has a sign before them, as in [`Padded`](crate::key::codec::Padded).
///
/// - Fixed width, ordered. A value with more digits is refused (`KeyEncoding`) and never truncated.
/// - `N` is at most the number of digits of the type's largest value: 3 for `u8`, 19 for `i64`. A larger number does not compile.
/// - Reversed, each digit is written as 9 minus itself, and a signed value changes its sign.
///
/// ```
/// use table_core::key::codec::{Digits, KeyCodec};
///
/// let mut key = "empid_".to_owned();
/// Digits::<6>::encode(&223u32, &mut key)?;
/// assert_eq!(key, "empid_000223"); // PAT-INTRA
/// assert!(Digits::<6>::encode(&1_000_000u32, &mut key).is_err());
/// assert_eq!(<Digits<6> as KeyCodec<u32>>::decode("000223")?, 223);
/// # Ok::<(), table_core::Error>(())
/// ```
///
/// ```compile_fail,E0080
/// # use table_core::Entity;
/// #[derive(Entity)]
/// #[partition_key(department)]
/// #[row_key(digits(4, age))]
/// struct Age { department: String, age: u8 }
/// ```
#[derive(Debug)]
pub enum Digits<const N: usize> {}

impl<const N: usize> Digits<N> {
    const LARGEST: u128 = decimal::largest(N);
    const NAMED: &'static Name<32> = &Name::EMPTY.with("digits(").with_number(N).with(")");

    /// Returns `true` if a type can have `N` digits, for diagnostics in constants.
    ///
    /// ```
    /// use table_core::key::codec::Digits;
    ///
    /// const _: () = assert!(Digits::<6>::fits::<u32>() && !Digits::<20>::fits::<i64>());
    /// ```
    #[must_use]
    pub const fn fits<T: Integer>() -> bool {
        digits_fit(N, T::VALUE_BITS)
    }
}

/// Returns `true` if integers with this many bits, without the sign bit (64 for `u64`, 63 for `i64`), can have this many digits: at least one, and at
/// most those of the largest value.
///
/// ```
/// use table_core::key::codec::digits_fit;
///
/// const _: () = assert!(digits_fit(20, 64) && !digits_fit(20, 63) && !digits_fit(0, 8));
/// ```
#[must_use]
pub const fn digits_fit(digits: usize, bits: u32) -> bool {
    digits >= 1 && digits <= decimal::digits_of(bits)
}

impl<T: Integer, const N: usize> KeyCodec<T> for Digits<N> {
    const NAME: &'static str = Self::NAMED.as_str();
    const FORM: Form = integer_form::<T>(N);
    const FAULT: Option<&'static str> = if digits_fit(N, T::VALUE_BITS) {
        None
    } else {
        Some("[T029] `digits(n)`: n must be between 1 and the number of digits of the type's largest value")
    };

    #[inline]
    fn encode(value: &T, out: &mut String) -> Result<()> {
        const { assert!(digits_fit(N, T::VALUE_BITS)) };
        let (negative, magnitude) = value.split();
        if magnitude > Self::LARGEST {
            return Err(too_many_digits(value, N));
        }
        out.reserve(integer_form::<T>(N).max);
        push_sign::<T>(negative, out);
        decimal::push::<N>(magnitude, negative, out);
        Ok(())
    }

    #[inline]
    fn decode(text: &str) -> Result<T> {
        decode_integer(text, T::SIGNED, N)
            .and_then(|(negative, magnitude)| T::join(negative, magnitude))
            .ok_or_else(|| mismatch(text, Self::NAMED.as_str()))
    }
}

impl<T: Integer, const N: usize> Reversible<T> for Digits<N> {
    #[inline]
    fn encode_reversed(value: &T, out: &mut String) -> Result<()> {
        const { assert!(digits_fit(N, T::VALUE_BITS)) };
        let (negative, magnitude) = value.split();
        if magnitude > Self::LARGEST {
            return Err(too_many_digits(value, N));
        }
        let below_zero = T::SIGNED && !negative && magnitude > 0;
        out.reserve(integer_form::<T>(N).max);
        push_sign::<T>(below_zero, out);
        decimal::push::<N>(magnitude, below_zero || !T::SIGNED, out);
        Ok(())
    }

    #[inline]
    fn decode_reversed(text: &str) -> Result<T> {
        let parts = if T::SIGNED {
            decode_integer(text, true, N)
                .filter(|parts| *parts != (true, 0))
                .map(|(negative, magnitude)| (!negative && magnitude > 0, magnitude))
        } else {
            Some(text)
                .filter(|text| text.len() == N)
                .and_then(|text| decimal::read(text.as_bytes(), true))
                .map(|magnitude| (false, magnitude))
        };
        parts
            .and_then(|(negative, magnitude)| T::join(negative, magnitude))
            .ok_or_else(|| mismatch(text, format_args!("desc({})", Self::NAMED.as_str())))
    }
}

#[cold]
fn too_many_digits<T: Integer>(value: &T, digits: usize) -> crate::Error {
    refused(format!(
        "{value} does not fit into {digits} digits; declare `digits(n)` with more (this changes stored keys), or remove \
         it out for the full width of the type"
    ))
    .with_rule("DQ-10")
}

pub(super) const fn integer_form<T: Integer>(digits: usize) -> Form {
    if T::SIGNED {
        Form::fixed(digits + 1, true, Alphabet::DIGITS.with('-'))
    } else {
        Form::fixed(digits, true, Alphabet::DIGITS)
    }
}

/// Appends the sign of a signed type.
#[inline]
pub(super) fn push_sign<T: Integer>(negative: bool, out: &mut String) {
    if T::SIGNED {
        out.push(if negative { '-' } else { '0' });
    }
}

/// Returns (negative, magnitude).
#[inline]
pub(super) fn decode_integer(text: &str, signed: bool, digits: usize) -> Option<(bool, u128)> {
    let (negative, field) = match text.as_bytes() {
        [b'-', field @ ..] if signed => (true, field),
        [b'0', field @ ..] if signed => (false, field),
        _ if signed => return None,
        field => (false, field),
    };
    if field.len() != digits {
        return None;
    }
    decimal::read(field, negative).map(|magnitude| (negative, magnitude))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorCode;

    #[test]
    fn a_value_with_too_many_digits_is_refused_with_advice() {
        let error = Digits::<3>::encode(&-1_000i16, &mut String::new()).unwrap_err();
        assert_eq!(error.code(), ErrorCode::KeyEncoding);
        assert!(error.to_string().contains("-1000 does not fit into 3 digits; declare"), "{error}");
        assert!(Digits::<3>::encode_reversed(&1_000u16, &mut String::new()).is_err());
    }

    #[test]
    fn full_width_digits_are_the_padded_text() {
        for value in [i64::MIN, -1, 0, 1, i64::MAX] {
            let (mut digits, mut padded) = (String::new(), String::new());
            Digits::<19>::encode(&value, &mut digits).unwrap();
            crate::key::codec::Padded::encode(&value, &mut padded).unwrap();
            assert_eq!(digits, padded);
        }
    }
}
