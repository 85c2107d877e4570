//! The write of one entity, before it is put together with others.

use table_core::entity::Entity;
use table_core::error::Result;
use table_core::key::EntityKey;
use table_core::operation::OperationKind;
use table_core::row::entity_bytes;

use crate::feed::Record;
use crate::index::changes::{Change, ChangeKind, changes};
use crate::index::remote::RemoteChange;
use crate::outbox::Step;
use crate::participant::Beside;

/// One entity to be written, with what that changes in its indexes, and what its participants add.
#[derive(Clone, Debug)]
pub(crate) struct Write {
    pub(crate) key: EntityKey,
    pub(crate) kind: OperationKind,
    pub(crate) changes: Vec<Change>,
    pub(crate) beside: Vec<Beside>,
    pub(crate) steps: Vec<Step>,
    /// Entries of the feed.
    pub(crate) records: Vec<Record>,
    /// What follows elsewhere, but for the entries of its indexes.
    pub(crate) remote: Vec<RemoteChange>,
    /// Whether a repetition after a lost answer must not be taken for another's write, nor another's for this one (CON-11).
    pub(crate) identified: bool,
}

impl Write {
    /// The write of an entity that changes from `old` to `new`.
    pub(crate) fn new<E: Entity>(
        key: EntityKey,
        kind: OperationKind,
        old: Option<&E>,
        new: Option<&E>,
    ) -> Result<Self> {
        Ok(Self { changes: changes(old, new)?, ..Self::alone(key, kind) })
    }

    /// A write beside which nothing is written.
    pub(crate) const fn alone(key: EntityKey, kind: OperationKind) -> Self {
        Self {
            key,
            kind,
            changes: Vec::new(),
            beside: Vec::new(),
            steps: Vec::new(),
            records: Vec::new(),
            remote: Vec::new(),
            identified: false,
        }
    }

    /// The same, known again by the store after a lost answer where it is alone in its transaction: what is beside it is compared with what it
    /// should be, and holds no identifier.
    pub(crate) fn identified(self) -> Self {
        Self { identified: true, ..self }
    }

    /// Returns the largest number of operations that it adds to a transaction, without those of the feed.
    pub(crate) fn operations(&self) -> usize {
        let intents = usize::from(!self.steps.is_empty()) + usize::from(!self.remote.is_empty());
        1 + self.changes.len() + self.beside.len() + intents
    }

    /// The bytes of the entity and its copies, by the published formula.
    pub(crate) fn bytes(&self) -> usize {
        let own = entity_bytes(self.key.partition_key.as_str(), self.key.row_key.as_str(), self.kind.row());
        let copies = self.changes.iter().map(|change| match &change.kind {
            ChangeKind::Add(row) | ChangeKind::Rewrite(row) if change.index.is_same_partition() => {
                entity_bytes(change.key.partition_key.as_str(), change.key.row_key.as_str(), Some(row))
            }
            _ => 0,
        });
        let partition_key = self.key.partition_key.as_str();
        let beside = self.beside.iter().map(|Beside { operation, .. }| {
            entity_bytes(partition_key, operation.row_key.as_str(), operation.kind.row())
        });
        own + copies.sum::<usize>() + beside.sum::<usize>()
    }
}
