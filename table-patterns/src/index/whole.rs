//! Copies of whole entities, which also contain the properties that only programs built from a newer release know.

use table_core::Result;
use table_core::index::IndexEntry;
use table_core::row::{self, Row, RowView, RowWriter};
use table_core::schema::{IndexKind, IndexSchema};
use table_core::table::SchemaWatch;

/// Returns the entry of a stored entity in an index. A copy of the whole entity also contains the properties that only programs built from a newer
/// release know.
pub(crate) fn whole_entry(
    index: &IndexSchema,
    entry: IndexEntry,
    (stored, watch): (Option<&Row>, &SchemaWatch),
) -> Result<IndexEntry> {
    let is_whole = index.kind == IndexKind::Copies && index.include.is_none();
    match stored.filter(|_| is_whole) {
        Some(stored) => {
            Ok(IndexEntry { row: with_newer(entry.row, stored.view(), &watch.newer_properties())?, ..entry })
        }
        None => Ok(entry),
    }
}

/// Returns the row of a copy with those properties of its stored entity that only programs built from a newer release know.
pub(crate) fn with_newer(copy: Row, entity: RowView<'_>, newer: &[String]) -> Result<Row> {
    if newer.is_empty() {
        return Ok(copy);
    }
    let mut kept = RowWriter::new();
    for property in entity.properties() {
        let property = property?;
        if newer.iter().any(|name| name == property.name) {
            kept.property(property.name, property.value);
        }
    }
    row::merge(copy.view(), kept.finish().view())
}
