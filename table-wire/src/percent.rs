//! Percent-encoding and decoding of single URL values (REQ-5, LIT-4).

use std::borrow::Cow;
use std::fmt::Write;

/// Encodes every byte of the text as `%XX`, except ASCII letters, digits and `-._~`. A space becomes `%20`, never `+` (REQ-5).
///
/// ```
/// use table_wire::percent::encode;
///
/// assert_eq!(encode("PartitionKey eq 'O''Neil & co'"), "PartitionKey%20eq%20%27O%27%27Neil%20%26%20co%27");
/// ```
#[must_use]
pub fn encode(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len() + text.len() / 2);
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                encoded.push(char::from(byte));
            }
            _ => {
                // Writing to a `String` cannot fail.
                let _ = write!(encoded, "%{byte:02X}");
            }
        }
    }
    encoded
}

/// Decodes percent-encoded text. A `+` is not changed. Returns `None` if a `%` is not followed by two hexadecimal digits, or if the result is not UTF-8.
///
/// ```
/// use table_wire::percent::decode;
///
/// assert_eq!(decode("a+b%20c").as_deref(), Some("a+b c"));
/// assert_eq!(decode("%FF"), None);
/// ```
#[must_use]
pub fn decode(text: &str) -> Option<Cow<'_, str>> {
    if !text.contains('%') {
        return Some(Cow::Borrowed(text));
    }
    let mut decoded = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        if byte == b'%' {
            let mut digit = || char::from(bytes.next()?).to_digit(16);
            let value = digit()? * 16 + digit()?;
            decoded.push(u8::try_from(value).ok()?);
        } else {
            decoded.push(byte);
        }
    }
    String::from_utf8(decoded).ok().map(Cow::Owned)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn lit_4_a_filter_is_encoded_once() {
        let filter = "PartitionKey eq 'O''Neil & co'";
        assert_eq!(encode(filter), "PartitionKey%20eq%20%27O%27%27Neil%20%26%20co%27");
        assert_eq!(encode("a+b%é/~"), "a%2Bb%25%C3%A9%2F~");
    }

    proptest! {
        #[test]
        fn encoded_text_is_decoded(text in any::<String>()) {
            let encoded = encode(&text);
            prop_assert!(encoded.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~%".contains(&byte)));
            prop_assert_eq!(decode(&encoded), Some(Cow::Owned(text)));
        }
    }

    #[test]
    fn malformed_encodings_are_refused() {
        assert_eq!(encode("a b+é"), "a%20b%2B%C3%A9");
        assert_eq!(decode("a+b%2b"), Some("a+b+".into()));
        assert!(matches!(decode("a+b"), Some(Cow::Borrowed("a+b"))));
        for malformed in ["%", "%4", "%zz", "%+1", "%FF"] {
            assert_eq!(decode(malformed), None, "{malformed}");
        }
    }
}
