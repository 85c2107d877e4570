//! Compares key layouts, to decide whether one key can match two layouts (PAT-HET-1).

mod fits;

pub use fits::fits;

use crate::key::codec::compound::Piece;
use crate::key::codec::{Alphabet, Form};
use crate::key::order;
use crate::schema::KeyPiece;

/// Returns `true` if it can be proven that no string [matches](fits) both layouts. `false` means that no proof was found.
///
/// A proof is one of these differences:
/// - different literals at the start;
/// - different lengths;
/// - a character that one layout requires and the other excludes;
/// - disjoint sets of characters at the same distance from the start or the end.
///
/// ```
/// use table_core::{Entity, schema::disjoint};
///
/// #[derive(Entity)]
/// #[partition_key(department)]
/// #[row_key("empid_", id)]
/// struct Employee { department: String, #[digits(6)] id: u32 }
/// #[derive(Entity)]
/// #[partition_key(department)]
/// #[row_key("empid_", employee, "_", year)]
/// struct Review { department: String, #[digits(6)] employee: u32, #[digits(4)] year: u16 }
///
/// const _: () = assert!(disjoint(Employee::SCHEMA.row_key, Review::SCHEMA.row_key)); // PAT-CK
/// const _: () = assert!(!disjoint(Review::SCHEMA.row_key, Review::SCHEMA.row_key));
/// ```
#[must_use]
pub const fn disjoint(a: &[KeyPiece], b: &[KeyPiece]) -> bool {
    literals_differ(a, b)
        || rests_are_disjoint(a, b)
        || shortest(a) > longest(b)
        || shortest(b) > longest(a)
        || lacks(a, b)
        || lacks(b, a)
        || places_differ(a, b, false)
        || places_differ(a, b, true)
}

/// Returns `true` if the first `count` pieces are equal. They must have the same literals, and fields with the same codecs.
#[must_use]
pub const fn same(a: &[KeyPiece], b: &[KeyPiece], count: usize) -> bool {
    if a.len() < count || b.len() < count {
        return false;
    }
    let mut at = 0;
    while at < count {
        let is_same = match (&a[at], &b[at]) {
            (KeyPiece::Literal(a), KeyPiece::Literal(b)) => is_same_text(a, b),
            (
                KeyPiece::Field { codec: a, form: a_form, .. },
                KeyPiece::Field { codec: b, form: b_form, .. },
            ) => is_same_text(a, b) && a_form.min == b_form.min && a_form.max == b_form.max,
            _ => false,
        };
        if !is_same {
            return false;
        }
        at += 1;
    }
    true
}

/// Returns `true` if every key of `layout` starts with a key of `begin` that contains the same values (PAT-CK). For example, `empid_000123_2012` starts with
/// `empid_000123`.
///
/// In this case, a string that starts with a key of `begin` contains exactly that key's values. Each part of `begin` is self-delimiting, and the last piece has
/// a fixed width.
#[must_use]
pub const fn begins(begin: &[KeyPiece], layout: &[KeyPiece]) -> bool {
    let [before @ .., last] = begin else { return false };
    if !same(begin, layout, before.len()) || layout.len() < begin.len() || !end_themselves(begin) {
        return false;
    }
    match (last, &layout[before.len()]) {
        (KeyPiece::Literal(last), KeyPiece::Literal(literal)) => {
            is_prefix(last.as_bytes(), literal.as_bytes())
        }
        (KeyPiece::Field { form, .. }, _) => form.is_fixed() && same(begin, layout, begin.len()),
        (KeyPiece::Literal(_), KeyPiece::Field { .. }) => false,
    }
}

/// Returns `true` if the end of every part except the last can be found from the left. Each of these parts must have a fixed width, or be followed by a
/// character that it cannot contain.
const fn end_themselves(pieces: &[KeyPiece]) -> bool {
    let mut at = 0;
    while at + 1 < pieces.len() {
        if let KeyPiece::Field { form, .. } = pieces[at]
            && !form.is_fixed()
        {
            let is_ended = match pieces[at + 1] {
                KeyPiece::Literal(literal) => match literal.as_bytes() {
                    [first, ..] if first.is_ascii() => !form.alphabet.contains(*first as char),
                    _ => false,
                },
                KeyPiece::Field { .. } => false,
            };
            if !is_ended {
                return false;
            }
        }
        at += 1;
    }
    true
}

/// Returns `true` if two strings are equal. Unlike `==`, this function can be called in constants.
#[must_use]
pub const fn is_same_text(a: &str, b: &str) -> bool {
    a.len() == b.len() && is_prefix(a.as_bytes(), b.as_bytes())
}

const fn is_prefix(prefix: &[u8], text: &[u8]) -> bool {
    let mut at = 0;
    while at < prefix.len() {
        if at >= text.len() || prefix[at] != text[at] {
            return false;
        }
        at += 1;
    }
    true
}

/// Returns `true` if both layouts start with literals, and neither literal is a prefix of the other.
const fn literals_differ(a: &[KeyPiece], b: &[KeyPiece]) -> bool {
    let ([KeyPiece::Literal(a), ..], [KeyPiece::Literal(b), ..]) = (a, b) else { return false };
    !is_prefix(a.as_bytes(), b.as_bytes()) && !is_prefix(b.as_bytes(), a.as_bytes())
}

/// Returns `true` if the first pieces of both layouts end at the same position and the remaining pieces are disjoint.
const fn rests_are_disjoint(a: &[KeyPiece], b: &[KeyPiece]) -> bool {
    let ([first, a @ ..], [other, b @ ..]) = (a, b) else { return false };
    let ends_alike = match (first.piece(), other.piece()) {
        (Piece::Literal(first), Piece::Literal(other)) => is_same_text(first, other),
        (Piece::Part(first), Piece::Part(other)) => {
            (first.is_fixed() && other.is_fixed() && first.max == other.max)
                || match (delimiter(first, a), delimiter(other, b)) {
                    (Some(first), Some(other)) => first == other,
                    _ => false,
                }
        }
        _ => false,
    };
    ends_alike && disjoint(a, b)
}

/// Returns the ASCII character that marks the end of a part of variable width. This is the character after the part, if the part cannot contain it.
const fn delimiter(form: Form, after: &[KeyPiece]) -> Option<u8> {
    let [KeyPiece::Literal(literal), ..] = after else { return None };
    match literal.as_bytes() {
        [first, ..] if first.is_ascii() && !form.is_fixed() && !form.alphabet.contains(*first as char) => {
            Some(*first)
        }
        _ => None,
    }
}

/// Returns the length of the shortest matching string, in code units.
const fn shortest(pieces: &[KeyPiece]) -> usize {
    let (mut units, mut at) = (0usize, 0);
    while at < pieces.len() {
        units = units.saturating_add(match pieces[at].piece() {
            Piece::Literal(literal) => order::units(literal),
            Piece::Part(form) => form.min,
        });
        at += 1;
    }
    units
}

/// Returns the length of the longest matching string, in code units. Unlike a key, such a string may exceed the limits of stores.
const fn longest(pieces: &[KeyPiece]) -> usize {
    let (mut units, mut at) = (0usize, 0);
    while at < pieces.len() {
        units = units.saturating_add(match pieces[at].piece() {
            Piece::Literal(literal) => order::units(literal),
            Piece::Part(form) => form.max,
        });
        at += 1;
    }
    units
}

/// Returns `true` if every string that matches `a` contains a character excluded by `b`.
const fn lacks(a: &[KeyPiece], b: &[KeyPiece]) -> bool {
    let (mut all, mut at) = (Alphabet::EMPTY, 0);
    while at < b.len() {
        all = all.union(match b[at].piece() {
            Piece::Literal(literal) => Alphabet::of(literal),
            Piece::Part(form) => form.alphabet,
        });
        at += 1;
    }
    at = 0;
    while at < a.len() {
        let is_lacking = match a[at].piece() {
            Piece::Literal(literal) => !Alphabet::of(literal).is_within(all),
            Piece::Part(form) => form.min > 0 && form.alphabet.is_disjoint(all),
        };
        if is_lacking {
            return true;
        }
        at += 1;
    }
    false
}

/// Compares the possible characters at each distance from the start, or from the end if `from_end` is `true`. Returns `true` if the characters are disjoint at
/// some distance, or if only one layout has a character there.
const fn places_differ(a: &[KeyPiece], b: &[KeyPiece], from_end: bool) -> bool {
    let mut at = 0;
    loop {
        match (place(a, at, from_end), place(b, at, from_end)) {
            (Place::Of(a), Place::Of(b)) if a.is_disjoint(b) => return true,
            (Place::Of(_), Place::Of(_)) => {}
            (Place::Of(_), Place::Nothing) | (Place::Nothing, Place::Of(_)) => return true,
            (Place::Unknown, _) | (_, Place::Unknown) | (Place::Nothing, Place::Nothing) => return false,
        }
        at += 1;
    }
}

/// The possible characters at a given distance (in code units) from one end of a matching string.
enum Place {
    /// One of the characters in this set.
    Of(Alphabet),
    /// No character: all matching strings end before this position.
    Nothing,
    /// An unknown character: a part of variable width precedes this position.
    Unknown,
}

const fn place(pieces: &[KeyPiece], units: usize, from_end: bool) -> Place {
    let (mut left, mut at) = (units, 0);
    while at < pieces.len() {
        let piece = if from_end { &pieces[pieces.len() - 1 - at] } else { &pieces[at] };
        match piece.piece() {
            Piece::Literal(literal) => {
                let width = order::units(literal);
                if left < width {
                    return Place::Of(unit(literal, if from_end { width - 1 - left } else { left }));
                }
                left -= width;
            }
            Piece::Part(form) => {
                if left < form.min {
                    return Place::Of(form.alphabet);
                }
                if !form.is_fixed() {
                    return Place::Unknown;
                }
                left -= form.min;
            }
        }
        at += 1;
    }
    Place::Nothing
}

/// Returns a set that contains only the character at UTF-16 offset `place` of a string. For a non-ASCII character, returns the set of all non-ASCII characters.
const fn unit(text: &str, place: usize) -> Alphabet {
    let bytes = text.as_bytes();
    let (mut units, mut at) = (0, 0);
    while at < bytes.len() {
        units += order::units_of(bytes[at]);
        if units > place {
            let character = if bytes[at].is_ascii() { bytes[at] as char } else { char::MAX };
            return Alphabet::EMPTY.with(character);
        }
        at += 1;
    }
    Alphabet::EMPTY
}

#[cfg(test)]
mod tests;
