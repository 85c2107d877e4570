//! Entities of one partition and what they change in its indexes, put together for one entity group transaction.

use std::collections::{BTreeMap, BTreeSet};

use table_core::entity::Entity;
use table_core::error::{Error, ErrorCode, Result};
use table_core::key::{EntityKey, PartitionKey, RowKey};
use table_core::operation::{Operation, OperationKind};
use table_core::row::{Row, entity_bytes};
use table_core::schema::IndexSchema;

use crate::index::changes::{Change, ChangeKind, changes};
use crate::index::list::{ListForm, Member};

/// One entity to be written, with what that changes in its indexes.
#[derive(Clone, Debug)]
pub(crate) struct Write {
    pub(crate) key: EntityKey,
    pub(crate) kind: OperationKind,
    pub(crate) changes: Vec<Change>,
}

impl Write {
    /// The write of an entity that changes from `old` to `new`.
    pub(crate) fn new<E: Entity>(
        key: EntityKey,
        kind: OperationKind,
        old: Option<&E>,
        new: Option<&E>,
    ) -> Result<Self> {
        Ok(Self { key, kind, changes: changes(old, new)? })
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
        own + copies.sum::<usize>()
    }
}

/// What is to become of one copy in the partition.
#[derive(Clone, Debug)]
pub(crate) struct CopyChange {
    pub(crate) index: &'static IndexSchema,
    /// Whose it was before.
    pub(crate) before: Option<EntityKey>,
    /// Whose it is to be, and what it is to hold.
    pub(crate) after: Option<(EntityKey, Row)>,
}

/// What is to become of one list in the partition.
#[derive(Clone, Debug)]
pub(crate) struct ListChange {
    pub(crate) form: ListForm,
    /// Who is to be in it, with his texts.
    pub(crate) join: BTreeMap<EntityKey, Member>,
    pub(crate) leave: BTreeSet<EntityKey>,
}

/// What one entity changed in one index that lives in another partition or table: where it may have entries to bring in line.
///
/// It does not say what is to be there: who brings it in line asks the entity itself, so that changes may come late, twice and
/// in any order (PAT-EC-2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteChange {
    /// The index.
    pub index: &'static IndexSchema,
    /// The key of the entity that changed.
    pub owner: EntityKey,
    /// The keys of its copies or lists, before and after.
    pub keys: Vec<EntityKey>,
}

/// Entities of one partition, each once, with all that is to be written beside them.
#[derive(Clone, Debug)]
pub(crate) struct Batch {
    pub(crate) partition_key: PartitionKey,
    pub(crate) entities: Vec<Operation>,
    pub(crate) copies: BTreeMap<RowKey, CopyChange>,
    pub(crate) lists: BTreeMap<RowKey, ListChange>,
    pub(crate) remote: Vec<RemoteChange>,
    bytes: usize,
}

impl Batch {
    pub(crate) const fn new(partition_key: PartitionKey) -> Self {
        Self {
            partition_key,
            entities: Vec::new(),
            copies: BTreeMap::new(),
            lists: BTreeMap::new(),
            remote: Vec::new(),
            bytes: 0,
        }
    }

    /// A batch of one write.
    pub(crate) fn of<E: Entity>(write: Write) -> Result<Self> {
        let mut batch = Self::new(write.key.partition_key.clone());
        batch.push::<E>(write)?;
        Ok(batch)
    }

    /// How many operations its transaction has at most: an outbox adds one for each entity with anything remote.
    pub(crate) fn operations(&self) -> usize {
        // Those of one entity were pushed together.
        let recorded = self.remote.chunk_by(|one, next| one.owner == next.owner).count();
        self.entities.len() + self.copies.len() + self.lists.len() + recorded
    }

    /// The bytes of its entities and copies, by the published formula.
    pub(crate) const fn bytes(&self) -> usize {
        self.bytes
    }

    /// Whether a write would be refused because its entity, or the value of one of its copies, is in the batch already.
    pub(crate) fn meets(&self, write: &Write) -> bool {
        let is_taken = |change: &Change| {
            matches!(change.kind, ChangeKind::Add(_) | ChangeKind::Rewrite(_))
                && self.copies.get(&change.key.row_key).is_some_and(|copy| copy.after.is_some())
        };
        self.entities.iter().any(|operation| operation.row_key == write.key.row_key)
            || write.changes.iter().any(|change| change.index.is_same_partition() && is_taken(change))
    }

    /// Adds a write. A refused one leaves the batch unusable: whoever goes on keeps a clone.
    ///
    /// # Errors
    /// `InvalidDuplicateRow` for an entity that is in it already (EGT-4); `UniqueViolation` for two entities of one value.
    pub(crate) fn push<E: Entity>(&mut self, write: Write) -> Result<()> {
        let bytes = write.bytes();
        let Write { key, kind, changes } = write;
        if self.entities.iter().any(|operation| operation.row_key == key.row_key) {
            let message = "an entity may occur only once in a transaction";
            return Err(Error::new(ErrorCode::InvalidDuplicateRow, message)
                .with_rule("EGT-4")
                .with_key(key.partition_key.as_str(), key.row_key.as_str()));
        }
        self.bytes += bytes;
        for change in changes {
            if change.index.is_same_partition() {
                self.in_step::<E>(change, &key)?;
            } else {
                self.behind(change, &key);
            }
        }
        self.entities.push(Operation { row_key: key.row_key, kind });
        Ok(())
    }

    fn in_step<E: Entity>(&mut self, change: Change, owner: &EntityKey) -> Result<()> {
        let Change { index, key, kind } = change;
        let (partition_key, row_key) = (key.partition_key, key.row_key);
        let is_of_list = matches!(kind, ChangeKind::Join(_) | ChangeKind::Leave(_));
        if is_of_list {
            let list = self.lists.entry(row_key).or_insert_with(|| ListChange {
                form: ListForm::new(E::SCHEMA, index),
                join: BTreeMap::new(),
                leave: BTreeSet::new(),
            });
            if let ChangeKind::Join(row) = &kind {
                list.join.insert(owner.clone(), list.form.member(row)?);
            } else {
                list.leave.insert(owner.clone());
            }
            return Ok(());
        }
        let copy =
            self.copies.entry(row_key.clone()).or_insert(CopyChange { index, before: None, after: None });
        if matches!(kind, ChangeKind::Remove | ChangeKind::Rewrite(_)) {
            copy.before = Some(owner.clone());
        }
        if let ChangeKind::Add(row) | ChangeKind::Rewrite(row) = kind {
            if let Some((other, _)) = &copy.after {
                let taken = EntityKey { partition_key, row_key };
                return Err(violation(index, &taken, other));
            }
            copy.after = Some((owner.clone(), row));
        }
        Ok(())
    }

    fn behind(&mut self, change: Change, owner: &EntityKey) {
        let same = |known: &&mut RemoteChange| known.index.name == change.index.name && known.owner == *owner;
        match self.remote.iter_mut().find(same) {
            Some(known) if known.keys.contains(&change.key) => {}
            Some(known) => known.keys.push(change.key),
            None => self.remote.push(RemoteChange {
                index: change.index,
                owner: owner.clone(),
                keys: vec![change.key],
            }),
        }
    }
}

/// What the error of a [`UniqueViolation`](ErrorCode::UniqueViolation) has as its source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UniqueViolation {
    /// The name of the index.
    pub index: &'static str,
    /// The key of the entity that has the value.
    pub owner: EntityKey,
}

impl std::fmt::Display for UniqueViolation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the value in the unique index `{}` is that of {}", self.index, self.owner)
    }
}

impl std::error::Error for UniqueViolation {}

/// The error of a value that another entity has (PAT-INTRA-5).
pub(crate) fn violation(index: &IndexSchema, copy: &EntityKey, owner: &EntityKey) -> Error {
    let source = UniqueViolation { index: index.name, owner: owner.clone() };
    let message = format!("{source}: choose another value, or change that entity first");
    Error::new(ErrorCode::UniqueViolation, message)
        .with_rule("PAT-INTRA-5")
        .with_key(copy.partition_key.as_str(), copy.row_key.as_str())
        .with_source(source)
}
