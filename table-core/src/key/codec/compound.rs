//! Compound keys: literals and parts in sequence, checked while compiling.
//!
//! A key is injective (K2) if its pieces can be distinguished. From the left a part ends where its width says, or at a literal whose
//! first character it cannot hold; from the right it begins where its width says, or after a literal whose last character it cannot
//! hold. One part may take what both sides leave: text before an id of six digits, or before a suffix. A key keeps its order (K3)
//! if, beside that, no value that is the beginning of another one can come after it. Both are judged in constants, from the
//! [`Form`]s alone.
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
//! // Raw text may hold the separator: ("a_b", "c") and ("a", "b_c") would have one key.
//! const TEXT: Piece = Piece::Part(<Text as KeyCodec<String>>::FORM);
//! assert_eq!(compound::fault(&[TEXT, Piece::Literal("_"), TEXT]), Some(Fault::Ambiguous { part: 0 }));
//!
//! // Before an id of fixed width it is read from the right; but `is_told` says that no range of keys is those of one text.
//! assert!(compound::fault(&[TEXT, Piece::Literal("_"), Piece::Part(ID)]).is_none());
//! assert!(!compound::is_told(&[TEXT, Piece::Literal("_"), Piece::Part(ID)], 0));
//!
//! // Without the separator they are distinct; but "ab_" sorts before "a_", and so no range is offered.
//! const NAME: Piece = Piece::Part(<Without<'_'> as KeyCodec<String>>::FORM);
//! const NAMES: &[Piece] = &[NAME, Piece::Literal("_"), Piece::Part(ID)];
//! assert!(compound::fault(NAMES).is_none() && !compound::keeps_order(NAMES, 0));
//! ```

mod reading;
mod splitter;
#[cfg(test)]
mod tests;

pub(crate) use reading::end_of_part;
pub use splitter::Splitter;

use crate::key::codec::Form;
use crate::key::{order, text};
use crate::limits;

/// One piece of a compound key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece {
    /// A text that is always there.
    Literal(&'static str),
    /// A value in the form of its codec.
    Part(Form),
}

/// Why pieces make no key. Places are counted among the pieces, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// There are no pieces. A key that is always empty is the literal `""` (KEY-2).
    Empty,
    /// A literal holds a character that no key may hold (KEY-3).
    IllegalLiteral {
        /// The literal's place.
        piece: usize,
    },
    /// A part of variable width is beside something that it could hold itself, and so is one after it: two different values would
    /// have one key.
    Ambiguous {
        /// The part's place.
        part: usize,
    },
    /// The longest key is over 512 UTF-16 code units (KEY-7).
    TooLong {
        /// Its length.
        units: usize,
    },
}

impl Fault {
    /// The mistake and its remedy, for a message of the compiler.
    #[must_use]
    pub const fn message(self) -> &'static str {
        match self {
            Self::Empty => "a key has at least one piece: a literal or a field",
            Self::IllegalLiteral { .. } => {
                "this literal holds one of `/ \\ # ?` or a control character, which no key may hold (KEY-3): take another one"
            }
            Self::Ambiguous { .. } => {
                "this part has no fixed width and can hold what comes after it, and the key cannot be read from its end, so that two \
                 different values would have one key (PAT-CK-2): put it last, or declare it `without('_')` with a literal after it \
                 that begins with '_', or `escaped` with \"!\" after it"
            }
            Self::TooLong { .. } => {
                "the longest key that these pieces make is over 512 UTF-16 code units (KEY-7): take shorter literals or fewer parts"
            }
        }
    }
}

/// Why these pieces make no key; `None` if they do: all keys are legal, and different values have different keys (K2).
///
/// Parts that by themselves may fill a key (raw text of up to 512 code units) count as their shortest text here: the rest of
/// the budget is theirs, and a key that goes over it in fact is refused when it is made (KEY-7).
#[must_use]
pub const fn fault(pieces: &[Piece]) -> Option<Fault> {
    if pieces.is_empty() {
        return Some(Fault::Empty);
    }
    let mut at = 0;
    while at < pieces.len() {
        match pieces[at] {
            Piece::Literal(literal) if !text::is_legal_text(literal) => {
                return Some(Fault::IllegalLiteral { piece: at });
            }
            Piece::Part(_) if !is_told(pieces, at) && !is_rest(pieces, at) => {
                return Some(Fault::Ambiguous { part: at });
            }
            _ => {}
        }
        at += 1;
    }
    let units = bounded(pieces);
    if units > limits::KEY_UNITS_PORTABLE { Some(Fault::TooLong { units }) } else { None }
}

/// Whether the text of this part ends where it says itself: then, and only then, the keys that begin with a value's text and what
/// comes after it are those of the value, and a value can be asked for without what follows. `part` is its place among the pieces;
/// `true` for a literal.
#[must_use]
pub const fn is_told(pieces: &[Piece], part: usize) -> bool {
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

/// Whether a part is what all others leave: each after it is read from the right.
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

/// Whether a literal stands before a part that ends in a character that the part cannot hold.
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

/// Whether keys with the same values before this part are ordered by its values, whatever comes after it (K3): then, and
/// only then, a range over it can be offered. `part` is its place among the pieces; `false` for a literal.
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

/// Whether keys are ordered as the tuples of their values are (PAT-CK-4).
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

/// The length of the shortest key, in UTF-16 code units.
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

/// The length of the longest key, in UTF-16 code units: 512 if a part may fill what the others leave.
#[must_use]
pub const fn longest(pieces: &[Piece]) -> usize {
    let units = bounded(pieces);
    let mut at = 0;
    while at < pieces.len() {
        if let Piece::Part(form) = pieces[at]
            && fills_a_key(form)
            && units < limits::KEY_UNITS_PORTABLE
        {
            return limits::KEY_UNITS_PORTABLE;
        }
        at += 1;
    }
    units
}

const fn fills_a_key(form: Form) -> bool {
    form.max >= limits::KEY_UNITS_PORTABLE && !form.is_fixed()
}

/// The length of the longest key, parts that may fill a key counted as their shortest text.
const fn bounded(pieces: &[Piece]) -> usize {
    let (mut units, mut at) = (0usize, 0);
    while at < pieces.len() {
        units = units.saturating_add(match pieces[at] {
            Piece::Literal(literal) => order::units(literal),
            Piece::Part(form) if fills_a_key(form) => form.min,
            Piece::Part(form) => form.max,
        });
        at += 1;
    }
    units
}

/// The neighbour after a piece.
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
                // Alphabets hold all that is beyond ASCII or none of it: any such character represents this one.
                _ => return Next::Literal(char::MAX),
            },
            Piece::Part(_) => return Next::Part,
        }
        at += 1;
    }
    Next::Nothing
}
