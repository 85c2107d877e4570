//! Changes to entities, and the store operations that apply them.

use table_core::{EntityKey, IfMatch, Operation, OperationKind, TableEntity};

/// The operation a transfer uses to write an entity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Mode {
    /// Replaces an existing entity with the same key, or inserts the entity. Idempotent.
    #[default]
    Replace,
    /// Writes the properties of the entity, and keeps all other properties of an existing entity. Idempotent.
    Merge,
    /// Inserts the entity. Entities with existing keys are rejected.
    Insert,
}

/// A change applied by a writer.
#[derive(Clone, Debug)]
pub enum Change {
    /// Write an entity.
    Write(TableEntity),
    /// Replace an existing entity, if the stored entity satisfies the condition.
    Replace(TableEntity, IfMatch),
    /// Delete the entity with this key, if it satisfies the condition.
    Delete(EntityKey, IfMatch),
}

impl Change {
    /// Returns the key of the changed entity.
    #[must_use]
    pub const fn key(&self) -> &EntityKey {
        match self {
            Self::Write(entity) | Self::Replace(entity, _) => entity.key(),
            Self::Delete(key, _) => key,
        }
    }

    /// Returns the entity to write, or `None` for a delete.
    pub(crate) const fn row(&self) -> Option<&TableEntity> {
        match self {
            Self::Write(entity) | Self::Replace(entity, _) => Some(entity),
            Self::Delete(..) => None,
        }
    }

    /// Returns the store operation for the change.
    pub(crate) fn operation(&self, mode: Mode) -> table_core::Result<Operation> {
        let kind = match self {
            Self::Write(entity) => {
                let row = entity.to_row()?;
                match mode {
                    Mode::Replace => OperationKind::InsertOrReplace(row),
                    Mode::Merge => OperationKind::InsertOrMerge(row),
                    Mode::Insert => OperationKind::Insert(row),
                }
            }
            Self::Replace(entity, condition) => OperationKind::Replace(entity.to_row()?, condition.clone()),
            Self::Delete(_, condition) => OperationKind::Delete(condition.clone()),
        };
        Ok(Operation { row_key: self.key().row_key.clone(), kind })
    }
}

/// A change, with the number and the line of its record.
pub(crate) struct Numbered {
    /// The number of the record, in insertion order.
    pub(crate) number: u64,
    /// The number of the first record in the change's unit of work. The changes in a unit are written together or not at all.
    pub(crate) unit: u64,
    /// The line of the record in the imported file.
    pub(crate) line: u64,
    /// The change.
    pub(crate) change: Change,
}
