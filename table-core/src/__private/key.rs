//! The pieces (literals and parts) of a key, as constants in macro expansions.

use crate::key::codec::Form;
use crate::key::codec::compound::Piece;
use crate::schema::KeyPiece;

/// The pieces of a key, with and without field and codec names.
#[derive(Debug)]
pub struct KeyOf<const N: usize> {
    /// The pieces with field and codec names, for the schema.
    pub pieces: [KeyPiece; N],
    /// The pieces without field and codec names, used to split keys and to check compound keys.
    pub forms: [Piece; N],
}

impl<const N: usize> KeyOf<N> {
    /// Creates a key from these pieces.
    #[must_use]
    pub const fn new(pieces: [KeyPiece; N]) -> Self {
        Self { forms: forms(&pieces), pieces }
    }
}

/// Returns the piece of a key for a field, given the name and the form of its codec.
#[must_use]
pub const fn key_field(field: &'static str, (codec, form): (&'static str, Form)) -> KeyPiece {
    KeyPiece::Field { field, codec, form }
}

/// Returns the pieces of a key without field and codec names.
const fn forms<const N: usize>(pieces: &[KeyPiece; N]) -> [Piece; N] {
    let mut forms = [Piece::Literal(""); N];
    let mut at = 0;
    while at < N {
        forms[at] = pieces[at].piece();
        at += 1;
    }
    forms
}
