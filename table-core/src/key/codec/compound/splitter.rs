//! Splits a compound key into its encoded parts.

use table_store::{Error, Result};

use crate::key::codec::Form;
use crate::key::codec::compound::Piece;
use crate::key::codec::compound::reading::{end_of_part, first_character};
use crate::key::codec::fault::CodecFault;

/// A splitter that returns the encoded parts of a key one at a time, without copying.
///
/// The pieces must form a valid key, for which [`fault`](crate::key::codec::compound::fault) returns `None`.
///
/// A part of fixed width ends after that number of UTF-16 code units. Any other part ends before the next literal, if the part cannot contain the first
/// character of that literal. Otherwise, the part is the remainder, and all pieces after it are read from the right.
///
/// ```
/// use table_core::key::codec::compound::{Piece, Splitter};
/// use table_core::key::codec::{Digits, Form, KeyCodec};
///
/// const ID: Form = <Digits<6> as KeyCodec<u32>>::FORM;
/// const YEAR: Form = <Digits<4> as KeyCodec<u16>>::FORM;
/// const REVIEW: &[Piece] = &[Piece::Literal("empid_"), Piece::Part(ID), Piece::Literal("_"), Piece::Part(YEAR)];
///
/// let mut parts = Splitter::new(REVIEW, "empid_000123_2012"); // PAT-CK
/// assert_eq!((parts.next_part()?, parts.next_part()?), ("000123", "2012"));
/// parts.finish()?;
/// assert!(Splitter::new(REVIEW, "email_a").next_part().unwrap_err().to_string().contains("'empid_'"));
/// # Ok::<(), table_core::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Splitter<'a> {
    pieces: &'a [Piece],
    text: &'a str,
    rest: &'a str,
}

impl<'a> Splitter<'a> {
    /// Creates a splitter that starts with the first piece.
    #[must_use]
    pub const fn new(pieces: &'a [Piece], text: &'a str) -> Self {
        Self { pieces, text, rest: text }
    }

    /// Returns the next encoded part. Literals before the part are checked and skipped.
    ///
    /// # Errors
    /// `EntityMismatch` if the key lacks an expected piece, or if no part remains.
    #[inline]
    pub fn next_part(&mut self) -> Result<&'a str> {
        let Some((Piece::Part(form), after)) = self.literals().and_then(|()| self.pieces.split_first())
        else {
            return Err(self.unexpected("another part"));
        };
        let end = end_of_part(*form, after, self.rest, |piece| *piece);
        let Some((part, rest)) = end.and_then(|end| self.rest.split_at_checked(end)) else {
            return Err(self.too_short(*form, after));
        };
        self.pieces = after;
        self.rest = rest;
        Ok(part)
    }

    /// Checks that the entire key and all pieces have been read.
    ///
    /// # Errors
    /// `EntityMismatch` if text follows the last piece, or if a piece has not been read.
    #[inline]
    pub fn finish(mut self) -> Result<()> {
        let is_over = self.literals().is_some() && self.pieces.is_empty() && self.rest.is_empty();
        if is_over {
            Ok(())
        } else {
            Err(self.unexpected(if self.pieces.is_empty() {
                "the end of the key"
            } else {
                "fewer parts to read"
            }))
        }
    }

    /// Skips the literals up to the next part. Returns `None` if a literal is missing.
    #[inline]
    fn literals(&mut self) -> Option<()> {
        while let Some((Piece::Literal(literal), after)) = self.pieces.split_first() {
            self.rest = self.rest.strip_prefix(literal)?;
            self.pieces = after;
        }
        Some(())
    }

    /// Returns the error for a key that does not match its pieces. The error names the next literal. If the next piece is not a literal, the error names
    /// `wanted`.
    #[cold]
    fn unexpected(&self, wanted: &str) -> Error {
        match self.pieces.first() {
            Some(Piece::Literal(literal)) => self.mismatch(format_args!("'{literal}'")),
            _ => self.mismatch(wanted),
        }
    }

    #[cold]
    fn too_short(&self, form: Form, after: &[Piece]) -> Error {
        if form.is_fixed() {
            self.mismatch(format_args!("a part of {} UTF-16 code units", form.max))
        } else {
            let literal = first_character(after, |piece| *piece).map(String::from).unwrap_or_default();
            self.mismatch(format_args!("a part followed by '{literal}'"))
        }
    }

    fn mismatch(&self, expected: impl std::fmt::Display) -> Error {
        let found = match self.text.strip_suffix(self.rest).unwrap_or_default() {
            "" => format!("'{}' at its start", self.rest),
            before if self.rest.is_empty() => format!("its end after '{before}'"),
            before => format!("'{}' after '{before}'", self.rest),
        };
        Error::of(CodecFault::Pieces { key: self.text.to_owned(), found, expected: expected.to_string() })
    }
}
