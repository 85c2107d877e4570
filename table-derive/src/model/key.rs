//! Keys: sequences of pieces, each a literal or a field with its codec.

use std::rc::Rc;

use syn::ext::IdentExt;
use syn::{Attribute, Ident, LitStr};

use crate::attr::piece::{PieceAttr, PieceList};
use crate::codec::Codec;
use crate::ctxt::Ctxt;
use crate::model::{Field, nearest, resolve};

/// A `PartitionKey` or a `RowKey`.
#[derive(Clone)]
pub(crate) struct Key {
    /// The attribute that declares the key.
    pub(crate) original: Attribute,
    /// The pieces, in key order.
    pub(crate) pieces: Vec<Piece>,
    /// `true` if an error has been reported for at least one piece.
    pub(crate) broken: bool,
    /// The number of invalid pieces whose intended field could not be guessed.
    pub(crate) placeholders: usize,
    /// `true` if the parts are levels. A terminator follows each level.
    pub(crate) levels: bool,
    /// `true` if the key is not decoded, because different values can have the same text. The fields are stored as properties instead.
    pub(crate) unread: bool,
}

/// A piece of a key.
#[derive(Clone)]
pub(crate) enum Piece {
    /// A constant string in the key.
    Literal(LitStr),
    /// A field encoded in the key.
    Part(Part),
}

/// A field in a key, and its codec.
#[derive(Clone)]
pub(crate) struct Part {
    /// The index of the field in the struct.
    pub(crate) field: usize,
    /// The field's name, with its span in the key attribute.
    pub(crate) name: Ident,
    /// The codec. All clones of a part share this `Rc`, which identifies the part.
    pub(crate) codec: Rc<Codec>,
}

impl Part {
    /// Returns the name of the function that selects partitions by this part, such as `partitions_by_minute`.
    pub(crate) fn partitions_method(&self, suffix: &str) -> String {
        format!("partitions_by_{}{suffix}", self.name.unraw())
    }
}

impl Key {
    /// Resolves the field names in a key. Reports an unknown name and replaces it with the most similar field name.
    pub(crate) fn read(ctxt: &Ctxt, fields: &[Field<'_>], original: &Attribute, list: &PieceList) -> Self {
        let mut key = Self {
            original: original.clone(),
            pieces: Vec::new(),
            broken: list.broken || list.pieces.is_empty(),
            placeholders: 0,
            levels: false,
            unread: false,
        };
        let is_named = |at: usize| {
            let names = list.pieces.iter().filter_map(|piece| match piece {
                PieceAttr::Part { field, .. } => Some(field),
                _ => None,
            });
            fields.get(at).is_some_and(|field| names.into_iter().any(|name| name == field.ident))
        };
        for piece in &list.pieces {
            match piece {
                PieceAttr::Literal(text) | PieceAttr::Meant(text) => {
                    key.pieces.push(Piece::Literal(text.clone()));
                }
                PieceAttr::Part { field: name, codec } => {
                    match resolve(ctxt, fields, name, key.last().as_ref()) {
                        Some(field) => {
                            let own = fields.get(field).and_then(|field| field.attrs.codec.as_ref());
                            let codec = codec.or_own(own.map(|(_, codec)| codec));
                            key.pieces.push(Piece::Part(Part {
                                field,
                                name: name.clone(),
                                codec: Rc::new(codec),
                            }));
                        }
                        None => {
                            key.add_placeholder(fields, nearest(fields, name).filter(|at| !is_named(*at)));
                        }
                    }
                }
                PieceAttr::Wrong(names) => {
                    let suggested =
                        names.iter().find_map(|name| fields.iter().position(|field| field.ident == name));
                    key.add_placeholder(fields, suggested.filter(|at| !is_named(*at)));
                }
            }
        }
        key
    }

    /// Returns the field of the last piece.
    fn last(&self) -> Option<Ident> {
        self.parts().last().map(|part| part.name.clone())
    }

    /// Creates a placeholder for a missing key, which has already been reported.
    pub(crate) fn placeholder(original: &Attribute) -> Self {
        Self {
            original: original.clone(),
            pieces: Vec::new(),
            broken: true,
            placeholders: 1,
            levels: false,
            unread: false,
        }
    }

    /// Adds a placeholder for an invalid piece, so functions can still be generated. The placeholder is the intended field if it can be guessed.
    fn add_placeholder(&mut self, fields: &[Field<'_>], suggested: Option<usize>) {
        self.broken = true;
        let suggested = suggested.filter(|suggested| self.parts().all(|part| part.field != *suggested));
        match suggested.and_then(|at| Some((at, fields.get(at)?))) {
            Some((at, field)) => {
                let part = Part { field: at, name: field.ident.clone(), codec: Rc::new(Codec::Natural) };
                self.pieces.push(Piece::Part(part));
            }
            None => self.placeholders += 1,
        }
    }

    /// Returns the fields in the key, in order.
    pub(crate) fn parts(&self) -> impl Iterator<Item = &Part> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Literal(_) => None,
            Piece::Part(part) => Some(part),
        })
    }

    /// Returns the parts by which generated functions can narrow a selection, each with its position. Each field occurs once, and buckets are omitted.
    pub(crate) fn ranged(&self) -> impl Iterator<Item = (usize, &Part)> {
        let mut seen = Vec::new();
        self.pieces.iter().enumerate().filter_map(move |(at, piece)| {
            let Piece::Part(part) = piece else { return None };
            let is_asked = !part.codec.is_bucket() && !seen.contains(&part.field);
            seen.extend(is_asked.then_some(part.field));
            is_asked.then_some((at, part))
        })
    }

    /// Returns the start of the key, up to but not including the given piece.
    pub(crate) fn before(&self, piece: usize) -> Self {
        Self { pieces: self.pieces.iter().take(piece).cloned().collect(), ..self.clone() }
    }

    /// Returns `true` if the value of a field can be read from the key.
    pub(crate) fn can_decode(&self, field: usize) -> bool {
        !self.unread && self.parts().any(|part| part.field == field && part.codec.is_decodable())
    }

    /// Returns the constant text from the given piece to the next part or to the end of the key. The text may be empty.
    pub(crate) fn literal_from(&self, piece: usize) -> String {
        let literals = self.pieces.iter().skip(piece).map_while(|piece| match piece {
            Piece::Literal(text) => Some(text.value()),
            Piece::Part(_) => None,
        });
        literals.collect()
    }
}

/// Returns the first character that a key cannot contain: `/`, `\`, `#`, `?` or a control character (KEY-3).
pub(crate) fn illegal(text: &str) -> Option<char> {
    let is_illegal =
        |c: &char| matches!(c, '/' | '\\' | '#' | '?' | '\u{0}'..='\u{1F}' | '\u{7F}'..='\u{9F}');
    text.chars().find(is_illegal)
}

/// The first character of keys reserved for patterns.
const RESERVED: char = '\u{FFFC}';

/// Returns `true` if a text starts with U+FFFC, the first character of keys reserved for patterns (PAT-EC-8).
pub(crate) fn is_reserved(text: &str) -> bool {
    text.starts_with(RESERVED)
}
