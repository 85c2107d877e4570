//! Keys as segments of the name of a blob: readable, reversible, legal everywhere.

use std::fmt::Write as _;

/// A text as a segment: ASCII letters, digits, `-` and `_` as they are, every other byte as `=2E`; the empty text is `=`.
pub(crate) fn encode(text: &str) -> String {
    if text.is_empty() {
        return "=".to_owned();
    }
    let mut segment = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_') {
            segment.push(char::from(byte));
        } else {
            // Writing to a `String` cannot fail.
            let _ = write!(segment, "={byte:02X}");
        }
    }
    segment
}

/// The text of a segment; `None` if `encode` writes no such one.
pub(crate) fn decode(segment: &str) -> Option<String> {
    if segment == "=" {
        return Some(String::new());
    }
    let mut bytes = Vec::with_capacity(segment.len());
    let mut rest = segment.as_bytes();
    while let [byte, after @ ..] = rest {
        if *byte != b'=' {
            bytes.push(*byte);
            rest = after;
            continue;
        }
        let [high, low, after @ ..] = after else { return None };
        bytes.push(u8::from_str_radix(str::from_utf8(&[*high, *low]).ok()?, 16).ok()?);
        rest = after;
    }
    let text = String::from_utf8(bytes).ok()?;
    (encode(&text) == segment).then_some(text)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_text_has_one_segment(text: String) {
            let segment = encode(&text);
            prop_assert!(object_store::path::Path::parse(&segment).is_ok_and(|path| path.as_ref() == segment));
            prop_assert!(!segment.is_empty() && !segment.contains('/'));
            prop_assert_eq!(decode(&segment), Some(text));
        }

        #[test]
        fn no_segment_is_read_that_is_not_written(segment in "[=0-9A-Fa-f.]{0,8}") {
            if let Some(text) = decode(&segment) {
                prop_assert_eq!(encode(&text), segment);
            }
        }
    }

    #[test]
    fn segments_can_be_read() {
        assert_eq!(encode("jonesj@contoso.com"), "jonesj=40contoso=2Ecom");
        assert_eq!(encode(".."), "=2E=2E");
    }
}
