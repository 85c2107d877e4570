//! Converts bounds to inclusive ends.

use std::ops::Bound;

use table_core::key::text::is_legal;

/// Returns the first key within a lower bound. If the bound excludes a key, this is that key followed by a space, because no key contains a character that
/// sorts before the space (KEY-3).
pub(super) fn first(bound: &Bound<String>) -> Option<String> {
    match bound {
        Bound::Included(text) => Some(text.clone()),
        Bound::Excluded(text) => Some(format!("{text} ")),
        Bound::Unbounded => None,
    }
}

/// Returns the last key within an upper bound. For an exclusive bound, the result is only approximate: it is a key just below the bound.
pub(super) fn last(bound: &Bound<String>) -> Option<String> {
    match bound {
        Bound::Included(text) => Some(text.clone()),
        Bound::Excluded(text) => Some(before(text)),
        Bound::Unbounded => None,
    }
}

/// Returns a key that sorts just before the given string. For example, `a0` becomes `a.` followed by U+FFFD. The character before `0` is `/`, but keys cannot
/// contain it, so the result uses `.` instead.
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
    // No legal key starts with the stem followed by a smaller character, so the stem itself is the last key.
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
