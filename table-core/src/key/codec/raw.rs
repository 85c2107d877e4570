//! `Text`: a string, written unchanged.

use table_store::{Result, quoted};

use crate::key::codec::fault::{mismatch, refused};
use crate::key::codec::{Alphabet, Form, KeyCodec, TextCodec};
use crate::key::text::first_illegal;
use crate::limits;

/// A codec that writes a string unchanged, so keys are readable. The default codec for `String`.
///
/// - Variable width, 0 to 512 UTF-16 code units (KEY-7). Ordered by code units (ORD-6). Preserves case, spaces and normalization (KEY-6).
/// - Rejected (`KeyEncoding`): `/ \ # ?` and control characters (KEY-3). [`Escaped`](crate::key::codec::Escaped) can write them.
/// - If another piece follows, a string needs a separator that it cannot contain; see [`Without`](crate::key::codec::Without).
///
/// ```
/// use table_core::key::codec::{Text, TextCodec};
///
/// let mut key = "email_".to_owned();
/// Text::encode_str("jonesj@contoso.com", &mut key)?;
/// assert_eq!(key, "email_jonesj@contoso.com"); // PAT-INTRA
/// assert_eq!(Text::encode_str("a/b", &mut key).unwrap_err().rule(), Some("KEY-3"));
/// # Ok::<(), table_core::Error>(())
/// ```
#[derive(Debug)]
pub enum Text {}

/// Returns `true` if a string exceeds the key length accepted by every store.
pub(super) fn is_too_long(text: &str) -> bool {
    text.len() > limits::KEY_UNITS_PORTABLE && text.encode_utf16().count() > limits::KEY_UNITS_PORTABLE
}

pub(super) fn push(value: &str, out: &mut String) -> Result<()> {
    if let Some(illegal) = first_illegal(value) {
        return Err(refused(format!(
            "'{}' contains {illegal:?}, which keys cannot contain; encode the part, for example with `escaped(…)` or \
             `folded(lower, escaped(…))`",
            quoted(value).escaped(),
        ))
        .with_rule("KEY-3"));
    }
    if is_too_long(value) {
        return Err(refused(format!(
            "the text has {} UTF-16 code units, a key at most {}; store it in a property, and a hash of it in the key",
            value.encode_utf16().count(),
            limits::KEY_UNITS_PORTABLE
        ))
        .with_rule("KEY-7"));
    }
    out.push_str(value);
    Ok(())
}

/// Checks a stored string. Returns an error if `push` would have rejected it.
fn check(text: &str) -> Result<()> {
    if first_illegal(text).is_some() || is_too_long(text) {
        return Err(mismatch(text, "text"));
    }
    Ok(())
}

#[diagnostic::do_not_recommend]
impl KeyCodec<String> for Text {
    const NAME: &'static str = "text";
    const FORM: Form =
        Form { min: 0, max: limits::KEY_UNITS_PORTABLE, ordered: true, alphabet: Alphabet::LEGAL };

    fn encode(value: &String, out: &mut String) -> Result<()> {
        push(value, out)
    }

    fn encode_hashed(value: &String, out: &mut String) -> Result<()> {
        out.push_str(value);
        Ok(())
    }

    fn decode(text: &str) -> Result<String> {
        check(text)?;
        Ok(text.to_owned())
    }

    fn decode_again(text: &str, value: &mut String) -> Result<()> {
        check(text)?;
        value.clear();
        value.push_str(text);
        Ok(())
    }
}

impl TextCodec for Text {
    fn encode_str(value: &str, out: &mut String) -> Result<()> {
        push(value, out)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::key::codec::tests::awkward_text;

    proptest! {
        #[test]
        fn reading_over_another_text_equals_a_fresh_read(texts in prop::collection::vec(awkward_text(), 1..8)) {
            let mut place = "before".to_owned();
            for text in &texts {
                match (Text::decode(text), Text::decode_again(text, &mut place)) {
                    (Ok(fresh), Ok(())) => prop_assert_eq!(&fresh, &place),
                    (fresh, again) => prop_assert_eq!(fresh.unwrap_err().to_string(), again.unwrap_err().to_string()),
                }
            }
        }
    }

    #[test]
    fn a_refused_character_is_shown_as_it_is_typed() {
        let refused = |text| push(text, &mut String::new()).unwrap_err().to_string();
        let help = "which keys cannot contain; encode the part, for example with `escaped(…)` or `folded(lower, escaped(…))`";
        for (text, shown) in [("o/neil", "'/'"), ("a\\b", r"'\\'"), ("a\u{7}", r"'\u{7}'")] {
            assert!(refused(text).contains(&format!("contains {shown}, {help}")), "{}", refused(text));
        }
    }

    #[test]
    fn a_shorter_text_reuses_the_allocation() {
        let mut place = "a long text".to_owned();
        let memory = place.as_ptr();
        Text::decode_again("short", &mut place).unwrap();
        assert_eq!((place.as_str(), place.as_ptr()), ("short", memory));
        assert!(Text::decode_again(&"x".repeat(513), &mut place).is_err());
    }
}
