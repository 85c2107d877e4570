//! Functions that find the end of a part in a key. The end is determined by the part's form and the pieces after the part.
//!
//! The functions accept any type of piece that can be converted to a [`Piece`], because the pieces in a schema also have names.

use crate::key::codec::Form;
use crate::key::codec::compound::Piece;

/// Returns the end of a part at the start of `text`, or `None` if `text` does not start with such a part.
pub(super) fn end_of_part<P>(
    form: Form,
    after: &[P],
    text: &str,
    piece: impl Fn(&P) -> Piece,
) -> Option<usize> {
    if form.is_fixed() {
        return end_of_units(text, form.max);
    }
    match first_character(after, &piece) {
        Some(first) if !form.alphabet.contains(first) => text.find(first),
        _ => end_of_rest(after, text, piece),
    }
}

/// Returns the end of the remainder. The pieces after the remainder are read from the right. The remainder ends where they begin.
fn end_of_rest<P>(mut after: &[P], text: &str, piece: impl Fn(&P) -> Piece) -> Option<usize> {
    let mut rest = text;
    while let Some((last, before)) = after.split_last() {
        rest = match piece(last) {
            Piece::Literal(literal) => rest.strip_suffix(literal)?,
            Piece::Part(form) if form.is_fixed() => rest.get(..start_of_units(rest, form.max)?)?,
            Piece::Part(_) => {
                let separator = last_character(before, &piece)?;
                rest.get(..rest.rfind(separator)? + separator.len_utf8())?
            }
        };
        after = before;
    }
    Some(rest.len())
}

/// Returns the end of the first `units` UTF-16 code units, or `None` if the string is shorter or the end would be within a character.
pub(crate) fn end_of_units(text: &str, units: usize) -> Option<usize> {
    if text.as_bytes().get(..units)?.is_ascii() {
        return Some(units);
    }
    let mut left = units;
    for (at, character) in text.char_indices() {
        if left == 0 {
            return Some(at);
        }
        left = left.checked_sub(character.len_utf16())?;
    }
    (left == 0).then_some(text.len())
}

/// Returns the start of the last `units` UTF-16 code units, or `None` if the string is shorter or the start would be within a character.
pub(crate) fn start_of_units(text: &str, units: usize) -> Option<usize> {
    let mut left = units;
    for (at, character) in text.char_indices().rev() {
        if left == 0 {
            return Some(at + character.len_utf8());
        }
        left = left.checked_sub(character.len_utf16())?;
    }
    (left == 0).then_some(0)
}

/// Returns the first character of the leading literals, or `None` if the pieces do not start with a literal.
pub(crate) fn first_character<P>(pieces: &[P], piece: impl Fn(&P) -> Piece) -> Option<char> {
    let literals = pieces.iter().map_while(|it| literal(piece(it)));
    literals.flat_map(str::chars).next()
}

/// Returns the last character of the trailing literals, or `None` if the pieces do not end with a literal.
pub(crate) fn last_character<P>(pieces: &[P], piece: impl Fn(&P) -> Piece) -> Option<char> {
    let literals = pieces.iter().rev().map_while(|it| literal(piece(it)));
    literals.flat_map(|literal| literal.chars().rev()).next()
}

const fn literal(piece: Piece) -> Option<&'static str> {
    match piece {
        Piece::Literal(literal) => Some(literal),
        Piece::Part(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_counted_from_both_ends() {
        assert_eq!((end_of_units("ab", 2), start_of_units("ab", 2)), (Some(2), Some(0)));
        assert_eq!((end_of_units("ab", 3), start_of_units("ab", 3)), (None, None));
        assert_eq!((end_of_units("\u{1F600}a", 2), start_of_units("a\u{1F600}", 2)), (Some(4), Some(1)));
        assert_eq!((end_of_units("\u{1F600}a", 1), start_of_units("a\u{1F600}", 1)), (None, None));
        assert_eq!((end_of_units("é", 0), start_of_units("é", 0)), (Some(0), Some(2)));
    }
}
