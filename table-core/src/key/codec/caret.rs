//! `Caret`: a string with the escape sequences of the Durable Task Framework.

use table_store::Result;

use crate::key::codec::fault::{mismatch, refused};
use crate::key::codec::raw::is_too_long;
use crate::key::codec::{Alphabet, Form, KeyCodec, TextCodec};
use crate::key::text::is_legal;
use crate::limits;

/// A codec for any string, which escapes characters with `^`, like the partition keys of `DurableTask.AzureStorage`.
///
/// `/`, `\`, `#` and `?` are written as `^0` to `^3`, and `^` as `^^`. A control character is written as `^` and the character whose code point is 192 higher.
///
/// Not ordered, because an escaped `/` does not sort like `/`. Prefer [`Escaped`](crate::key::codec::Escaped) in new schemas.
///
/// ```
/// use table_core::key::codec::{Caret, KeyCodec, TextCodec};
///
/// let mut key = String::new();
/// Caret::encode_str("orders/2014#7^", &mut key)?;
/// assert_eq!(key, "orders^02014^27^^");
/// assert_eq!(Caret::decode(&key)?, "orders/2014#7^");
/// # Ok::<(), table_core::Error>(())
/// ```
#[derive(Debug)]
pub enum Caret {}

/// Returns the character that follows `^` in the escape sequence of `character`, or `None` if `character` is not escaped.
fn escape(character: char) -> Option<char> {
    match character {
        '^' => Some('^'),
        '/' => Some('0'),
        '\\' => Some('1'),
        '#' => Some('2'),
        '?' => Some('3'),
        '\u{0}'..='\u{1F}' | '\u{7F}'..='\u{9F}' => char::from_u32(u32::from(character) + 0xC0),
        _ => None,
    }
}

fn unescape(second: char) -> Option<char> {
    let character = match second {
        '^' => '^',
        '0' => '/',
        '1' => '\\',
        '2' => '#',
        '3' => '?',
        shifted => char::from_u32(u32::from(shifted).checked_sub(0xC0)?)?,
    };
    (escape(character) == Some(second)).then_some(character)
}

fn read(text: &str) -> Option<String> {
    let mut value = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        value.push(match character {
            '^' => unescape(characters.next()?)?,
            plain if is_legal(plain) => plain,
            _ => return None,
        });
    }
    Some(value)
}

#[diagnostic::do_not_recommend]
impl KeyCodec<String> for Caret {
    const NAME: &'static str = "caret";
    const FORM: Form =
        Form { min: 0, max: limits::KEY_UNITS_PORTABLE, ordered: false, alphabet: Alphabet::LEGAL };

    fn encode(value: &String, out: &mut String) -> Result<()> {
        Self::encode_str(value, out)
    }

    fn decode(text: &str) -> Result<String> {
        let value = Some(text).filter(|text| !is_too_long(text)).and_then(read);
        value.ok_or_else(|| mismatch(text, "caret"))
    }
}

impl TextCodec for Caret {
    fn encode_str(value: &str, out: &mut String) -> Result<()> {
        let start = out.len();
        for character in value.chars() {
            if let Some(second) = escape(character) {
                out.extend(['^', second]);
            } else {
                out.push(character);
            }
        }
        fits(out.get(start..).unwrap_or_default())
    }
}

/// Returns an error if an encoded string exceeds the maximum length of a key.
pub(super) fn fits(written: &str) -> Result<()> {
    if is_too_long(written) {
        return Err(refused(format!(
            "the escaped text has {} UTF-16 code units, a key at most {}; store it in a property, and a hash of it in \
             the key",
            written.encode_utf16().count(),
            limits::KEY_UNITS_PORTABLE
        ))
        .with_rule("KEY-7"));
    }
    Ok(())
}
