//! A sequential search for the properties of a row, for generated code.

use table_store::{Error, Result, ValueRef};

use crate::row::{RowReader, RowView};

/// The state of generated code that reads a row. The first error is stored here, and returned after the row has been read. If it were returned immediately,
/// each property would need a `?`, which compiles more slowly than a `let … else`.
#[derive(Debug)]
pub struct Search<'a> {
    pub(super) row: RowReader<'a>,
    error: Option<Error>,
}

impl<'a> Search<'a> {
    /// Creates a search that starts at the first property.
    #[inline]
    #[must_use]
    pub const fn new(row: RowView<'a>) -> Self {
        Self { row: RowReader::new(row), error: None }
    }

    /// Sets the expected shape (the encoded property names and types). Rows written by this program have this shape.
    #[inline]
    pub(crate) fn expect(&mut self, shape: &[u8]) {
        self.row.expect(shape);
    }

    /// Returns a view of the row being read.
    #[must_use]
    pub const fn view(&self) -> RowView<'a> {
        self.row.row()
    }

    /// Returns the value of a property, or `None` if the row lacks it.
    ///
    /// # Errors
    /// `Corrupted` if the bytes are not a row.
    #[inline]
    pub fn find(&mut self, name: &str) -> Result<Option<ValueRef<'a>>> {
        self.row.row().find(name, &mut self.row.next)
    }

    /// Returns the value in `read`. If `read` is an error, returns `None` and stores the error. An earlier error is not replaced.
    #[inline]
    pub fn keep<T>(&mut self, read: Result<T>) -> Option<T> {
        read.map_err(|error| self.error.get_or_insert(error)).ok()
    }

    /// Removes and returns the first error, or returns `None` if no error has been stored.
    pub fn take_error(&mut self) -> Option<Error> {
        self.error.take()
    }

    /// Returns `true` if no error has been stored.
    #[inline]
    #[must_use]
    pub const fn is_right(&self) -> bool {
        self.error.is_none()
    }
}
