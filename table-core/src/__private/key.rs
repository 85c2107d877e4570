//! Pieces of a key as constants of an expansion.

use crate::key::codec::compound::Piece;
use crate::schema::KeyPiece;

/// A key, with the names of its pieces and without them.
#[derive(Debug)]
pub struct KeyOf<const N: usize> {
    /// For the schema.
    pub pieces: [KeyPiece; N],
    /// For the rules of compound keys and the splitter.
    pub forms: [Piece; N],
}

impl<const N: usize> KeyOf<N> {
    /// Of these pieces.
    #[must_use]
    pub const fn new(pieces: [KeyPiece; N]) -> Self {
        Self { forms: super::require::forms(&pieces), pieces }
    }
}
