//! A key: its pieces in order, each a literal or a field with the codec that writes it.

use syn::{Attribute, Ident, LitChar, LitInt, LitStr, Path};

use crate::attr::piece::{CodecAttr, PieceAttr, PieceList};
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

/// How a field is written.
#[derive(Clone)]
pub(crate) enum Codec {
    /// As the type's `KeyPart` says.
    Natural,
    /// As the type's `KeyPart` says, without the character that ends a level.
    Level,
    /// So many decimal digits.
    Digits(LitInt),
    /// Any text, escaped.
    Escaped,
    /// A text without this character.
    Without(LitChar),
    /// The hour of an instant.
    Hour,
    /// In reverse order.
    Desc(Box<Codec>),
    /// One of so many buckets.
    Bucket(Box<Codec>, LitInt),
    /// A codec of the user's.
    Custom(Path),
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
                        let codec = Codec::read(codec, own.map(|(_, codec)| codec));
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

impl Codec {
    /// `own` is what the field's attribute says, used where the key names no codec.
    pub(crate) fn read(written: &CodecAttr, own: Option<&CodecAttr>) -> Self {
        match written {
            CodecAttr::Natural => own.map_or(Self::Natural, |own| Self::read(own, None)),
            CodecAttr::Digits(digits) => Self::Digits(digits.clone()),
            CodecAttr::Escaped => Self::Escaped,
            CodecAttr::Without(separator) => Self::Without(separator.clone()),
            CodecAttr::Hour => Self::Hour,
            CodecAttr::Desc(inner) => Self::Desc(Box::new(Self::read(inner, own))),
            CodecAttr::Bucket(inner, buckets) => {
                Self::Bucket(Box::new(Self::read(inner, own)), buckets.clone())
            }
            CodecAttr::Custom(path) => Self::Custom(path.clone()),
        }
    }

    /// Whether the value can be read back from its text. A bucket says only a part of it.
    pub(crate) fn gives_back(&self) -> bool {
        !self.is_bucket()
    }

    /// Whether a codec of the user's writes the value.
    pub(crate) fn is_custom(&self) -> bool {
        match self {
            Self::Custom(_) => true,
            Self::Desc(inner) | Self::Bucket(inner, _) => inner.is_custom(),
            Self::Natural | Self::Level | Self::Digits(_) | Self::Escaped | Self::Without(_) | Self::Hour => {
                false
            }
        }
    }

    /// Whether it spreads values over buckets.
    pub(crate) fn is_bucket(&self) -> bool {
        matches!(self, Self::Bucket(..))
    }

    /// Whether it may be a codec of texts, so that prefixes can be asked for. The natural codec of a type and a codec of
    /// the user's may be: the compiler tells.
    pub(crate) fn may_be_text(&self) -> bool {
        matches!(self, Self::Natural | Self::Level | Self::Escaped | Self::Without(_) | Self::Custom(_))
    }
}
