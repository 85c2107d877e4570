//! Imported rows before they are written.

use table_core::key::EntityKey;
use table_core::name::TableName;
use table_core::query::EntityRef;
use table_core::row::Row;

/// An imported row with its exported key (`from`) and its new key (`to`).
pub(super) struct Incoming {
    pub(super) table: TableName,
    pub(super) from: EntityKey,
    pub(super) to: EntityKey,
    pub(super) row: Row,
}

/// Combines a row and its key into an entity view that has no `ETag`.
pub(super) fn entity<'a>(key: &'a EntityKey, row: &'a Row) -> EntityRef<'a> {
    EntityRef::new(key.partition_key.as_str(), key.row_key.as_str(), row.view())
}
