//! `Percent`: any string, percent-encoded as in URLs.

use table_store::Result;

use crate::key::codec::caret::fits;
use crate::key::codec::fault::mismatch;
use crate::key::codec::{Alphabet, Form, KeyCodec, TextCodec};
use crate::limits;

/// A codec that percent-encodes any string, like `Uri.EscapeDataString` in .NET. Letters, digits, `-`, `.`, `_` and `~` are kept. Every other UTF-8 byte is
/// written as `%` and two upper-case hexadecimal digits.
///
/// Not ordered, because all escape sequences sort before the letters, regardless of the characters they represent. Prefer
/// [`Escaped`](crate::key::codec::Escaped) in new schemas.
///
/// ```
/// use table_core::key::codec::{KeyCodec, Percent, TextCodec};
///
/// let mut key = String::new();
/// Percent::encode_str("https://contoso.com/é", &mut key)?;
/// assert_eq!(key, "https%3A%2F%2Fcontoso.com%2F%C3%A9");
/// assert!(Percent::decode("%2f").is_err());
/// # Ok::<(), table_core::Error>(())
/// ```
#[derive(Debug)]
pub enum Percent {}

const PLAIN: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
const DIGITS: &[u8; 16] = b"0123456789ABCDEF";

fn push(value: &str, out: &mut String) {
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            out.push(char::from(byte));
        } else {
            out.push('%');
            for half in [byte >> 4, byte & 0xF] {
                out.extend(DIGITS.get(usize::from(half)).copied().map(char::from));
            }
        }
    }
}

fn read(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('%') {
        bytes.extend_from_slice(before.as_bytes());
        bytes.push(u8::from_str_radix(after.get(..2)?, 16).ok()?);
        rest = after.get(2..)?;
    }
    bytes.extend_from_slice(rest.as_bytes());
    // Only the canonical form is valid in a key.
    let value = String::from_utf8(bytes).ok()?;
    let mut again = String::with_capacity(text.len());
    push(&value, &mut again);
    (again == text).then_some(value)
}

#[diagnostic::do_not_recommend]
impl KeyCodec<String> for Percent {
    const NAME: &'static str = "percent";
    const FORM: Form = Form {
        min: 0,
        max: limits::KEY_UNITS_PORTABLE,
        ordered: false,
        alphabet: Alphabet::of(PLAIN).with('%'),
    };

    fn encode(value: &String, out: &mut String) -> Result<()> {
        Self::encode_str(value, out)
    }

    fn decode(text: &str) -> Result<String> {
        let value = Some(text).filter(|text| text.len() <= limits::KEY_UNITS_PORTABLE).and_then(read);
        value.ok_or_else(|| mismatch(text, "percent"))
    }
}

impl TextCodec for Percent {
    fn encode_str(value: &str, out: &mut String) -> Result<()> {
        let start = out.len();
        push(value, out);
        fits(out.get(start..).unwrap_or_default())
    }
}
