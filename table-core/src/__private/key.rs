//! The pieces (literals and parts) of a key, as constants in macro expansions.

use crate::key::codec::KeyCodec;
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

/// Returns the piece of a key for a field that the codec writes.
#[must_use]
pub const fn key_field<C: KeyCodec<T>, T>(field: &'static str) -> KeyPiece {
    KeyPiece::Field { field, codec: C::NAME, form: C::FORM }
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
