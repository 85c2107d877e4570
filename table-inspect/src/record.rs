//! Records read from a file. Each record is either an entity or the error for an invalid record.

use std::fmt;
use std::io;

use table_core::TableEntity;

/// A record that was read from a file: an entity, or the error for an invalid record.
pub type Record = Result<TableEntity, Rejected>;

/// The error for an invalid record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejected {
    /// The line in the file, counted from 1, or 0 if the source has no lines.
    pub line: u64,
    /// The column, counted from 1, or 0 if the error concerns the entire record.
    pub column: usize,
    /// The cause, with advice.
    pub reason: String,
}

impl fmt::Display for Rejected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line > 0 {
            write!(f, "line {}", self.line)?;
            if self.column > 0 {
                write!(f, ", column {}", self.column)?;
            }
            f.write_str(": ")?;
        }
        f.write_str(&self.reason)
    }
}

/// An error that aborts reading or writing a file.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The file, or an entity to be written to it, does not have the required format. The message contains the cause and a remedy.
    #[error("{0}")]
    Refused(String),
    /// The input or the output failed.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl From<csv::Error> for FileError {
    fn from(error: csv::Error) -> Self {
        Self::Io(error.into())
    }
}

/// The result of reading or writing a file.
pub type Result<T, E = FileError> = std::result::Result<T, E>;
