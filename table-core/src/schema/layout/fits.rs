//! Tests whether a string matches the layout of a key.

use std::collections::VecDeque;

use crate::key::codec::Form;
use crate::key::codec::compound::{Piece, end_of_units, first_character, last_character, start_of_units};
use crate::key::order;
use crate::schema::KeyPiece;

/// Returns `true` if a string matches the layout of a key. It must contain the literals, and its parts must have the lengths and alphabets of the layout.
///
/// Every key with these pieces matches. This is true even if the pieces are ambiguous, which means that the string can be split into these parts in several
/// ways. A matching string does not necessarily encode a value; for example, a month may be 13.
///
/// ```
/// use table_core::{Entity, schema};
///
/// #[derive(Entity)]
/// #[partition_key(department)]
/// #[row_key("empid_", id)]
/// struct Employee { department: String, #[digits(6)] id: u32 }
///
/// assert!(schema::fits(Employee::SCHEMA.row_key, "empid_000123"));
/// assert!(!schema::fits(Employee::SCHEMA.row_key, "empid_000123_2012"));
/// ```
#[must_use]
pub fn fits(pieces: &[KeyPiece], text: &str) -> bool {
    let (mut pieces, mut rest) = (pieces, text);
    while let Some((piece, after)) = pieces.split_first() {
        let left = match piece.piece() {
            Piece::Literal(literal) => rest.strip_prefix(literal),
            Piece::Part(form) => {
                let end = if form.is_fixed() {
                    end_of_units(rest, form.max)
                } else {
                    match first_character(after, KeyPiece::piece) {
                        Some(first) if !form.alphabet.contains(first) => rest.find(first),
                        _ => return fits_from_right(pieces, rest),
                    }
                };
                let split = end.and_then(|end| rest.split_at_checked(end));
                split.filter(|(part, _)| is_of(form, part)).map(|(_, left)| left)
            }
        };
        let Some(left) = left else { return false };
        (pieces, rest) = (after, left);
    }
    rest.is_empty()
}

/// Returns `true` if a string matches these pieces. The end of the first part cannot be found from the left. The pieces are therefore read from the right, up
/// to a part whose start cannot be found either.
fn fits_from_right(pieces: &[KeyPiece], text: &str) -> bool {
    let (mut pieces, mut rest) = (pieces, text);
    while let [before @ .., last] = pieces {
        let start = match last.piece() {
            Piece::Part(form) if before.is_empty() => return is_of(form, rest),
            Piece::Literal(literal) => rest.strip_suffix(literal).map(str::len),
            Piece::Part(form) => {
                let start = if form.is_fixed() {
                    start_of_units(rest, form.max)
                } else {
                    match last_character(before, KeyPiece::piece) {
                        Some(last) if !form.alphabet.contains(last) => {
                            rest.rfind(last).map(|at| at + last.len_utf8())
                        }
                        _ => return can_be_split(pieces, rest),
                    }
                };
                start.filter(|start| rest.get(*start..).is_some_and(|part| is_of(form, part)))
            }
        };
        let Some(left) = start.and_then(|start| rest.get(..start)) else { return false };
        (pieces, rest) = (before, left);
    }
    rest.is_empty()
}

fn is_of(form: Form, part: &str) -> bool {
    (form.min..=form.max).contains(&order::units(part))
        && part.chars().all(|character| form.alphabet.contains(character))
}

/// Returns `true` if a string can be split into these pieces in at least one way.
///
/// The search tracks all possible start positions of the next piece. Its time is proportional to the length of the string times the number of pieces.
fn can_be_split(pieces: &[KeyPiece], text: &str) -> bool {
    let mut starts = vec![0];
    for piece in pieces {
        starts = match piece.piece() {
            Piece::Literal(literal) => {
                let begins = |start: &usize| text.get(*start..).is_some_and(|rest| rest.starts_with(literal));
                starts.into_iter().filter(begins).map(|start| start + literal.len()).collect()
            }
            Piece::Part(form) => ends(form, text, &starts),
        };
    }
    starts.last() == Some(&text.len())
}

/// Returns the possible end positions of a part that begins at one of `starts`. Both lists are in ascending order.
fn ends(form: Form, text: &str, starts: &[usize]) -> Vec<usize> {
    let mut starts = starts.iter().peekable();
    let (mut ends, mut too_near, mut latest) = (Vec::new(), VecDeque::new(), None);
    let (mut units, mut after_excluded) = (0, 0);
    let characters = text.char_indices().map(|(at, character)| (at, Some(character)));
    for (at, character) in characters.chain([(text.len(), None)]) {
        if starts.next_if_eq(&&at).is_some() {
            too_near.push_back((at, units));
        }
        // Only the latest start that is at least `form.min` code units before this position is tested. It leaves the shortest part, so if it fails, all earlier
        // starts fail too.
        while too_near.front().is_some_and(|(_, before): &(usize, usize)| units - before >= form.min) {
            latest = too_near.pop_front();
        }
        if latest.is_some_and(|(start, before)| start >= after_excluded && units - before <= form.max) {
            ends.push(at);
        }
        if let Some(character) = character {
            units += character.len_utf16();
            if !form.alphabet.contains(character) {
                after_excluded = at + character.len_utf8();
            }
        }
    }
    ends
}
