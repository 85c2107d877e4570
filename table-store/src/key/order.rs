//! The order of keys and strings by UTF-16 code units (ORD-1 to ORD-6), and an order-preserving byte encoding.
//!
//! UTF-8 sorts by code point, which differs from UTF-16 in one case: supplementary characters (lead bytes `F0`–`F4` in UTF-8). In UTF-16, they sort before
//! U+E000–U+FFFF (lead bytes `EE`, `EF`). In UTF-8, they sort after these characters (ORD-3).
//!
//! The encoding replaces the lead bytes `EE` and `EF` with `F8` and `F9`, which corrects the order. The length does not change, and strings without these bytes
//! are not changed at all.

use std::borrow::Cow;
use std::cmp::Ordering;

use crate::error::{Error, Result};
use crate::key::fault::KeyFault;

const LIFT: u8 = 0xF8 - 0xEE;

/// Compares strings in the service's order: by UTF-16 code units (ORD-6). The strings are not re-encoded.
///
/// ```
/// use std::cmp::Ordering;
/// use table_core::key::order::compare;
///
/// assert_eq!(compare("10", "9"), Ordering::Less); // strings, not numbers (ORD-2)
/// assert_eq!(compare("\u{1F600}", "\u{FF21}"), Ordering::Less); // ORD-3, greater in UTF-8
/// ```
#[must_use]
pub fn compare(left: &str, right: &str) -> Ordering {
    // If one of the strings is ASCII, UTF-8 and UTF-16 define the same order. The standard comparison is faster because it compares whole words.
    if left.is_ascii() || right.is_ascii() {
        return left.cmp(right);
    }
    match left.bytes().zip(right.bytes()).find(|(l, r)| l != r) {
        Some((l, r)) => lifted(l).cmp(&lifted(r)),
        None => left.len().cmp(&right.len()),
    }
}

const fn lifted(byte: u8) -> u8 {
    if byte == 0xEE || byte == 0xEF { byte + LIFT } else { byte }
}

/// Returns `true` if `left` sorts before `right`. Use this function in constants and [`compare`] at run time.
#[doc(hidden)]
#[must_use]
pub const fn is_before(left: &str, right: &str) -> bool {
    let (left, right) = (left.as_bytes(), right.as_bytes());
    let mut at = 0;
    while at < left.len() && at < right.len() {
        if left[at] != right[at] {
            return lifted(left[at]) < lifted(right[at]);
        }
        at += 1;
    }
    left.len() < right.len()
}

/// Returns the length of a string in UTF-16 code units.
#[doc(hidden)]
#[must_use]
pub const fn units(text: &str) -> usize {
    let bytes = text.as_bytes();
    let (mut units, mut at) = (0, 0);
    while at < bytes.len() {
        // This repeats `units_of` inline, because every function call during constant evaluation slows down compilation.
        match bytes[at] {
            0x80..=0xBF => {}
            0xF0.. => units += 2,
            _ => units += 1,
        }
        at += 1;
    }
    units
}

/// Returns the number of UTF-16 code units of the character that starts with this UTF-8 byte, or 0 for a continuation byte.
#[doc(hidden)]
#[must_use]
pub const fn units_of(byte: u8) -> usize {
    match byte {
        0x80..=0xBF => 0,
        0xF0.. => 2,
        _ => 1,
    }
}

/// Appends the encoding of `text` to `out`. Encoded strings sort bytewise in the order of [`compare`].
pub fn encode(text: &str, out: &mut Vec<u8>) {
    let start = out.len();
    out.extend_from_slice(text.as_bytes());
    if !text.is_ascii() {
        for byte in out.iter_mut().skip(start) {
            *byte = lifted(*byte);
        }
    }
}

/// Decodes the output of [`encode`] and appends the text to `out`.
///
/// # Errors
/// `Corrupted` if the bytes are not a valid encoding.
pub fn decode(bytes: &[u8], out: &mut String) -> Result<()> {
    let text = lower(bytes)?;
    out.push_str(std::str::from_utf8(&text).map_err(|source| Error::of(KeyFault::Order(Some(source))))?);
    Ok(())
}

/// Reverses [`encode`] without checking that the result is UTF-8.
#[inline]
pub(crate) fn lower(bytes: &[u8]) -> Result<Cow<'_, [u8]>> {
    let is_lower = bytes.is_ascii() || bytes.iter().all(|byte| *byte < 0xEE);
    if is_lower { Ok(Cow::Borrowed(bytes)) } else { lowered(bytes).map(Cow::Owned) }
}

fn lowered(bytes: &[u8]) -> Result<Vec<u8>> {
    let lowered = bytes.iter().map(|byte| match byte {
        0xF8 | 0xF9 => Ok(byte - LIFT),
        0xEE | 0xEF => Err(corrupted()),
        other => Ok(*other),
    });
    lowered.collect()
}

#[cold]
pub(crate) fn corrupted() -> Error {
    Error::of(KeyFault::Order(None))
}

/// Returns the smallest string that is greater than every string with this prefix (FIL-19), or `None` if no such string exists.
///
/// ```
/// use table_core::key::order::after_prefix;
///
/// assert_eq!(after_prefix("email_a").as_deref(), Some("email_b"));
/// assert_eq!(after_prefix(""), None);
/// ```
#[must_use]
pub fn after_prefix(prefix: &str) -> Option<String> {
    let mut characters: Vec<char> = prefix.chars().collect();
    while let Some(last) = characters.pop() {
        if let Some(next) = successor(last) {
            characters.push(next);
            return Some(characters.into_iter().collect());
        }
    }
    None
}

/// Returns the next character in UTF-16 order (FIL-19).
fn successor(character: char) -> Option<char> {
    match character {
        '\u{D7FF}' => Some('\u{10000}'),
        '\u{10FFFF}' => Some('\u{E000}'),
        '\u{FFFF}' => None,
        other => char::from_u32(u32::from(other) + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Generates strings, some of them with characters that UTF-8 and UTF-16 order differently.
    fn text() -> impl Strategy<Value = String> {
        let awkward = prop_oneof![
            Just('\u{0}'),
            Just('a'),
            Just('b'),
            Just('~'),
            Just('é'),
            Just('\u{D7FF}'),
            Just('\u{E000}'),
            Just('\u{FF21}'),
            Just('\u{FFFF}'),
            Just('\u{10000}'),
            Just('\u{1F600}'),
            Just('\u{10FFFF}'),
            any::<char>(),
        ];
        prop::collection::vec(awkward, 0..6).prop_map(|characters| characters.into_iter().collect())
    }

    #[test]
    fn fil_19_the_text_after_a_prefix() {
        assert_eq!(after_prefix("email_a").as_deref(), Some("email_b")); // PAT-INTRA-3
        assert_eq!(after_prefix("\u{D7FF}").as_deref(), Some("\u{10000}")); // the surrogates come next in UTF-16
        assert_eq!(after_prefix("a\u{FFFF}").as_deref(), Some("b"));
        assert_eq!(after_prefix(""), None);
    }

    proptest! {
        #[test]
        fn ord_6_compare_and_bytes_sort_by_utf16_code_units(left in text(), right in text()) {
            let reference = left.encode_utf16().cmp(right.encode_utf16());
            prop_assert_eq!(compare(&left, &right), reference);
            let (mut l, mut r) = (Vec::new(), Vec::new());
            encode(&left, &mut l);
            encode(&right, &mut r);
            prop_assert_eq!(l.cmp(&r), reference);
        }

        #[test]
        fn bytes_round_trip(original in text()) {
            let (mut bytes, mut back) = (Vec::new(), String::new());
            encode(&original, &mut bytes);
            decode(&bytes, &mut back).unwrap();
            prop_assert_eq!(back, original);
        }

        #[test]
        fn decode_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..12)) {
            let _ = decode(&bytes, &mut String::new());
        }

        #[test]
        fn fil_19_after_prefix_bounds_exactly_the_texts_with_the_prefix(prefix in text(), other in text(), tail in text()) {
            let bound = after_prefix(&prefix);
            let below = |text: &str| bound.as_deref().is_none_or(|bound| compare(text, bound).is_lt());
            let with_prefix = format!("{prefix}{tail}");
            prop_assert!(below(&with_prefix));
            let inside = compare(&other, &prefix).is_ge() && below(&other);
            prop_assert_eq!(inside, other.starts_with(&prefix));
        }
    }
}
