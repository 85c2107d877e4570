//! Reads the values of one column of a row group one by one. Only a bounded part of the column is decoded at a time.

use std::fmt;

use parquet::column::reader::ColumnReader;
use table_core::Value;
use table_inspect::record::{FileError, Result};

use crate::parquet::column::Rows;
use crate::parquet::decode;
use crate::parquet::source::Kind;

/// The values of a column, converted one by one. Large dictionary values are shared until they are converted.
type Converted = Box<dyn Iterator<Item = Result<Value, &'static str>>>;

/// A position in a column of a row group.
pub(super) struct Cursor {
    reader: ColumnReader,
    kind: Kind,
    /// The number of rows that have not been decoded.
    left: usize,
    /// The definition levels of the decoded rows that have not been returned.
    levels: std::vec::IntoIter<i16>,
    values: Converted,
}

impl fmt::Debug for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cursor").field("kind", &self.kind).field("left", &self.left).finish_non_exhaustive()
    }
}

impl Cursor {
    /// Creates a cursor at the first row of a column with the given number of rows.
    pub(super) fn new(reader: ColumnReader, kind: Kind, rows: usize) -> Self {
        Self {
            reader,
            kind,
            left: rows,
            levels: Vec::new().into_iter(),
            values: Box::new(std::iter::empty()),
        }
    }

    /// Returns the next row's value, or the reason why it is not a valid property value. Returns `None` if the row has no value.
    ///
    /// # Errors
    /// `Refused` if the file is corrupted. `Io` if it cannot be read.
    pub(super) fn next(&mut self) -> Result<Option<Result<Value, &'static str>>> {
        let damaged = || {
            FileError::Refused("the Parquet file is damaged: a column has fewer values than rows".to_owned())
        };
        if self.levels.len() == 0 {
            let rows = decode(|| Rows::read(&mut self.reader, self.left))?;
            self.left -= rows.levels.len();
            self.levels = rows.levels.into_iter();
            self.values = rows.values.into_values(self.kind);
        }
        match self.levels.next() {
            None => Err(damaged()),
            Some(0) => Ok(None),
            Some(_) => self.values.next().map(Some).ok_or_else(damaged),
        }
    }

    /// Returns the number of decoded rows in memory.
    #[cfg(test)]
    pub(super) fn decoded(&self) -> usize {
        self.levels.len()
    }
}
