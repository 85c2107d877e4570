//! Makes request bodies ASCII-only for Azurite.
//!
//! Azurite decodes a body chunk by chunk. If a non-ASCII character is split between two chunks, it stores several U+FFFD characters instead.

use std::fmt::Write;

/// Escapes each non-ASCII character in a JSON body as `\uXXXX`. In JSON, such characters occur only inside strings.
pub(crate) fn json(body: String) -> String {
    let mut units = [0; 2];
    named(body, |text, character| {
        for unit in character.encode_utf16(&mut units) {
            // Writing to a `String` cannot fail.
            let _ = write!(text, "\\u{unit:04x}");
        }
    })
}

/// Replaces each non-ASCII character in an XML body with a character reference.
///
/// This is safe because this client's XML bodies contain such characters only in element content.
pub(crate) fn xml(body: String) -> String {
    named(body, |text, character| {
        let _ = write!(text, "&#{};", u32::from(character));
    })
}

fn named(body: String, mut name: impl FnMut(&mut String, char)) -> String {
    if body.is_ascii() {
        return body;
    }
    let mut text = String::with_capacity(2 * body.len());
    for character in body.chars() {
        if character.is_ascii() {
            text.push(character);
        } else {
            name(&mut text, character);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn ascii_json_is_equivalent(text: String) {
            let sent = json(serde_json::to_string(&text).unwrap());
            prop_assert!(sent.is_ascii());
            prop_assert_eq!(serde_json::from_str::<String>(&sent).unwrap(), text);
        }

        #[test]
        fn ascii_xml_is_equivalent(text in "\\PC*") {
            let sent = xml(format!("<M><T>{}</T></M>", crate::xml::content(&text)));
            prop_assert!(sent.is_ascii());
            let read = crate::xml::Element::read(&sent).unwrap();
            prop_assert_eq!(read.text_of("T").unwrap_or_default(), text);
        }
    }
}
