//! Text in form fields. Browsers change some of its characters before they submit it.

/// Normalizes text as browsers do, following the parsing rules of HTML: each line break becomes a line feed, and U+0000 becomes U+FFFD.
///
/// Apply this to both the stored and the submitted text before comparing them.
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
