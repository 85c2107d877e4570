//! Percent-encoding of one value in a URL (REQ-5, LIT-4).

use std::fmt::Write;

/// Everything but letters, digits and `-._~` as `%XX` of its UTF-8 bytes; a space is `%20`, never `+` (REQ-5).
pub(crate) fn encode(text: &str) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lit_4_a_filter_is_encoded_once() {
        let filter = "PartitionKey eq 'O''Neil & co'";
        assert_eq!(encode(filter), "PartitionKey%20eq%20%27O%27%27Neil%20%26%20co%27");
        assert_eq!(encode("a+b%é/~"), "a%2Bb%25%C3%A9%2F~");
    }
}
