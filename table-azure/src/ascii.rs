//! Bodies without a character beyond ASCII, for Azurite: it reads a body chunk by chunk, so that a character that lies across two
//! chunks becomes two or more of U+FFFD, in what it stores.

use std::fmt::Write;

/// The same JSON: what lies beyond ASCII is in a string, where `\u` can name it.
pub(crate) fn json(body: String) -> String {
    let mut units = [0; 2];
    named(body, |text, character| {
        for unit in character.encode_utf16(&mut units) {
            // Writing to a text cannot fail.
            let _ = write!(text, "\\u{unit:04x}");
        }
    })
}

/// The same XML: what lies beyond ASCII is in the content of an element, where a reference can name it.
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
        fn json_says_the_same(text: String) {
            let sent = json(serde_json::to_string(&text).unwrap());
            prop_assert!(sent.is_ascii());
            prop_assert_eq!(serde_json::from_str::<String>(&sent).unwrap(), text);
        }

        #[test]
        fn xml_says_the_same(text in "\\PC*") {
            let sent = xml(format!("<M><T>{}</T></M>", crate::xml::content(&text)));
            prop_assert!(sent.is_ascii());
            let read = crate::xml::Element::read(&sent).unwrap();
            prop_assert_eq!(read.text_of("T").unwrap_or_default(), text);
        }
    }
}
