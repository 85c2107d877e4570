//! Levels: hierarchical partition keys of two or three fields, without literals between them (HPK-2).

use std::rc::Rc;

use syn::LitStr;

use crate::codec::Codec;
use crate::model::key::{Key, Part, Piece};

/// The maximum number of levels in a partition key (HPK-2, HPK-42).
pub(crate) const MOST: usize = 3;

/// The terminator after every level, including the last. It prevents any level from being a prefix of another.
const END: &str = "!";

impl Key {
    /// If a partition key has several fields and no literals, converts its parts to levels, each with a terminator. Returns any other key unchanged.
    pub(crate) fn into_levels(mut self) -> Self {
        if self.pieces.len() < 2 || self.pieces.iter().any(|piece| matches!(piece, Piece::Literal(_))) {
            return self;
        }
        let pieces = self.pieces.into_iter().flat_map(|piece| {
            let Piece::Part(part) = piece else { return [Some(piece), None] };
            let end = LitStr::new(END, part.name.span());
            let codec = match *part.codec {
                Codec::Natural => Rc::new(Codec::Level),
                _ => part.codec,
            };
            [Some(Piece::Part(Part { codec, ..part })), Some(Piece::Literal(end))]
        });
        self.pieces = pieces.flatten().collect();
        self.levels = true;
        self
    }

    /// Returns the first field of a partition key, if it is the first level or the only field.
    pub(crate) fn first_level(&self) -> Option<&Part> {
        match self.pieces.as_slice() {
            [Piece::Part(only)] => Some(only),
            [Piece::Part(first), ..] if self.levels => Some(first),
            _ => None,
        }
    }
}
