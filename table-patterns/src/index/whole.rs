//! Copies of whole entities, which must also contain properties that only programs built from a newer release know.

use table_core::Result;
use table_core::entity::Entity;
use table_core::index::IndexEntry;
use table_core::row::{self, Row, RowView, RowWriter};
use table_core::schema::{IndexKind, IndexSchema};
use table_core::store::TableStore;

use crate::entities::Entities;

impl<E: Entity, S: TableStore, O> Entities<E, S, O> {
    /// Completes a stored entity's index entry: a copy of the whole entity also gets the properties that only programs built from a newer
    /// release know. Any other entry is returned unchanged.
    ///
    /// # Errors
    /// `SchemaMismatch` if this program must not write; any error from the store.
    pub(crate) async fn whole_entry(
        &self,
        index: &IndexSchema,
        entry: IndexEntry,
        stored: Option<&Row>,
    ) -> Result<IndexEntry> {
        let is_whole = index.kind == IndexKind::Copies && index.include.is_none();
        let Some(stored) = stored.filter(|_| is_whole) else { return Ok(entry) };
        // IMPORTANT: the schema is read after the entity, because the newer release may have added the properties that the entity contains.
        let newer = self.table.newer_properties(self.retry.runtime().now()).await?;
        Ok(IndexEntry { row: with_newer(entry.row, stored.view(), &newer)?, ..entry })
    }
}

/// Returns a copy's row together with those properties of its entity whose names are in `newer`.
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
