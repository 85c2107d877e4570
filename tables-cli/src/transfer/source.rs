//! Records of an input: entities, and lines that are none.

use std::fmt;

use table_core::TableEntity;

/// One record of a file: an entity, or the reason why it is none.
pub type Record = Result<TableEntity, Rejected>;

/// A record that cannot be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejected {
    /// The line of the file, from 1; 0 where the source has no lines.
    pub line: u64,
    /// The column, from 1; 0 if the whole record is meant.
    pub column: usize,
    /// The fact and the help.
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
