//! Sequential search for the properties of one row.

use crate::error::{Error, Result};
use crate::row::{Reader, RowView};
use crate::value::ValueRef;

/// For generated code. An error is kept and returned at the end: a `?` at each property costs the compiler more than a `let … else`.
#[derive(Debug)]
pub struct Search<'a> {
    pub(super) row: Reader<'a>,
    error: Option<Error>,
}

impl<'a> Search<'a> {
    /// Begins with the first property.
    #[inline]
    #[must_use]
    pub const fn new(row: RowView<'a>) -> Self {
        Self { row: Reader::new(row), error: None }
    }

    /// Says what shape the row has if it was written by the same program.
    #[inline]
    pub(crate) fn expect(&mut self, shape: &[u8]) {
        self.row.expect(shape);
    }

    /// The whole row.
    #[must_use]
    pub const fn view(&self) -> RowView<'a> {
        self.row.row()
    }

    /// Finds a property.
    ///
    /// # Errors
    /// `Corrupted` if the bytes are not a row.
    #[inline]
    pub fn find(&mut self, name: &str) -> Result<Option<ValueRef<'a>>> {
        self.row.row().find(name, &mut self.row.next)
    }

    /// The value, or `None` and the error kept.
    #[inline]
    pub fn keep<T>(&mut self, read: Result<T>) -> Option<T> {
        read.map_err(|error| self.error.get_or_insert(error)).ok()
    }

    /// The first error, if there was one.
    pub fn take_error(&mut self) -> Option<Error> {
        self.error.take()
    }

    /// Whether nothing was wrong so far.
    #[inline]
    #[must_use]
    pub const fn is_right(&self) -> bool {
        self.error.is_none()
    }
}
