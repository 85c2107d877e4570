//! The entities that one transaction writes. A copy of such an entity takes the new values instead of the stored values.

use std::collections::HashMap;

use table_core::key::RowKey;
use table_core::operation::OperationKind;
use table_core::row::Row;

/// The entities written or deleted by a transaction, by `RowKey`.
#[derive(Debug, Default)]
pub(crate) struct Siblings(HashMap<RowKey, Sibling>);

/// The state of an entity after the transaction.
#[derive(Debug)]
pub(crate) enum Sibling {
    /// The entity is written with these properties. Properties copied from other entities are added later, by the entity's own write.
    Written(Row),
    /// The entity and its references are deleted.
    Deleted,
    /// Only the row is deleted, by its key. Its references remain.
    Removed,
}

impl Sibling {
    /// Returns the state of an entity with these properties after the write, or of a deleted entity if `after` is `None`.
    pub(crate) fn of(after: Option<Row>) -> Self {
        after.map_or(Self::Deleted, Self::Written)
    }

    /// Returns the new properties, or `None` if the entity is deleted.
    pub(crate) const fn row(&self) -> Option<&Row> {
        match self {
            Self::Written(row) => Some(row),
            Self::Deleted | Self::Removed => None,
        }
    }
}

impl Siblings {
    /// Adds an entity written or deleted by the transaction.
    pub(crate) fn add(&mut self, row_key: &RowKey, sibling: Sibling) {
        self.0.insert(row_key.clone(), sibling);
    }

    /// If the operation deletes a row by its key, adds the row. Ignores other operations.
    pub(crate) fn remove(&mut self, row_key: &RowKey, kind: &OperationKind) {
        if matches!(kind, OperationKind::Delete(_)) {
            self.add(row_key, Sibling::Removed);
        }
    }

    /// Returns `true` if the transaction writes or deletes an entity other than the given one.
    pub(crate) fn has_others(&self, row_key: &RowKey) -> bool {
        self.0.keys().any(|known| known != row_key)
    }

    /// Returns the state of an entity written or deleted by the transaction, or `None` for any other entity.
    pub(crate) fn get(&self, row_key: &RowKey) -> Option<&Sibling> {
        self.0.get(row_key)
    }
}
