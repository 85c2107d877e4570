//! Entities that one unit writes: copies of them are of what they are to be, and not of what is stored.

use std::collections::HashMap;

use table_core::key::RowKey;
use table_core::operation::OperationKind;
use table_core::row::Row;

/// The entities of a unit, by `RowKey`.
#[derive(Debug, Default)]
pub(crate) struct InUnit(HashMap<RowKey, Written>);

/// What a unit makes of one entity.
#[derive(Debug)]
pub(crate) struct Written {
    /// `None` for one that is deleted.
    pub(crate) row: Option<Row>,
    /// Whether the unit keeps its copies.
    pub(crate) keeps: bool,
}

impl InUnit {
    /// Adds an entity. A condition writes nothing.
    pub(crate) fn add(&mut self, row_key: &RowKey, kind: &OperationKind, keeps: bool) {
        let row = match kind {
            OperationKind::Merge(row, _) if row.view().properties().next().is_none() => return,
            kind => kind.row().cloned(),
        };
        self.0.insert(row_key.clone(), Written { row, keeps });
    }

    /// An entity that the unit writes.
    pub(crate) fn get(&self, row_key: &RowKey) -> Option<&Written> {
        self.0.get(row_key)
    }
}
