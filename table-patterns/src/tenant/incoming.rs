//! Imported rows that have not been written yet.

use table_core::key::EntityKey;
use table_core::name::TableName;
use table_core::query::EntityRef;
use table_core::row::Row;

/// An imported row with its key in the export (`from`) and its key in this tenant (`to`).
pub(super) struct Incoming {
    pub(super) table: TableName,
    pub(super) from: EntityKey,
    pub(super) to: EntityKey,
    pub(super) row: Row,
}

/// Combines a row and its key into an entity view without an `ETag`.
pub(super) fn entity<'a>(key: &'a EntityKey, row: &'a Row) -> EntityRef<'a> {
    EntityRef::new(key.partition_key.as_str(), key.row_key.as_str(), row.view())
}
