//! `Ulid`: 128 bits in the standard text format of ULIDs. The first 48 bits are a time.

use table_store::{Result, quoted};
use uuid::Uuid;

use crate::key::codec::fault::{mismatch, refused};
use crate::key::codec::{Alphabet, Facts, Form, KeyCodec, Reversible};

/// A codec that writes a ULID as 26 upper-case letters and digits (Crockford's base 32). The value is a `u128`, a `Uuid`, or a `String` that contains a ULID.
///
/// Fixed width, ordered by the time in the identifiers, then by their random bits. A `String` must be an upper-case ULID. Other strings are rejected
/// (`KeyEncoding`). Otherwise, the same identifier could have two keys.
///
/// ```
/// use table_core::key::codec::{KeyCodec, Ulid};
///
/// let mut key = String::new();
/// Ulid::encode(&0x0156_3E3A_B5D3_D676_4C61_EFB9_9302_BD5B_u128, &mut key)?;
/// assert_eq!(key, "01ARZ3NDEKTSV4RRFFQ69G5FAV");
/// assert_eq!(<Ulid as KeyCodec<String>>::decode(&key)?, key);
/// # Ok::<(), table_core::Error>(())
/// ```
#[derive(Debug)]
pub enum Ulid {}

const DIGITS: &str = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const WIDTH: usize = 26;

fn push(number: u128, out: &mut String) {
    for place in (0..WIDTH).rev() {
        let digit = usize::try_from((number >> (5 * place)) & 0x1F).unwrap_or_default();
        out.push_str(DIGITS.get(digit..=digit).unwrap_or_default());
    }
}

fn read(text: &str) -> Option<u128> {
    // 26 digits encode 130 bits, so the first digit is at most 7.
    if text.len() != WIDTH || !text.starts_with(|first: char| ('0'..='7').contains(&first)) {
        return None;
    }
    let mut number = 0;
    for character in text.chars() {
        number = number << 5 | u128::try_from(DIGITS.find(character)?).ok()?;
    }
    Some(number)
}

macro_rules! ulid {
    ($($type:ty: $is_text:literal, |$value:ident| $number:expr, |$read:ident| $made:expr;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl KeyCodec<$type> for Ulid {
            const NAME: &'static str = "ulid";
            const FORM: Form = Form::fixed(WIDTH, true, Alphabet::of(DIGITS));
            const FACTS: Facts = Facts { follows_time: true, verbatim: $is_text, ..Facts::NONE };

            fn encode($value: &$type, out: &mut String) -> Result<()> {
                push($number, out);
                Ok(())
            }

            fn decode(text: &str) -> Result<$type> {
                read(text).map(|$read| $made).ok_or_else(|| mismatch(text, "ulid"))
            }
        }
    )*};
}

ulid! {
    u128: false, |value| *value, |number| number;
    Uuid: false, |value| value.as_u128(), |number| Uuid::from_u128(number);
    String: true, |value| read(value).ok_or_else(|| refused(format!(
        "'{}' is not a ULID of 26 upper-case letters and digits; use the text that ULID libraries print", quoted(value).escaped()
    )))?, |number| {
        let mut text = String::new();
        push(number, &mut text);
        text
    };
}

macro_rules! reversible {
    ($($type:ty: |$value:ident| $mirrored:expr;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl Reversible<$type> for Ulid {
            fn encode_reversed($value: &$type, out: &mut String) -> Result<()> {
                Self::encode(&$mirrored, out)
            }

            fn decode_reversed(text: &str) -> Result<$type> {
                let $value: $type = Self::decode(text)?;
                Ok($mirrored)
            }
        }
    )*};
}

reversible! {
    u128: |value| !value;
    Uuid: |value| Uuid::from_u128(!value.as_u128());
}
