//! Changes of entities, and the operations by which they are written.

use table_core::{EntityKey, IfMatch, Operation, OperationKind, TableEntity};

/// The operation by which a transfer writes entities.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Mode {
    /// Writes the entity, whatever the table has under its key. Repeated, it changes nothing.
    #[default]
    Replace,
    /// Writes the properties of the entity and keeps others of the stored one. Repeated, it changes nothing.
    Merge,
    /// Writes only entities whose key the table does not have; others are rejected.
    Insert,
}

/// One change that a writer makes.
#[derive(Clone, Debug)]
pub enum Change {
    /// The entity is written.
    Write(TableEntity),
    /// The entity with this key is deleted if it still has the `ETag`, or in any version.
    Delete(EntityKey, IfMatch),
}

impl Change {
    /// Returns the key.
    #[must_use]
    pub const fn key(&self) -> &EntityKey {
        match self {
            Self::Write(entity) => entity.key(),
            Self::Delete(key, _) => key,
        }
    }

    /// Returns the operation that makes the change.
    pub(super) fn operation(&self, mode: Mode) -> table_core::Result<Operation> {
        let kind = match self {
            Self::Write(entity) => {
                let row = entity.to_row()?;
                match mode {
                    Mode::Replace => OperationKind::InsertOrReplace(row),
                    Mode::Merge => OperationKind::InsertOrMerge(row),
                    Mode::Insert => OperationKind::Insert(row),
                }
            }
            Self::Delete(_, condition) => OperationKind::Delete(condition.clone()),
        };
        Ok(Operation { row_key: self.key().row_key.clone(), kind })
    }
}

/// A change with the number of its record.
pub(super) struct Numbered {
    /// The number of the record, in the order in which changes were added.
    pub(super) number: u64,
    /// The line of the file.
    pub(super) line: u64,
    /// The change.
    pub(super) change: Change,
}
