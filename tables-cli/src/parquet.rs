//! Parquet files with typed columns. Other programs can read the files, and the files can be imported without loss.
//!
//! | property | column |
//! |---|---|
//! | PartitionKey, RowKey | string, required |
//! | Timestamp | timestamp in nanoseconds, UTC; ignored when a file is read, because the store sets it |
//! | `Edm.String` | string |
//! | `Edm.Int32`, `Edm.Int64`, `Edm.Double`, `Edm.Boolean` | int32, int64, double, boolean |
//! | `Edm.DateTime` | timestamp in nanoseconds, UTC; in microseconds if a value is outside the years 1678 to 2261 and all values are whole microseconds |
//! | `Edm.Guid` | UUID |
//! | `Edm.Binary` | bytes |
//!
//! An absent property is stored as null, which differs from an empty string. A property with values of several types has one column for each type. The column
//! for the most frequent type has the name of the property, and the other columns have a suffix, such as `Age@String`. Times that no timestamp unit can
//! represent are stored in a column such as `Ends@ticks`, as the number of 100 ns units since the year 1.
//!
//! Rows are written in groups and read in steps, so memory use does not depend on the size of the file. The footer contains the number of rows and their
//! checksum.

mod collected;
mod column;
mod cursor;
mod file;
mod layout;
mod reader;
mod source;
#[cfg(test)]
mod tests;
mod value;
mod writer;

pub use file::{read, verify};
pub use layout::{Layout, Survey};
pub use reader::ParquetReader;
pub use writer::ParquetWriter;

use std::panic::{AssertUnwindSafe, catch_unwind};

use parquet::errors::ParquetError;
use table_inspect::record::FileError;

/// The metadata key in the footer for the number of rows.
const ROWS: &str = "tables.rows";
/// The metadata key in the footer for the checksum of all rows.
const CHECKSUM: &str = "tables.checksum";
/// The columns that every file contains.
const KEYS: [&str; 3] = ["PartitionKey", "RowKey", "Timestamp"];

/// Calls the Parquet decoder. The decoder panics on some corrupted files, so a panic is reported as file corruption.
fn decode<T>(call: impl FnOnce() -> Result<T, ParquetError>) -> Result<T, FileError> {
    let damaged = |_| FileError::Refused("the Parquet file cannot be read: it is damaged".to_owned());
    // IMPORTANT: the decoder is not used again after an error.
    catch_unwind(AssertUnwindSafe(call)).map_err(damaged)?.map_err(failure)
}

/// Converts a Parquet error to an I/O error, or to an error for a corrupted or unsupported file.
fn failure(error: ParquetError) -> FileError {
    match error {
        ParquetError::External(cause) => FileError::Io(std::io::Error::other(cause)),
        ParquetError::NYI(text) => {
            FileError::Refused(format!("the Parquet file uses an unsupported feature: {text}"))
        }
        other => {
            let text = other.to_string();
            let help = if text.contains("Disabled feature") {
                "; write the file with Snappy compression"
            } else {
                ""
            };
            FileError::Refused(format!("the Parquet file cannot be read: {text}{help}"))
        }
    }
}
