//! Texts in forms. A browser changes some characters of a text that it receives in a form and sends back.

/// Returns a text as it is after a browser has sent it back, by the parsing rules of HTML: each line end is a line feed, and U+0000 is U+FFFD.
///
/// Apply it to the stored and to the sent text before comparing them.
pub(crate) fn returned(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n").replace('\0', "\u{FFFD}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_ends_and_zeros_are_replaced_once() {
        for (stored, sent) in [
            ("a\r\nb", "a\r\nb"),
            ("a\rb", "a\r\nb"),
            ("a\nb", "a\r\nb"),
            ("a\r\r\nb", "a\r\n\r\nb"),
            ("a\0b", "a\u{FFFD}b"),
        ] {
            assert_eq!(returned(stored), returned(sent), "{stored:?}");
            assert_eq!(returned(&returned(stored)), returned(stored), "{stored:?}");
        }
    }
}
