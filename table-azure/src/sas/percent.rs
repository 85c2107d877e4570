//! Percent decoding of the values of a query string.

/// The text that was encoded; `None` if a `%` is not followed by two digits, or the text is no UTF-8.
pub(super) fn decode(text: &str) -> Option<String> {
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
    String::from_utf8(decoded).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::http::encode;

    proptest! {
        #[test]
        fn what_is_encoded_is_decoded(text in any::<String>()) {
            let encoded = encode(&text);
            prop_assert!(encoded.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~%".contains(&byte)));
            prop_assert_eq!(decode(&encoded), Some(text));
        }
    }

    #[test]
    fn what_is_malformed_is_refused() {
        assert_eq!(encode("a b+é"), "a%20b%2B%C3%A9");
        assert_eq!(decode("a+b%2b"), Some("a+b+".to_owned()));
        for malformed in ["%", "%4", "%zz", "%+1", "%FF"] {
            assert_eq!(decode(malformed), None, "{malformed}");
        }
    }
}
