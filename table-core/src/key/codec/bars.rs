//! `Bars`: a string with the escape sequences of the Bot Framework.

use table_store::{Result, quoted};

use crate::key::codec::caret::fits;
use crate::key::codec::fault::{mismatch, refused};
use crate::key::codec::raw::is_too_long;
use crate::key::codec::{Alphabet, Form, KeyCodec};
use crate::key::text::is_legal;
use crate::limits;

/// A codec that replaces `/`, `\`, `#` and `?` with a letter between bars.
///
/// `/` is written as `|s|`, `\` as `|b|`, `#` as `|h|` and `?` as `|q|`. The Bot Framework's storage uses the same escape sequences (`BotBuilder-Azure`,
/// `StringExtensions.SanitizeForAzureKeys`).
///
/// - A bar itself is not escaped. A string that already contains one of these escape sequences is rejected (`KeyEncoding`), because it would decode to a
///   different string. Control characters are also rejected.
/// - Not ordered, and not a [`TextCodec`](crate::key::codec::TextCodec). For example, `a|z` and `a/z` are encoded as `a|z` and `a|s|z`. Both begin with `a|`,
///   so a key prefix does not select exactly the strings with that prefix. Prefer [`Escaped`](crate::key::codec::Escaped) in new schemas.
///
/// ```
/// use table_core::key::codec::{Bars, KeyCodec};
///
/// let mut key = String::new();
/// Bars::encode(&"teams/7#x".to_owned(), &mut key)?;
/// assert_eq!(key, "teams|s|7|h|x");
/// assert_eq!(Bars::decode(&key)?, "teams/7#x");
/// assert!(Bars::encode(&"teams|s|7".to_owned(), &mut key).is_err());
/// # Ok::<(), table_core::Error>(())
/// ```
#[derive(Debug)]
pub enum Bars {}

const NAME: &str = "bars";
const ESCAPES: [(char, &str); 4] = [('/', "|s|"), ('\\', "|b|"), ('#', "|h|"), ('?', "|q|")];

fn read(text: &str) -> Option<String> {
    let mut value = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let escape =
            ESCAPES.iter().find_map(|(character, escape)| Some((*character, rest.strip_prefix(escape)?)));
        let (character, after) = match escape {
            Some(found) => found,
            None => (first, rest.strip_prefix(first).filter(|_| is_legal(first))?),
        };
        value.push(character);
        rest = after;
    }
    Some(value)
}

#[diagnostic::do_not_recommend]
impl KeyCodec<String> for Bars {
    const NAME: &'static str = NAME;
    const FORM: Form =
        Form { min: 0, max: limits::KEY_UNITS_PORTABLE, ordered: false, alphabet: Alphabet::LEGAL };

    fn encode(value: &String, out: &mut String) -> Result<()> {
        let start = out.len();
        for character in value.chars() {
            match ESCAPES.iter().find(|(escaped, _)| *escaped == character) {
                Some((_, escape)) => out.push_str(escape),
                None => out.push(character),
            }
        }
        let written = out.get(start..).unwrap_or_default();
        if read(written).as_ref() != Some(value) {
            return Err(refused(format!(
                "'{}' contains an escape such as `|s|`, or a control character, and could not be read back; check the value, or \
                 declare `escaped(…)`, which writes any text",
                quoted(value).escaped()
            )));
        }
        fits(written)
    }

    fn decode(text: &str) -> Result<String> {
        let value = Some(text).filter(|text| !is_too_long(text)).and_then(read);
        value.ok_or_else(|| mismatch(text, NAME))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tests that strings are escaped as in the tests of `SanitizeForAzureKeys`. That function also trims the string, but the codec does not.
    #[test]
    fn the_four_characters_are_letters_between_bars() {
        for (value, key) in [("/", "|s|"), ("\\", "|b|"), ("#", "|h|"), ("?", "|q|"), ("/#?", "|s||h||q|")] {
            let mut text = String::new();
            Bars::encode(&value.to_owned(), &mut text).unwrap();
            assert_eq!((text.as_str(), Bars::decode(&text).unwrap().as_str()), (key, value));
        }
    }

    #[test]
    fn a_text_that_would_be_read_as_another_is_refused() {
        for wrong in ["|s|", "a|q|b", "|s/", "x|b\\", "a\u{7}"] {
            assert!(Bars::encode(&wrong.to_owned(), &mut String::new()).is_err(), "{wrong:?}");
        }
        for right in ["|", "||", "|x|", "s|", "|s", "/|"] {
            assert!(Bars::encode(&right.to_owned(), &mut String::new()).is_ok(), "{right:?}");
        }
    }
}
