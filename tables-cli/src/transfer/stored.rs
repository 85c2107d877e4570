//! Reads single rows by their keys, including rows that the store cannot represent as entities.

use table_core::query::{EntityRef, Select};
use table_core::{DynTableStore, EntityKey, ErrorCode, FromEntity, TableEntity, TableName, TableStore as _};

use crate::failure::Result;

/// A row that was read by its key.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Stored {
    /// The table contains no such row.
    Missing,
    /// The row is an entity.
    Entity(TableEntity),
    /// The row exists, but the store cannot represent it as an entity. Pages omit such a row.
    Unreadable,
}

/// Reads a row by its key.
///
/// If `omits` is `false`, an error with the code `Corrupted` is returned, because it can be caused by damage of the store. If `omits` is `true`, pages of the
/// table omit rows, and the error means that another program has written the row: Cosmos DB reports it with this code.
pub(crate) async fn read(
    store: &DynTableStore,
    name: &TableName,
    key: &EntityKey,
    omits: bool,
) -> Result<Stored> {
    let is_unreadable = |code| code == ErrorCode::EntityMismatch || omits && code == ErrorCode::Corrupted;
    let stored = match store.get(name, key, &Select::All).await {
        Err(error) if is_unreadable(error.code()) => return Ok(Stored::Unreadable),
        stored => stored?,
    };
    let Some(stored) = stored else { return Ok(Stored::Missing) };
    let entity = EntityRef::new(key.partition_key.as_str(), key.row_key.as_str(), stored.row.view());
    Ok(Stored::Entity(TableEntity::from_entity(entity)?))
}
