//! Helpers that read and write sources (copied entities) and holders (entities that hold copies).

use table_core::Error;
use table_core::key::EntityKey;
use table_core::name::TableName;
use table_core::query::EntityRef;
use table_core::row::Row;

pub(super) use crate::entities::touch;

pub(super) fn entity<'a>(key: &'a EntityKey, row: &'a Row) -> EntityRef<'a> {
    EntityRef::new(key.partition_key.as_str(), key.row_key.as_str(), row.view())
}

/// The phrase that describes the entities in conflict in error messages.
pub(super) const RACE: &str = "the source or its holders";

pub(super) fn in_place(error: Error, table: &TableName, key: &EntityKey) -> Error {
    error.with_table(table.as_str()).with_key(key.partition_key.as_str(), key.row_key.as_str())
}
