//! Pieces of a key as constants of an expansion.

use crate::key::codec::compound::Piece;
use crate::schema::KeyPiece;

/// A key's pieces, with and without their names.
#[derive(Debug)]
pub struct KeyOf<const N: usize> {
    /// The pieces as the schema describes them.
    pub pieces: [KeyPiece; N],
    /// The pieces as the splitter and the checks of compound keys use them.
    pub forms: [Piece; N],
}

impl<const N: usize> KeyOf<N> {
    /// Creates the key of these pieces.
    #[must_use]
    pub const fn new(pieces: [KeyPiece; N]) -> Self {
        Self { forms: forms(&pieces), pieces }
    }
}

/// Returns the pieces of a key without their names.
const fn forms<const N: usize>(pieces: &[KeyPiece; N]) -> [Piece; N] {
    let mut forms = [Piece::Literal(""); N];
    let mut at = 0;
    while at < N {
        forms[at] = pieces[at].piece();
        at += 1;
    }
    forms
}
