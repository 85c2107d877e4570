//! CSV with typed columns, in the format of Storage Explorer: `PartitionKey,RowKey,Timestamp,Age,Age@type`.
//!
//! ```
//! use table_core::TableEntity;
//! use table_inspect::csv::{Columns, CsvReader, CsvWriter, Types};
//!
//! let ada = TableEntity::new("Sales", "1")?.with("Age", 36);
//! let mut writer = CsvWriter::new(Vec::new(), Columns::of([&ada]));
//! writer.write(&ada)?;
//! let text = writer.finish()?;
//! assert_eq!(text, b"PartitionKey,RowKey,Timestamp,Age,Age@type\nSales,1,,36,Edm.Int32\n");
//!
//! let rows = CsvReader::new(text.as_slice(), Types::default())?.collect::<Result<Vec<_>, _>>()?;
//! assert_eq!(rows, [Ok(ada)]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod columns;
mod limited;
mod reader;
#[cfg(test)]
mod tests;
mod writer;

pub use columns::Columns;
pub use reader::{CsvReader, Types};
pub use writer::CsvWriter;

/// The suffix of type column names.
const TYPE: &str = "@type";
