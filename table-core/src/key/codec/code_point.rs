//! `CodePoint`: a `char` as six hexadecimal digits.

use table_store::Result;

use crate::key::codec::fault::mismatch;
use crate::key::codec::{Alphabet, Form, KeyCodec, Reversible};

const LAST: u32 = char::MAX as u32;

/// A codec that writes a `char` as its code point, in six lower-case hexadecimal digits. The default codec for `char`.
///
/// Fixed width. Ordered by code point, like `char`. Every character can be encoded, including characters that keys cannot contain.
///
/// ```
/// use table_core::key::codec::{CodePoint, KeyCodec};
///
/// let mut key = String::new();
/// CodePoint::encode(&'/', &mut key)?;
/// assert_eq!((key.as_str(), CodePoint::decode("01f600")?), ("00002f", '😀'));
/// # Ok::<(), table_core::Error>(())
/// ```
#[derive(Debug)]
pub enum CodePoint {}

fn push(number: u32, out: &mut String) {
    for place in (0..6).rev() {
        out.push(char::from_digit(number >> (place * 4) & 0xF, 16).unwrap_or('0'));
    }
}

fn read(text: &str) -> Option<u32> {
    let exact = text.len() == 6 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    u32::from_str_radix(Some(text).filter(|_| exact)?, 16).ok()
}

#[diagnostic::do_not_recommend]
impl KeyCodec<char> for CodePoint {
    const NAME: &'static str = "code_point";
    const FORM: Form = Form::fixed(6, true, Alphabet::of("0123456789abcdef"));

    fn encode(value: &char, out: &mut String) -> Result<()> {
        push(u32::from(*value), out);
        Ok(())
    }

    fn decode(text: &str) -> Result<char> {
        read(text).and_then(char::from_u32).ok_or_else(|| mismatch(text, "code_point"))
    }
}

#[diagnostic::do_not_recommend]
impl Reversible<char> for CodePoint {
    fn encode_reversed(value: &char, out: &mut String) -> Result<()> {
        push(LAST - u32::from(*value), out);
        Ok(())
    }

    fn decode_reversed(text: &str) -> Result<char> {
        read(text)
            .and_then(|number| LAST.checked_sub(number))
            .and_then(char::from_u32)
            .ok_or_else(|| mismatch(text, "desc(code_point)"))
    }
}
