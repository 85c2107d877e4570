//! `Base64`: any string, in Base64.

use ::base64::Engine;
use ::base64::engine::general_purpose::STANDARD;
use table_store::Result;

use crate::key::codec::caret::fits;
use crate::key::codec::fault::mismatch;
use crate::key::codec::{Alphabet, Form, KeyCodec};
use crate::limits;

/// A codec for any string. It writes the string's UTF-8 bytes in Base64 with padding. `/` is written as `_`, because keys cannot contain it.
///
/// .NET's `Convert.ToBase64String` produces the same text, but with `/`. The service rejects keys that contain `/`, so programs that use this function must
/// replace it.
///
/// Not ordered. The encoding of a string's prefix is not always a prefix of the string's encoding. Prefer [`Escaped`](crate::key::codec::Escaped) in new
/// schemas.
///
/// ```
/// use table_core::key::codec::{Base64, KeyCodec};
///
/// let mut key = String::new();
/// Base64::encode(&"/LM/W3SVC/1".to_owned(), &mut key)?;
/// assert_eq!(key, "L0xNL1czU1ZDLzE=");
/// assert!(Base64::decode("L0xNL1czU1ZDLzE").is_err());
/// # Ok::<(), table_core::Error>(())
/// ```
#[derive(Debug)]
pub enum Base64 {}

const NAME: &str = "base64";
const CHARACTERS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+_=";

fn read(text: &str) -> Option<String> {
    let is_short = text.len() <= limits::KEY_UNITS_PORTABLE;
    let standard = Some(text).filter(|text| is_short && !text.contains('/'))?.replace('_', "/");
    String::from_utf8(STANDARD.decode(standard).ok()?).ok()
}

#[diagnostic::do_not_recommend]
impl KeyCodec<String> for Base64 {
    const NAME: &'static str = NAME;
    const FORM: Form =
        Form { min: 0, max: limits::KEY_UNITS_PORTABLE, ordered: false, alphabet: Alphabet::of(CHARACTERS) };

    fn encode(value: &String, out: &mut String) -> Result<()> {
        let written = STANDARD.encode(value).replace('/', "_");
        out.push_str(&written);
        fits(&written)
    }

    fn decode(text: &str) -> Result<String> {
        read(text).ok_or_else(|| mismatch(text, NAME))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tests the codec with known pairs of a string and its encoding. The first seven pairs are the test vectors in RFC 4648, section 10.
    #[test]
    fn the_vectors_of_the_rfc_are_written_and_read() {
        for (value, key) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
            ("é?", "w6k_"),
            ("~~>", "fn4+"),
        ] {
            let mut text = String::new();
            Base64::encode(&value.to_owned(), &mut text).unwrap();
            assert_eq!((text.as_str(), Base64::decode(&text).unwrap().as_str()), (key, value));
        }
    }

    #[test]
    fn a_text_that_is_not_written_is_refused() {
        for wrong in ["Zg", "Zg=", "Zh==", "Zm9v=", "====", "w6k/", "w6k-", "Zm9v Zg==", "__8="] {
            assert!(Base64::decode(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn a_text_that_does_not_fit_into_a_key_is_refused() {
        let longest = "a".repeat(limits::KEY_UNITS_PORTABLE / 4 * 3);
        assert!(Base64::encode(&longest, &mut String::new()).is_ok());
        let error = Base64::encode(&(longest + "a"), &mut String::new()).unwrap_err();
        assert_eq!(error.rule(), Some("KEY-7"));
    }
}
