//! The integer types that can be key parts. They have the same width on every machine.

use std::fmt::Display;

use crate::key::codec::decimal;

/// An integer that can be part of a key: `u8` to `u128` and `i8` to `i128`.
///
/// `usize` and `isize` are excluded, because their width differs between machines.
///
/// ```
/// use table_core::key::codec::{Digits, Integer, KeyCodec};
///
/// /// Writes an integer of any type with six digits.
/// fn six<T: Integer>(number: T) -> table_core::Result<String>
/// where
///     Digits<6>: KeyCodec<T>,
/// {
///     let mut key = String::new();
///     Digits::<6>::encode(&number, &mut key)?;
///     Ok(key)
/// }
/// assert_eq!(six(223_u32)?, "000223");
/// assert_eq!(six(223_u64)?, "000223");
/// # Ok::<(), table_core::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "[T030] this key codec writes integers, and `{Self}` is not one",
    label = "remove the codec, or write an integer, `u8` to `u128` or `i8` to `i128`",
    note = "an enum is written as the name of its variant, without a codec; to write numbers, name the variants: `#[key_part(\"1\")]` above the first, \
            `#[key_part(\"2\")]` above the second",
    note = "a newtype of an integer declares its digits itself: `#[digits(6)]` above the type, with `#[derive(KeyPart)]`",
    note = "`usize` and `isize` differ between machines; use `u64` or `i64`"
)]
pub trait Integer: sealed::SignAndMagnitude {}

pub(super) mod sealed {
    use super::Display;

    /// An integer that can be split into a sign and a magnitude of up to 128 bits.
    pub trait SignAndMagnitude: Copy + Ord + Display {
        const SIGNED: bool;
        /// The number of bits, not counting the sign bit.
        const VALUE_BITS: u32;

        fn split(self) -> (bool, u128);
        fn join(negative: bool, magnitude: u128) -> Option<Self>;
        /// Returns the mirror image of this value in the type's range. It is as far from the largest value as this value is from the smallest.
        fn mirrored(self) -> Self;
        /// Appends a magnitude with as many digits as the type's largest value.
        fn push_padded(magnitude: u128, complement: bool, out: &mut String);
    }
}

/// Implements the functions that signed and unsigned integers share.
macro_rules! for_either_sign {
    () => {
        #[inline]
        fn mirrored(self) -> Self {
            !self
        }

        #[inline]
        fn push_padded(magnitude: u128, complement: bool, out: &mut String) {
            decimal::push::<{ decimal::digits_of(<Self as sealed::SignAndMagnitude>::VALUE_BITS) }>(
                magnitude, complement, out,
            );
        }
    };
}

macro_rules! unsigned {
    ($($type:ident)*) => {$(
        #[diagnostic::do_not_recommend]
        impl Integer for $type {}

        impl sealed::SignAndMagnitude for $type {
            const SIGNED: bool = false;
            const VALUE_BITS: u32 = Self::BITS;

            #[inline]
            fn split(self) -> (bool, u128) {
                (false, self.into())
            }

            #[inline]
            fn join(negative: bool, magnitude: u128) -> Option<Self> {
                if negative { None } else { Self::try_from(magnitude).ok() }
            }

            for_either_sign!();
        }
    )*};
}

macro_rules! signed {
    ($($type:ident)*) => {$(
        #[diagnostic::do_not_recommend]
        impl Integer for $type {}

        impl sealed::SignAndMagnitude for $type {
            const SIGNED: bool = true;
            const VALUE_BITS: u32 = Self::BITS - 1;

            #[inline]
            fn split(self) -> (bool, u128) {
                (self < 0, self.unsigned_abs().into())
            }

            #[inline]
            fn join(negative: bool, magnitude: u128) -> Option<Self> {
                match (negative, magnitude) {
                    // A minus sign before zero would be a second encoding of zero, so it is rejected.
                    (true, 0) => None,
                    (true, magnitude) => (0 as Self).checked_sub_unsigned(magnitude.try_into().ok()?),
                    (false, magnitude) => Self::try_from(magnitude).ok(),
                }
            }

            for_either_sign!();
        }
    )*};
}

unsigned!(u8 u16 u32 u64 u128);
signed!(i8 i16 i32 i64 i128);
