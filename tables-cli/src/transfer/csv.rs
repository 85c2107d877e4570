//! CSV with typed columns: `PartitionKey,RowKey,Timestamp,Age,Age@type`, the format of Storage Explorer.

mod limited;
mod reader;
#[cfg(test)]
mod tests;
mod writer;

use table_core::TableEntity;

pub use reader::{CsvReader, Types};
pub use writer::CsvWriter;

/// The suffix of a column that contains types.
const TYPE: &str = "@type";

/// Returns the names of all properties of some entities, in the order in which they first appear.
#[must_use]
pub fn columns(entities: &[TableEntity]) -> Vec<String> {
    let mut columns: Vec<String> = Vec::new();
    for (name, _) in entities.iter().flat_map(TableEntity::iter) {
        if !columns.iter().any(|known| known == name) {
            columns.push(name.to_owned());
        }
    }
    columns
}
