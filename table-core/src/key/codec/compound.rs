//! Compound keys are sequences of literals and parts, which are checked at compile time. A part is the encoding of a field.
//!
//! A key is injective (K2) if its pieces can be separated.
//! - When a key is read from the left, the end of a part is known if its width is fixed, or if the following literal starts with a character that the part
//!   cannot contain.
//! - When a key is read from the right, the start of a part is known if its width is fixed, or if the preceding literal ends with a character that the part
//!   cannot contain.
//! - One part may be the remainder, which is the text between the pieces read from the left and those read from the right. An example is a string before a
//!   six-digit id or before a suffix.
//!
//! A key is ordered (K3) if, in addition, its parts are ordered and no value sorts after a longer value that starts with it. Both properties are computed at
//! compile time from the [`Form`]s alone.
//!
//! ```
//! use table_core::key::codec::compound::{self, Fault, Piece};
//! use table_core::key::codec::{Digits, Form, KeyCodec, Text, Without};
//!
//! const ID: Form = <Digits<6> as KeyCodec<u32>>::FORM;
//! const YEAR: Form = <Digits<4> as KeyCodec<u16>>::FORM;
//! const REVIEW: &[Piece] = &[Piece::Literal("empid_"), Piece::Part(ID), Piece::Literal("_"), Piece::Part(YEAR)];
//! const _: () = assert!(compound::fault(REVIEW).is_none() && compound::tuple_ordered(REVIEW)); // PAT-CK
//!
//! // Raw text may contain the separator: ("a_b", "c") and ("a", "b_c") would have the same key.
//! const TEXT: Piece = Piece::Part(<Text as KeyCodec<String>>::FORM);
//! assert_eq!(compound::fault(&[TEXT, Piece::Literal("_"), TEXT]), Some(Fault::Ambiguous { part: 0 }));
//!
//! // A text before an id of fixed width ends where the id begins. However, no key range contains exactly the keys with one text.
//! assert!(compound::fault(&[TEXT, Piece::Literal("_"), Piece::Part(ID)]).is_none());
//! assert!(!compound::is_self_delimiting(&[TEXT, Piece::Literal("_"), Piece::Part(ID)], 0));
//!
//! // If the text cannot contain the separator, the keys are distinct. However, "AB_" sorts before "A_", so the part does not support ranges.
//! const NAME: Piece = Piece::Part(<Without<'_'> as KeyCodec<String>>::FORM);
//! const NAMES: &[Piece] = &[NAME, Piece::Literal("_"), Piece::Part(ID)];
//! assert!(compound::fault(NAMES).is_none() && !compound::keeps_order(NAMES, 0));
//! ```

mod reading;
mod splitter;
#[cfg(test)]
mod tests;

pub(crate) use reading::{end_of_units, first_character, last_character, start_of_units};
pub use splitter::Splitter;

use crate::key::codec::Form;
use crate::key::{order, text};
use crate::limits;

/// One piece of a compound key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece {
    /// A constant string between the parts of a key.
    Literal(&'static str),
    /// An encoded value, described by the form of its codec's output.
    Part(Form),
}

/// An error in the pieces of a key, such as an ambiguous part. Indexes start at 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The key has no pieces. An always-empty key is the literal `""` (KEY-2).
    Empty,
    /// A literal contains a character illegal in keys (KEY-3).
    IllegalLiteral {
        /// The index of the literal among the pieces.
        piece: usize,
    },
    /// A part of variable width is followed by a piece that it could contain, so its end cannot be found from the left. Its end cannot be found from the right
    /// either, because the start of a later part is unknown. Two different combinations of values could have the same key.
    Ambiguous {
        /// The index of the part among the pieces.
        part: usize,
    },
    /// The longest possible key has more than 512 UTF-16 code units (KEY-7).
    TooLong {
        /// The length of the longest key in UTF-16 code units.
        units: usize,
    },
}

impl Fault {
    /// Returns the text of the compile error. It states the mistake and how to correct it.
    #[must_use]
    pub const fn message(self) -> &'static str {
        match self {
            Self::Empty => "a key needs at least one piece: a literal or a field",
            Self::IllegalLiteral { .. } => {
                "this literal contains one of `/ \\ # ?` or a control character, which keys cannot contain (KEY-3); use another one"
            }
            Self::Ambiguous { .. } => {
                "this part has no fixed width and could contain the text after it, so two different values would have one key \
                 (PAT-CK-2); put it last, or declare it `without('_')` followed by a literal \
                 that starts with '_', or `escaped` followed by \"!\""
            }
            Self::TooLong { .. } => {
                "the longest key of these pieces has more than 512 UTF-16 code units (KEY-7); use shorter literals or fewer parts"
            }
        }
    }
}

/// Returns the reason these pieces do not form a valid key, or `None` if they do. In a valid key, all characters are legal, and different values have different
/// keys (K2).
///
/// A part that can fill a whole key, such as raw text of up to 512 code units, counts only with its minimum width in the length check. The other parts share
/// the available length. If a key is too long, creating it fails at run time (KEY-7).
#[must_use]
pub const fn fault(pieces: &[Piece]) -> Option<Fault> {
    if pieces.is_empty() {
        return Some(Fault::Empty);
    }
    // A single loop with few calls, because each call in a constant increases the compile time.
    let (mut units, mut at) = (0usize, 0);
    while at < pieces.len() {
        units = units.saturating_add(match pieces[at] {
            Piece::Literal(literal) => match text::legal_units(literal) {
                Some(units) => units,
                None => return Some(Fault::IllegalLiteral { piece: at }),
            },
            Piece::Part(form) => {
                if form.min != form.max && !is_self_delimiting(pieces, at) && !is_rest(pieces, at) {
                    return Some(Fault::Ambiguous { part: at });
                }
                width(form)
            }
        });
        at += 1;
    }
    if units > limits::KEY_UNITS_PORTABLE { Some(Fault::TooLong { units }) } else { None }
}

/// Returns `true` if a part is self-delimiting. Every key that starts with a value's encoding and the following piece then contains exactly that value, so the
/// part can be selected without the parts after it.
///
/// `part` is the part's index among the pieces. For a literal, the result is `true`.
#[must_use]
pub const fn is_self_delimiting(pieces: &[Piece], part: usize) -> bool {
    if part >= pieces.len() {
        return true;
    }
    match pieces[part] {
        Piece::Part(form) if !form.is_fixed() => match next(pieces, part) {
            Next::Nothing => true,
            Next::Literal(first) => !form.alphabet.contains(first),
            Next::Part => false,
        },
        _ => true,
    }
}

/// Returns `true` if a part is the remainder of the key, which is the text left when all pieces after it have been read from the right.
const fn is_rest(pieces: &[Piece], part: usize) -> bool {
    let mut at = part + 1;
    while at < pieces.len() {
        if let Piece::Part(form) = pieces[at]
            && !form.is_fixed()
            && !is_told_from_right(pieces, at, form)
        {
            return false;
        }
        at += 1;
    }
    true
}

/// Returns `true` if the preceding literal ends with a character the part cannot contain.
const fn is_told_from_right(pieces: &[Piece], part: usize, form: Form) -> bool {
    let mut at = part;
    while at > 0 {
        at -= 1;
        match pieces[at] {
            Piece::Literal(literal) => match literal.as_bytes() {
                [] => {}
                [.., last] if last.is_ascii() => return !form.alphabet.contains(*last as char),
                _ => return !form.alphabet.contains(char::MAX),
            },
            Piece::Part(_) => return false,
        }
    }
    false
}

/// Returns `true` if keys with equal values before this part sort by this part's values, regardless of the following pieces (K3). Only such a part supports
/// ranges.
///
/// `part` is the part's index among the pieces. For a literal, the result is `false`.
#[must_use]
pub const fn keeps_order(pieces: &[Piece], part: usize) -> bool {
    if part >= pieces.len() {
        return false;
    }
    match pieces[part] {
        Piece::Part(form) => {
            form.ordered
                && (form.is_fixed()
                    || match next(pieces, part) {
                        Next::Nothing => true,
                        Next::Literal(first) => form.alphabet.all_after(first),
                        Next::Part => false,
                    })
        }
        Piece::Literal(_) => false,
    }
}

/// Returns `true` if keys sort like the tuples of their values (PAT-CK-4).
#[must_use]
pub const fn tuple_ordered(pieces: &[Piece]) -> bool {
    let mut at = 0;
    while at < pieces.len() {
        if matches!(pieces[at], Piece::Part(_)) && !keeps_order(pieces, at) {
            return false;
        }
        at += 1;
    }
    true
}

/// Returns the length of the shortest possible key, in UTF-16 code units.
#[must_use]
pub(crate) const fn shortest(pieces: &[Piece]) -> usize {
    let (mut units, mut at) = (0, 0);
    while at < pieces.len() {
        units += match pieces[at] {
            Piece::Literal(literal) => order::units(literal),
            Piece::Part(form) => form.min,
        };
        at += 1;
    }
    units
}

/// Returns the length of the longest possible key, in UTF-16 code units. If a part has no maximum width, the result is at least 512.
#[must_use]
pub const fn longest(pieces: &[Piece]) -> usize {
    let (mut units, mut is_limited, mut at) = (0usize, true, 0);
    while at < pieces.len() {
        units = units.saturating_add(match pieces[at] {
            Piece::Literal(literal) => order::units(literal),
            Piece::Part(form) => {
                is_limited &= !fills_a_key(form);
                width(form)
            }
        });
        at += 1;
    }
    if !is_limited && units < limits::KEY_UNITS_PORTABLE { limits::KEY_UNITS_PORTABLE } else { units }
}

const fn fills_a_key(form: Form) -> bool {
    form.max >= limits::KEY_UNITS_PORTABLE && form.min != form.max
}

/// Returns the maximum width of a part, or its minimum width if the maximum is unlimited.
const fn width(form: Form) -> usize {
    if fills_a_key(form) { form.min } else { form.max }
}

/// The piece that follows a part.
enum Next {
    Nothing,
    /// A literal that begins with this character.
    Literal(char),
    Part,
}

const fn next(pieces: &[Piece], after: usize) -> Next {
    let mut at = after + 1;
    while at < pieces.len() {
        match pieces[at] {
            Piece::Literal(literal) => match literal.as_bytes() {
                [] => {}
                [first, ..] if first.is_ascii() => return Next::Literal(*first as char),
                // An alphabet contains either all non-ASCII characters or none, so any non-ASCII character can represent this one.
                _ => return Next::Literal(char::MAX),
            },
            Piece::Part(_) => return Next::Part,
        }
        at += 1;
    }
    Next::Nothing
}
