//! `Escaped`: an order-preserving encoding of any string in characters legal in keys.

use table_store::{Error, Result};

use crate::key::codec::fault::{mismatch, refused};
use crate::key::codec::raw::is_too_long;
use crate::key::codec::{Alphabet, Form, KeyCodec, TextCodec};
use crate::key::text::is_legal;
use crate::limits;

/// A codec for any Unicode string. Characters illegal in keys are encoded as legal characters.
///
/// Each character is encoded separately, and most characters are written unchanged. Every other character is written as two characters. The first of them sorts
/// like the original. The second is a digit or a letter from `a` to `z`, and keeps the order among originals with the same first character.
/// | characters | text |
/// |---|---|
/// | U+0000 to U+001F, space, `!`, `"`, `#` | `"0` to `"z` |
/// | `.`, `/` | `.0`, `.1` |
/// | `>`, `?` | `>0`, `>1` |
/// | `[`, `\` | `[0`, `[1` |
/// | `~`, U+007F to U+009F | `~0` to `~x` |
///
/// - Variable width, up to 512 UTF-16 code units (KEY-7). A string with a longer encoding is rejected (`KeyEncoding`).
/// - Ordered by UTF-16 code units (ORD-6). All characters of the encoding sort after `!`. A literal that begins with `!` can therefore separate the string from
///   later pieces without changing the order (PAT-CK-2, PAT-CK-4).
/// - The encoding of a string's prefix is a prefix of the string's encoding.
///
/// ```
/// use table_core::key::codec::{Escaped, KeyCodec, TextCodec};
///
/// let mut key = String::new();
/// Escaped::encode_str("GET /a?b#c", &mut key)?;
/// assert_eq!(key, "GET\"w.1a>1b\"zc");
/// assert_eq!(Escaped::decode(&key)?, "GET /a?b#c");
/// # Ok::<(), table_core::Error>(())
/// ```
#[derive(Debug)]
pub enum Escaped {}

/// The ranges of characters that are escaped. Each entry contains the first character of the escape sequence, and then the first and last characters of the
/// range.
const CLASSES: [(char, char, char); 5] =
    [('"', '\0', '#'), ('.', '.', '/'), ('>', '>', '?'), ('[', '[', '\\'), ('~', '~', '\u{9F}')];

const fn is_escaped(character: char) -> bool {
    matches!(character, '\0'..='#' | '.' | '/' | '>' | '?' | '[' | '\\' | '~'..='\u{9F}')
}

/// Returns the two characters that replace a character, or `None` if it is not escaped.
fn escape(character: char) -> Option<(char, char)> {
    let (lead, first, _) =
        CLASSES.into_iter().find(|(_, first, last)| (*first..=*last).contains(&character))?;
    let second = char::from_digit(u32::from(character).checked_sub(u32::from(first))?, 36)?;
    Some((lead, second))
}

/// Returns the character represented by an escape sequence of two characters, or `None` if the sequence is invalid.
fn unescape(lead: char, second: char) -> Option<char> {
    let (_, first, last) = CLASSES.into_iter().find(|(candidate, ..)| *candidate == lead)?;
    let place = second.to_digit(36).filter(|_| !second.is_ascii_uppercase())?;
    char::from_u32(u32::from(first) + place).filter(|character| *character <= last)
}

fn unescape_all(text: &str) -> Option<String> {
    let mut value = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        if CLASSES.iter().any(|(lead, ..)| *lead == character) {
            value.push(unescape(character, characters.next()?)?);
        } else if is_escaped(character) || !is_legal(character) {
            return None;
        } else {
            value.push(character);
        }
    }
    Some(value)
}

#[cold]
fn too_long(written: &str) -> Error {
    refused(format!(
        "the escaped text has {} UTF-16 code units, a key at most {}; store it in a property, and a hash of it \
         in the key",
        written.encode_utf16().count(),
        limits::KEY_UNITS_PORTABLE
    ))
    .with_rule("KEY-7")
}

#[diagnostic::do_not_recommend]
impl KeyCodec<String> for Escaped {
    const NAME: &'static str = "escaped";
    const FORM: Form = Form {
        min: 0,
        max: limits::KEY_UNITS_PORTABLE,
        ordered: true,
        alphabet: Alphabet::LEGAL.without(' ').without('!'),
    };

    fn encode(value: &String, out: &mut String) -> Result<()> {
        Self::encode_str(value, out)
    }

    fn decode(text: &str) -> Result<String> {
        Some(text)
            .filter(|text| !is_too_long(text))
            .and_then(unescape_all)
            .ok_or_else(|| mismatch(text, "escaped"))
    }
}

impl TextCodec for Escaped {
    fn encode_str(value: &str, out: &mut String) -> Result<()> {
        let start = out.len();
        for piece in value.split_inclusive(is_escaped) {
            let mut plain = piece.chars();
            if let Some((lead, second)) = plain.next_back().and_then(escape) {
                out.push_str(plain.as_str());
                out.push(lead);
                out.push(second);
            } else {
                out.push_str(piece);
            }
        }
        match out.get(start..) {
            Some(written) if is_too_long(written) => Err(too_long(written)),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::codec::compound::{self, Piece};
    use crate::key::order::compare;

    fn escaped(text: &str) -> String {
        let mut out = String::new();
        Escaped::encode_str(text, &mut out).unwrap();
        out
    }

    #[test]
    fn every_character_has_an_ordered_and_reversible_encoding() {
        let mut characters: Vec<char> = ('\0'..=char::MAX).collect();
        characters.sort_by(|a, b| compare(&a.to_string(), &b.to_string()));
        let written: Vec<String> =
            characters.iter().map(|character| escaped(&character.to_string())).collect();
        for (pair, character) in written.windows(2).zip(&characters) {
            let [before, after] = pair else { panic!("windows of two") };
            assert!(compare(before, after).is_lt() && !after.starts_with(before.as_str()), "{character:?}");
        }
        for (text, character) in written.iter().zip(characters) {
            assert!(text.chars().all(|c| is_legal(c) && c > '!'), "{character:?}");
            assert_eq!(Escaped::decode(text).unwrap(), character.to_string());
        }
    }

    /// Tests that `escaped(…), "!"` is ordered and self-delimiting. The derive relies on this when it generates range and prefix queries.
    #[test]
    fn a_text_before_an_exclamation_mark_is_ordered_and_self_delimiting() {
        const ID: Piece = Piece::Part(Form::fixed(6, true, Alphabet::DIGITS));
        let text = Piece::Part(Escaped::FORM);
        for pieces in [[text, Piece::Literal("!"), ID], [text, Piece::Literal("!a"), text]] {
            assert!(
                compound::keeps_order(&pieces, 0) && compound::is_self_delimiting(&pieces, 0),
                "{pieces:?}"
            );
        }
        let other = [text, Piece::Literal("_"), ID];
        assert!(!compound::keeps_order(&other, 0) && !compound::is_self_delimiting(&other, 0));
    }

    #[test]
    fn key_7_length_counts_the_encoded_text() {
        assert!(Escaped::encode_str(&"/".repeat(256), &mut String::new()).is_ok());
        let error = Escaped::encode_str(&"/".repeat(257), &mut String::new()).unwrap_err();
        assert!(error.to_string().contains("514 UTF-16 code units"), "{error}");
    }

    #[test]
    fn texts_that_escaping_never_writes_do_not_decode() {
        for text in [" ", "!", "\"", "\"A", "\"{", ".", ".2", ".x", "~y", "~", "a\u{7F}", "/"] {
            assert!(Escaped::decode(text).is_err(), "{text:?}");
        }
    }
}
