//! A key: its pieces in order, each a literal or a field with the codec that writes it.

use syn::ext::IdentExt;
use syn::{Attribute, Ident, LitStr};

use crate::attr::piece::{PieceAttr, PieceList};
use crate::codec::Codec;
use crate::ctxt::Ctxt;
use crate::model::{Field, resolve};

/// A `PartitionKey` or a `RowKey`.
#[derive(Clone)]
pub(crate) struct Key {
    /// The attribute it is declared by.
    pub(crate) original: Attribute,
    /// The pieces in order.
    pub(crate) pieces: Vec<Piece>,
    /// Whether a piece was wrong, reported and left out.
    pub(crate) broken: bool,
    /// Whether the parts are levels, each with its end after it.
    pub(crate) levels: bool,
}

/// One piece.
#[derive(Clone)]
pub(crate) enum Piece {
    /// A text that is always there.
    Literal(LitStr),
    /// A field.
    Part(Part),
}

/// A field in a key.
#[derive(Clone)]
pub(crate) struct Part {
    /// The position of the field in the struct.
    pub(crate) field: usize,
    /// The name, where the key says it.
    pub(crate) name: Ident,
    /// How it is written.
    pub(crate) codec: Codec,
}

impl Part {
    /// The name of the function that gives partitions by this part, with a word after it: `partitions_by_minute`.
    pub(crate) fn partitions_method(&self, suffix: &str) -> String {
        format!("partitions_by_{}{suffix}", self.name.unraw())
    }
}

impl Key {
    /// Resolves the names of a key. Those that name no field are reported.
    pub(crate) fn read(ctxt: &Ctxt, fields: &[Field<'_>], original: &Attribute, list: &PieceList) -> Self {
        let mut broken = list.broken;
        let mut read = Vec::new();
        for piece in &list.pieces {
            match piece {
                PieceAttr::Literal(text) | PieceAttr::Meant(text) => read.push(Piece::Literal(text.clone())),
                PieceAttr::Part { field: name, codec } => match resolve(ctxt, fields, name) {
                    Some(field) => {
                        let own = fields.get(field).and_then(|field| field.attrs.codec.as_ref());
                        let codec = codec.or_own(own.map(|(_, codec)| codec));
                        read.push(Piece::Part(Part { field, name: name.clone(), codec }));
                    }
                    None => broken = true,
                },
            }
        }
        Self { original: original.clone(), pieces: read, broken, levels: false }
    }

    /// The fields in the key, in order.
    pub(crate) fn parts(&self) -> impl Iterator<Item = &Part> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Literal(_) => None,
            Piece::Part(part) => Some(part),
        })
    }

    /// The parts that a function asks for in turn, with their places: each field once, without buckets.
    pub(crate) fn ranged(&self) -> impl Iterator<Item = (usize, &Part)> {
        let mut seen = Vec::new();
        self.pieces.iter().enumerate().filter_map(move |(at, piece)| {
            let Piece::Part(part) = piece else { return None };
            let is_asked = !part.codec.is_bucket() && !seen.contains(&part.field);
            seen.extend(is_asked.then_some(part.field));
            is_asked.then_some((at, part))
        })
    }

    /// What stands before a piece.
    pub(crate) fn before(&self, piece: usize) -> Self {
        Self { pieces: self.pieces.iter().take(piece).cloned().collect(), ..self.clone() }
    }

    /// Whether the value of a field can be read back from the key.
    pub(crate) fn gives(&self, field: usize) -> bool {
        self.parts().any(|part| part.field == field && part.codec.gives_back())
    }

    /// The text that always stands from a place up to the next part or the end; it may be empty.
    pub(crate) fn literal_from(&self, piece: usize) -> String {
        let literals = self.pieces.iter().skip(piece).map_while(|piece| match piece {
            Piece::Literal(text) => Some(text.value()),
            Piece::Part(_) => None,
        });
        literals.collect()
    }
}
