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
        Self { forms: forms(&pieces), pieces }
    }
}

/// The pieces of a key without their names.
const fn forms<const N: usize>(pieces: &[KeyPiece; N]) -> [Piece; N] {
    let mut forms = [Piece::Literal(""); N];
    let mut at = 0;
    while at < N {
        forms[at] = pieces[at].piece();
        at += 1;
    }
    forms
}
