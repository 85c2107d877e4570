//! Conversion of exclusive bounds to inclusive bounds.

use std::ops::Bound;

use table_core::key::text::is_legal;

/// Returns the first key inside a lower bound. No key contains a character smaller than the space (KEY-3), so appending a space gives the
/// next key.
pub(super) fn first(bound: &Bound<String>) -> Option<String> {
    match bound {
        Bound::Included(text) => Some(text.clone()),
        Bound::Excluded(text) => Some(format!("{text} ")),
        Bound::Unbounded => None,
    }
}

/// Returns the approximate last key inside an upper bound.
pub(super) fn last(bound: &Bound<String>) -> Option<String> {
    match bound {
        Bound::Included(text) => Some(text.clone()),
        Bound::Excluded(text) => Some(before(text)),
        Bound::Unbounded => None,
    }
}

/// Returns a key just before a text. For example, `a0` becomes `a.` followed by the largest character that a key may contain. The character before `0`, `/`, cannot
/// occur in keys.
fn before(text: &str) -> String {
    let mut characters: Vec<char> = text.chars().collect();
    let Some(mut character) = characters.pop() else { return String::new() };
    let stem: String = characters.into_iter().collect();
    while let Some(earlier) = predecessor(character) {
        if is_legal(earlier) {
            return format!("{stem}{earlier}\u{FFFD}");
        }
        character = earlier;
    }
    // No legal key starts with the stem and a smaller character, so the stem itself is the last key.
    stem
}

/// Returns the previous character in UTF-16 order.
fn predecessor(character: char) -> Option<char> {
    match character {
        '\u{10000}' => Some('\u{D7FF}'),
        '\u{E000}' => Some('\u{10FFFF}'),
        other => u32::from(other).checked_sub(1).and_then(char::from_u32),
    }
}
