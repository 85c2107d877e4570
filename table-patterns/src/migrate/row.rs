//! Rows copied to another store.

use table_core::Result;
use table_core::entity::{AnyTable, ToEntity};
use table_core::key::EntityKey;
use table_core::query::EntityRef;
use table_core::row::Row;

use crate::outbox::rows;

/// A row of any kind, including rows reserved for patterns, which programs cannot write otherwise. An intent's copy contains the Timestamp of the original
/// change as its version. This preserves the order of changes.
pub(crate) struct Copied {
    key: EntityKey,
    row: Row,
}

impl Copied {
    /// Creates a row to be written under `key`, without its original Timestamp.
    pub(crate) fn new(key: EntityKey, row: Row) -> Self {
        Self { key, row: row.with_timestamp(0) }
    }

    pub(super) fn of(entity: EntityRef<'_>) -> Result<Self> {
        let row = match rows::versioned(entity)? {
            Some(row) => row,
            None => entity.row.to_row().with_timestamp(0),
        };
        Ok(Self { key: EntityKey::new(entity.partition_key, entity.row_key)?, row })
    }
}

impl ToEntity for Copied {
    type Table = AnyTable;

    fn entity_key(&self) -> Result<EntityKey> {
        Ok(self.key.clone())
    }

    fn entity_row(&self) -> Result<Row> {
        Ok(self.row.clone())
    }
}
