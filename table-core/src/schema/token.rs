//! The words of a line in a stored schema. A word is formatted as a JSON string if necessary.

use serde_json::{Deserializer, Value};

/// Formats a word for a line. A word that is empty, starts with a quote, or contains whitespace or a control character becomes a JSON string. Any other word is
/// written as is.
pub(crate) fn token(text: &str) -> String {
    let bare = !text.is_empty()
        && !text.starts_with('"')
        && !text.contains(|character: char| character.is_whitespace() || character.is_control());
    if bare { text.to_owned() } else { Value::from(text).to_string() }
}

/// A reader for the words of one line.
pub(crate) struct Tokens<'a>(&'a str);

impl<'a> Tokens<'a> {
    pub(crate) fn new(line: &'a str) -> Self {
        Self(line.trim())
    }

    pub(crate) fn is_at_end(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns `true` if the next word is quoted.
    pub(crate) fn is_quoted(&self) -> bool {
        self.0.starts_with('"')
    }

    /// Returns the next word. Returns `None` at the end of the line, or if a JSON string is not terminated.
    pub(crate) fn word(&mut self) -> Option<String> {
        let (word, end) = if self.is_quoted() {
            let mut values = Deserializer::from_str(self.0).into_iter::<String>();
            let word = values.next()?.ok()?;
            (word, values.byte_offset())
        } else {
            let end = self.0.find(' ').unwrap_or(self.0.len());
            (self.0.get(..end)?.to_owned(), end)
        };
        self.0 = self.0.get(end..)?.trim_start();
        (!word.is_empty() || end > 0).then_some(word)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn any_words_read_back(words in prop::collection::vec(any::<String>(), 0..5)) {
            let line = words.iter().map(|word| token(word)).collect::<Vec<_>>().join(" ");
            prop_assert!(!line.contains('\n'));
            let mut tokens = Tokens::new(&line);
            let read: Vec<_> = std::iter::from_fn(|| tokens.word()).collect();
            prop_assert_eq!(read, words);
        }
    }
}
