//! Conversion of exclusive bounds to the next key inside.

use std::ops::Bound;

use table_core::key::text::is_legal;

/// The first key inside a lower bound: no key holds a character before the blank (KEY-3), so it follows directly.
pub(super) fn first(bound: &Bound<String>) -> Option<String> {
    match bound {
        Bound::Included(text) => Some(text.clone()),
        Bound::Excluded(text) => Some(format!("{text} ")),
        Bound::Unbounded => None,
    }
}

/// A key inside an upper bound behind which none is to be expected.
pub(super) fn last(bound: &Bound<String>) -> Option<String> {
    match bound {
        Bound::Included(text) => Some(text.clone()),
        Bound::Excluded(text) => Some(before(text)),
        Bound::Unbounded => None,
    }
}

/// `a0` becomes `a.` and the last character: `/` may not occur in a key.
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
    // Nothing legal begins with the stem and a smaller character: the stem itself is the last.
    stem
}

/// The character before in UTF-16 order.
fn predecessor(character: char) -> Option<char> {
    match character {
        '\u{10000}' => Some('\u{D7FF}'),
        '\u{E000}' => Some('\u{10FFFF}'),
        other => u32::from(other).checked_sub(1).and_then(char::from_u32),
    }
}
