//! `Unpadded`: an integer without leading zeros.

use std::fmt::Write;

use table_store::Result;

use crate::key::codec::fault::mismatch;
use crate::key::codec::{Alphabet, Form, Integer, KeyCodec, decimal};

/// A codec that writes an integer without leading zeros, with `-` before a negative integer. Use it for keys written by other programs.
///
/// Not ordered, because `10` sorts before `9`. Range queries are therefore not available.
///
/// The width varies. In a compound key, the end of the integer must be recognisable, for example because a literal without digits follows. Prefer
/// [`Digits`](crate::key::codec::Digits) in new schemas.
///
/// ```
/// use table_core::key::codec::{KeyCodec, Unpadded};
///
/// let mut key = "empid_".to_owned();
/// Unpadded::encode(&223u32, &mut key)?;
/// assert_eq!(key, "empid_223");
/// assert!(<Unpadded as KeyCodec<u32>>::decode("0223").is_err());
/// # Ok::<(), table_core::Error>(())
/// ```
#[derive(Debug)]
pub enum Unpadded {}

fn read<T: Integer>(text: &str) -> Option<T> {
    let (negative, digits) = text.strip_prefix('-').map_or((false, text), |digits| (true, digits));
    let is_canonical = digits == "0" || !digits.starts_with('0');
    let magnitude =
        Some(digits).filter(|_| is_canonical).and_then(|digits| decimal::read(digits.as_bytes(), false))?;
    T::join(negative, magnitude)
}

impl<T: Integer> KeyCodec<T> for Unpadded {
    const NAME: &'static str = "unpadded";
    const FORM: Form = {
        let digits = decimal::digits_of(T::VALUE_BITS);
        if T::SIGNED {
            Form { min: 1, max: digits + 1, ordered: false, alphabet: Alphabet::DIGITS.with('-') }
        } else {
            Form { min: 1, max: digits, ordered: false, alphabet: Alphabet::DIGITS }
        }
    };

    fn encode(value: &T, out: &mut String) -> Result<()> {
        // Writing to a `String` cannot fail.
        let _ = write!(out, "{value}");
        Ok(())
    }

    fn decode(text: &str) -> Result<T> {
        read(text).ok_or_else(|| mismatch(text, "unpadded"))
    }
}
