//! `Digits`: an integer with a declared number of digits.

use std::marker::PhantomData;

use table_store::Result;

use crate::key::codec::fault::{mismatch, refused};
use crate::key::codec::name::Name;
use crate::key::codec::{Alphabet, Counted, Facts, Form, Integer, KeyCodec, Reversible, decimal};

/// A codec that writes an integer as `N` zero-padded decimal digits, like .NET's `D6` format.
///
/// - Fixed width, ordered. A value with more digits is rejected (`KeyEncoding`) and never truncated.
/// - `N` is at most the number of digits in the type's largest value, such as 3 for `u8` and 19 for `i64`. A larger `N` is a compile error.
/// - `S` is the sign. Unsigned integers use [`Unsigned`]. A signed integer needs [`NonNegative`] or [`Signed`]. [`NonNegative`] rejects values below zero and
///   has the same encoding as an unsigned integer. [`Signed`] writes a sign before the digits, as in [`Padded`](crate::key::codec::Padded).
/// - In reverse order, each digit `d` is written as 9 − `d`, and the sign, if any, is swapped.
///
/// ```
/// use table_core::key::codec::{Digits, KeyCodec, NonNegative, Signed};
///
/// let mut key = "empid_".to_owned();
/// Digits::<6>::encode(&223u32, &mut key)?;
/// assert_eq!(key, "empid_000223"); // PAT-INTRA
/// assert!(Digits::<6>::encode(&1_000_000u32, &mut key).is_err());
/// assert_eq!(<Digits<6> as KeyCodec<u32>>::decode("000223")?, 223);
///
/// let text = |encode: fn(&i64, &mut String) -> table_core::Result<()>, value| {
///     let mut text = String::new();
///     encode(&value, &mut text).map(|()| text)
/// };
/// assert_eq!(text(Digits::<11, NonNegative>::encode, 478_000_000)?, "00478000000");
/// assert_eq!(text(Digits::<11, Signed>::encode, 478_000_000)?, "000478000000");
/// assert!(text(Digits::<11, NonNegative>::encode, -1).is_err());
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
pub struct Digits<const N: usize, S = Unsigned>(PhantomData<S>);

/// The sign parameter of [`Digits`]. The trait is sealed and implemented by [`Unsigned`], [`NonNegative`] and [`Signed`].
///
/// ```
/// use table_core::key::codec::{Digits, KeyCodec, NonNegative, Sign, Signed};
///
/// /// Returns the width of an `i32` that is written with eight digits.
/// fn width<S: Sign>() -> usize {
///     <Digits<8, S> as KeyCodec<i32>>::FORM.max
/// }
/// assert_eq!((width::<NonNegative>(), width::<Signed>()), (8, 9));
/// ```
pub trait Sign: sealed::Sealed {}

/// The sign parameter of [`Digits`] for an unsigned integer, and the default.
///
/// ```
/// use table_core::key::codec::{Digits, KeyCodec, Unsigned};
///
/// assert_eq!(<Digits<6, Unsigned> as KeyCodec<u32>>::decode("000223")?, 223);
/// # Ok::<(), table_core::Error>(())
/// ```
#[derive(Debug)]
pub enum Unsigned {}

/// The sign parameter of [`Digits`] for a non-negative signed integer: `digits(19, nonnegative, id)` corresponds to .NET's `D19` format.
///
/// ```
/// use table_core::key::codec::{Digits, KeyCodec, NonNegative};
///
/// assert_eq!(<Digits<6, NonNegative> as KeyCodec<i32>>::decode("000223")?, 223);
/// # Ok::<(), table_core::Error>(())
/// ```
#[derive(Debug)]
pub enum NonNegative {}

/// The sign parameter of [`Digits`] for a signed integer whose sign is written before the digits: `digits(6, signed, balance)`.
///
/// ```
/// use table_core::key::codec::{Digits, KeyCodec, Signed};
///
/// assert_eq!(<Digits<6, Signed> as KeyCodec<i32>>::decode("-999998")?, -1);
/// # Ok::<(), table_core::Error>(())
/// ```
#[derive(Debug)]
pub enum Signed {}

mod sealed {
    /// The sign of an integer codec, as a value.
    #[derive(Clone, Copy, Debug)]
    pub enum Kind {
        Unsigned,
        NonNegative,
        Signed,
    }

    pub trait Sealed {
        const KIND: Kind;
    }

    impl Sealed for super::Unsigned {
        const KIND: Kind = Kind::Unsigned;
    }

    impl Sealed for super::NonNegative {
        const KIND: Kind = Kind::NonNegative;
    }

    impl Sealed for super::Signed {
        const KIND: Kind = Kind::Signed;
    }
}

use sealed::Kind;

impl Sign for Unsigned {}
impl Sign for NonNegative {}
impl Sign for Signed {}

impl<const N: usize, S: Sign> Digits<N, S> {
    const LARGEST: u128 = decimal::largest(N);
    const NAMED: &'static Name<32> = &Name::EMPTY.with("digits(").with_number(N).with(")");
    const IS_SIGNED: bool = matches!(S::KIND, Kind::Signed);
    const FORM: Form = form(N, Self::IS_SIGNED);

    /// Returns the sign (`true` if negative) and the magnitude of a value, or an error if the value cannot be encoded.
    #[inline]
    fn checked<T: Integer>(value: &T) -> Result<(bool, u128)> {
        const { assert!(Self::fault::<T>().is_none(), "the integer needs another sign or number of digits") };
        let (negative, magnitude) = value.split();
        if negative && !Self::IS_SIGNED {
            return Err(is_negative(value, N));
        }
        if magnitude > Self::LARGEST {
            return Err(too_many_digits(value, N));
        }
        Ok((negative, magnitude))
    }

    /// The help text for a signed integer without a declared sign.
    const WITHOUT_SIGN: &'static Name<400> = &Name::EMPTY
        .with("[T179] `digits(")
        .with_number(N)
        .with(")` of a signed integer does not say how a sign is written; write `digits(")
        .with_number(N)
        .with(
            ", nonnegative{, field})` for exactly these digits, which refuses values below zero, or `digits(",
        )
        .with_number(N)
        .with(", signed{, field})` for a sign before the digits");
    /// The help text for an unsigned integer with a declared sign.
    const WITH_SIGN: &'static Name<400> = &Name::EMPTY
        .with("[T179] an unsigned integer has no sign; write `digits(")
        .with_number(N)
        .with("{, field})`");

    const fn fault<T: Integer>() -> Option<&'static str> {
        if !digits_fit(N, T::VALUE_BITS) {
            return Some(TooManyDigits::<T, N, S>::TEXT.as_str());
        }
        match (S::KIND, T::SIGNED) {
            (Kind::Unsigned, false) | (Kind::NonNegative | Kind::Signed, true) => None,
            (Kind::Unsigned, true) => Some(Self::WITHOUT_SIGN.as_str()),
            (Kind::NonNegative | Kind::Signed, false) => Some(Self::WITH_SIGN.as_str()),
        }
    }
}

/// Provides the help text for a declaration with more digits than the largest value of `T`.
struct TooManyDigits<T, const N: usize, S>(PhantomData<(T, S)>);

impl<T: Integer, const N: usize, S: Sign> TooManyDigits<T, N, S> {
    const TEXT: &'static Name<200> = {
        let text = Name::EMPTY
            .with("[T029] no value of this type has ")
            .with_number(N)
            .with(" digits; write `digits(");
        let text = text.with_number(decimal::digits_of(T::VALUE_BITS));
        let text = match (S::KIND, T::SIGNED) {
            (_, false) => text,
            (Kind::Signed, true) => text.with(", signed"),
            (Kind::Unsigned | Kind::NonNegative, true) => text.with(", nonnegative"),
        };
        &text.with("{, field})`, or fewer digits")
    };
}

impl<const N: usize> Digits<N> {
    /// Returns `true` if values of `T` can be written with `N` digits. Used for diagnostics in constants.
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

/// Returns `true` if integers with `bits` bits can be written with `digits` digits. There must be at least one digit, and at most as many as in the largest
/// value. `bits` excludes the sign bit, so it is 64 for `u64` and 63 for `i64`.
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

impl<T: Integer, const N: usize, S: Sign> KeyCodec<T> for Digits<N, S> {
    const NAME: &'static str = Self::NAMED.as_str();
    const FORM: Form = Self::FORM;
    const FACTS: Facts = Facts { fault: Self::fault::<T>(), ..Facts::NONE };

    #[inline]
    fn encode(value: &T, out: &mut String) -> Result<()> {
        let (negative, magnitude) = Self::checked(value)?;
        out.reserve(Self::FORM.max);
        if Self::IS_SIGNED {
            push_sign::<T>(negative, out);
        }
        decimal::push::<N>(magnitude, negative, out);
        Ok(())
    }

    #[inline]
    fn decode(text: &str) -> Result<T> {
        decode_integer(text, Self::IS_SIGNED, N)
            .and_then(|(negative, magnitude)| T::join(negative, magnitude))
            .ok_or_else(|| mismatch(text, Self::NAMED.as_str()))
    }
}

impl<T: Integer, const N: usize, S: Sign> Counted<T> for Digits<N, S> {
    const COUNT_FAULT: Option<&'static str> = if Self::IS_SIGNED {
        Some("[T031] `inverted` cannot count down digits with a sign; use `desc`, which reverses them")
    } else if N > 19 {
        Some("[T031] `inverted` counts down at most 19 digits; use `desc`, which reverses any number of them")
    } else {
        None
    };

    fn count(value: &T) -> Result<u64> {
        let (_, magnitude) = Self::checked(value)?;
        u64::try_from(magnitude).map_err(|_| too_many_digits(value, N))
    }

    fn of_count(count: u64) -> Option<T> {
        Some(u128::from(count))
            .filter(|count| *count <= Self::LARGEST)
            .and_then(|count| T::join(false, count))
    }
}

impl<T: Integer, const N: usize, S: Sign> Reversible<T> for Digits<N, S> {
    #[inline]
    fn encode_reversed(value: &T, out: &mut String) -> Result<()> {
        let (negative, magnitude) = Self::checked(value)?;
        let below_zero = !negative && magnitude > 0;
        out.reserve(Self::FORM.max);
        if Self::IS_SIGNED {
            push_sign::<T>(below_zero, out);
        }
        decimal::push::<N>(magnitude, below_zero || !Self::IS_SIGNED, out);
        Ok(())
    }

    #[inline]
    fn decode_reversed(text: &str) -> Result<T> {
        let parts = if Self::IS_SIGNED {
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
         it for the full width of the type"
    ))
    .with_rule("DQ-10")
}

#[cold]
fn is_negative<T: Integer>(value: &T, digits: usize) -> crate::Error {
    refused(format!(
        "{value} is below zero, which {digits} digits without a sign cannot write; check the value, or declare `digits({digits}, signed, …)` \
         (this changes stored keys)"
    ))
    .with_rule("DQ-10")
}

const fn form(digits: usize, signed: bool) -> Form {
    if signed {
        Form::fixed(digits + 1, true, Alphabet::DIGITS.with('-'))
    } else {
        Form::fixed(digits, true, Alphabet::DIGITS)
    }
}

pub(super) const fn integer_form<T: Integer>(digits: usize) -> Form {
    form(digits, T::SIGNED)
}

/// Appends the sign if the type is signed: `-` for a negative value, otherwise `0`.
#[inline]
pub(super) fn push_sign<T: Integer>(negative: bool, out: &mut String) {
    if T::SIGNED {
        out.push(if negative { '-' } else { '0' });
    }
}

/// Decodes an integer into its sign (`true` if negative) and its magnitude. Returns `None` if the text is not an encoded integer.
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
        let error = Digits::<3, Signed>::encode(&-1_000i16, &mut String::new()).unwrap_err();
        assert_eq!(error.code(), ErrorCode::KeyEncoding);
        assert!(error.to_string().contains("-1000 does not fit into 3 digits; declare"), "{error}");
        assert!(Digits::<3>::encode_reversed(&1_000u16, &mut String::new()).is_err());
    }

    #[test]
    fn a_negative_value_is_refused_unless_the_sign_is_declared() {
        let error = Digits::<11, NonNegative>::encode(&-1_i64, &mut String::new()).unwrap_err();
        assert_eq!(error.code(), ErrorCode::KeyEncoding);
        assert!(
            error.to_string().contains("-1 is below zero") && error.to_string().contains("digits(11, signed"),
            "{error}"
        );
        assert!(<Digits<6> as KeyCodec<i32>>::FACTS.fault.is_some_and(|fault| fault.contains("[T179]")));
        assert!(
            <Digits<6, Signed> as KeyCodec<u32>>::FACTS.fault.is_some_and(|fault| fault.contains("[T179]"))
        );
        assert!(<Digits<9> as KeyCodec<i8>>::FACTS.fault.is_some_and(|fault| fault.contains("[T029]")));
    }

    #[test]
    fn non_negative_digits_equal_those_of_an_unsigned_integer() {
        for value in [0_u32, 1, 223, 999_999] {
            let (mut unsigned, mut signed) = (String::new(), String::new());
            Digits::<6>::encode(&value, &mut unsigned).unwrap();
            Digits::<6, NonNegative>::encode(&i64::from(value), &mut signed).unwrap();
            assert_eq!(unsigned, signed);
        }
        assert_eq!(<Digits<6> as KeyCodec<u32>>::NAME, <Digits<6, NonNegative> as KeyCodec<i32>>::NAME);
        assert_eq!(<Digits<6> as KeyCodec<u32>>::FORM, <Digits<6, NonNegative> as KeyCodec<i32>>::FORM);
    }

    /// Tests that `digits(…)` has a fixed width and preserves the order with every sign option. The derive macro relies on this when it generates range
    /// queries.
    #[test]
    fn digits_of_each_sign_are_fixed_and_ordered() {
        let forms = [Digits::<6>::FORM, Digits::<6, NonNegative>::FORM, Digits::<6, Signed>::FORM];
        assert!(forms.iter().all(|form| form.is_fixed() && form.ordered));
    }

    #[test]
    fn full_width_digits_are_the_padded_text() {
        for value in [i64::MIN, -1, 0, 1, i64::MAX] {
            let (mut digits, mut padded) = (String::new(), String::new());
            Digits::<19, Signed>::encode(&value, &mut digits).unwrap();
            crate::key::codec::Padded::encode(&value, &mut padded).unwrap();
            assert_eq!(digits, padded);
        }
    }
}
