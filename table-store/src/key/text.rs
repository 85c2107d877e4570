//! The characters allowed in keys (KEY-3, KEY-6), and the prefix of `RowKey`s reserved for patterns, such as an outbox.

/// Returns `true` if keys may contain the character (KEY-3, KEY-6).
///
/// ```
/// assert!(table_core::key::text::is_legal('%'));
/// assert!(!table_core::key::text::is_legal('/'));
/// ```
#[must_use]
pub const fn is_legal(character: char) -> bool {
    !matches!(character, '/' | '\\' | '#' | '?' | '\u{0}'..='\u{1F}' | '\u{7F}'..='\u{9F}')
}

/// A lookup table of legal ASCII bytes. It is used because each key is checked several times. For a short key, comparing characters would take four times as
/// many instructions.
const PLAIN: [bool; 256] = {
    let mut plain = [false; 256];
    let mut byte = 0;
    while byte < 128_u8 {
        plain[byte as usize] = is_legal(byte as char);
        byte += 1;
    }
    plain
};

/// Returns the first character in the text that is illegal in keys.
#[doc(hidden)]
#[must_use]
pub fn first_illegal(text: &str) -> Option<char> {
    // The bytes are checked first, so legal ASCII text is accepted without decoding and without a branch per byte.
    if text.bytes().fold(true, |all, byte| all & PLAIN[usize::from(byte)]) {
        return None;
    }
    text.chars().find(|character| !is_legal(*character))
}

/// Returns the number of UTF-16 code units of a string. Returns `None` if the string contains a character that is illegal in keys. This function can be called
/// in constants.
#[doc(hidden)]
#[must_use]
pub const fn legal_units(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let (mut units, mut at) = (0, 0);
    while at < bytes.len() {
        // This repeats `is_legal` and `units_of` inline, because every function call during constant evaluation slows down compilation.
        match bytes[at] {
            0..=0x1F | b'/' | b'\\' | b'#' | b'?' | 0x7F => return None,
            // U+0080 to U+009F are `C2 80` to `C2 9F`. All other non-ASCII characters are legal.
            0xC2 if bytes[at + 1] <= 0x9F => return None,
            0x80..=0xBF => {}
            0xF0.. => units += 2,
            _ => units += 1,
        }
        at += 1;
    }
    Some(units)
}

/// The first character of `RowKey`s that are reserved for patterns, such as the keys of outbox rows.
///
/// U+FFFC is legal in keys but rarely used, and only U+FFFD to U+FFFF sort after it, so reserved rows come last in their partition. Every `Table` function that
/// takes an entity or its key rejects such a `RowKey`, and `Table` queries skip reserved rows. A [`TableStore`](crate::TableStore) does not treat them
/// specially.
pub const RESERVED: char = '\u{FFFC}';

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_units_of_each_character_are_counted_if_it_is_legal() {
        for character in '\0'..=char::MAX {
            let expected = is_legal(character).then(|| character.len_utf16() + 1);
            assert_eq!(legal_units(&format!("{character}_")), expected, "{character:?}");
        }
    }
}
