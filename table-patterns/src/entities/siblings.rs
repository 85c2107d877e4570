//! The entities that one unit writes. Copies of these entities use their new values instead of the stored values.

use std::collections::HashMap;

use table_core::key::RowKey;
use table_core::operation::OperationKind;
use table_core::row::Row;

use crate::entities::plan::is_condition;

/// The entities that a unit writes, by `RowKey`.
#[derive(Debug, Default)]
pub(crate) struct Siblings(HashMap<RowKey, Sibling>);

/// An entity that the unit writes.
#[derive(Debug)]
pub(crate) struct Sibling {
    /// The new properties; `None` if the entity is deleted.
    pub(crate) row: Option<Row>,
    /// `true` if the unit completes its copies.
    pub(crate) is_completed: bool,
}

impl Siblings {
    /// Adds an entity. Conditions write nothing and are not added.
    pub(crate) fn add(&mut self, row_key: &RowKey, kind: &OperationKind, is_completed: bool) {
        if !is_condition(kind) {
            self.0.insert(row_key.clone(), Sibling { row: kind.row().cloned(), is_completed });
        }
    }

    /// Returns `true` if the unit writes an entity other than this one.
    pub(crate) fn has_others(&self, row_key: &RowKey) -> bool {
        self.0.keys().any(|known| known != row_key)
    }

    /// Returns an entity that the unit writes.
    pub(crate) fn get(&self, row_key: &RowKey) -> Option<&Sibling> {
        self.0.get(row_key)
    }
}
