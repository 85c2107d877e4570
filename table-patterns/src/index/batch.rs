//! Entities of one partition and what they change in its indexes, put together for one entity group transaction.

mod condition;
mod entity;

use std::collections::{BTreeMap, BTreeSet};

use table_core::entity::Entity;
use table_core::error::{Error, Result};
use table_core::key::{EntityKey, PartitionKey, RowKey};
use table_core::operation::Operation;
use table_core::row::{Row, entity_bytes};
use table_core::schema::{EntitySchema, IndexSchema};

use crate::feed::{self, Record};
use crate::index::changes::{Change, ChangeKind, OwnerOf, owner_of};
use crate::index::fault::{IndexFault, UniqueViolation};
use crate::index::list::{ListForm, Member};
use crate::index::remote::{Derived, Left, RemoteChange};
use crate::outbox::{Intent, Step};
use crate::participant::Beside;

use condition::{both, is_condition};
pub(crate) use entity::Write;

/// The change of one copy in the partition.
#[derive(Clone, Debug)]
pub(crate) struct CopyChange {
    pub(crate) index: &'static IndexSchema,
    pub(crate) owner_of: OwnerOf,
    /// Whose it was before.
    pub(crate) before: Option<EntityKey>,
    /// Whose it is to be, and what it is to hold.
    pub(crate) after: Option<(EntityKey, Row)>,
}

/// The change of one list in the partition.
#[derive(Clone, Debug)]
pub(crate) struct ListChange {
    pub(crate) form: ListForm,
    pub(crate) owner_of: OwnerOf,
    /// The member that is to be in it, with its texts.
    pub(crate) join: BTreeMap<EntityKey, Member>,
    pub(crate) leave: BTreeSet<EntityKey>,
}

/// Entities of one partition, each once, with all that is to be written beside them.
#[derive(Clone, Debug)]
pub(crate) struct Batch {
    pub(crate) partition_key: PartitionKey,
    pub(crate) entities: Vec<Operation>,
    pub(crate) copies: BTreeMap<RowKey, CopyChange>,
    pub(crate) lists: BTreeMap<RowKey, ListChange>,
    pub(crate) remote: Vec<(&'static EntitySchema, RemoteChange)>,
    /// Rows of participants.
    pub(crate) beside: Vec<Beside>,
    /// Steps that participants intend, by the row of the entity that changed.
    pub(crate) steps: Vec<(RowKey, Vec<Step>)>,
    /// Entries of the feed.
    pub(crate) records: Vec<Record>,
    /// Whether its only write is to be known again.
    pub(crate) identified: bool,
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
            beside: Vec::new(),
            steps: Vec::new(),
            records: Vec::new(),
            identified: false,
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
        let recorded = self.remote.chunk_by(|(_, one), (_, next)| one.owner == next.owner).count();
        let own = self.entities.len() + self.copies.len() + self.lists.len();
        own + recorded + self.beside.len() + self.steps.len() + feed::operations(&self.records)
    }

    /// Returns the largest number of operations of its transaction with another write.
    pub(crate) fn operations_with(&self, write: &Write) -> usize {
        let recorded = feed::operations(self.records.iter().chain(&write.records));
        self.operations() - feed::operations(&self.records) + write.operations() + recorded
    }

    /// The intents of its participants: one for each entity, so that two steps for one target are refused and none is lost.
    pub(crate) fn intents(&self) -> Vec<Intent> {
        let intent = |(source, steps): &(RowKey, Vec<Step>)| {
            steps.iter().cloned().fold(Intent::of(source.clone()), Intent::step)
        };
        self.steps.iter().map(intent).collect()
    }

    /// Adds steps of one entity.
    pub(crate) fn intend(&mut self, source: &RowKey, steps: Vec<Step>) {
        if steps.is_empty() {
            return;
        }
        match self.steps.iter_mut().find(|(known, _)| known == source) {
            Some((_, known)) => known.extend(steps),
            None => self.steps.push((source.clone(), steps)),
        }
    }

    /// What it is made of, in words: for errors of its size.
    pub(crate) fn parts(&self) -> String {
        let count = |n: usize, what: &str| (n > 0).then(|| format!("{n} {what}"));
        let mut by: BTreeMap<&str, usize> = BTreeMap::new();
        self.beside.iter().for_each(|beside| *by.entry(beside.by).or_default() += 1);
        let recorded = self.remote.chunk_by(|(_, one), (_, next)| one.owner == next.owner).count();
        let own = [
            count(self.entities.len(), "of entities"),
            count(self.copies.len(), "of copies in indexes"),
            count(self.lists.len(), "of lists"),
            count(recorded + self.steps.len(), "of intents"),
            count(feed::operations(&self.records), "of the feed"),
        ];
        let beside = by.into_iter().map(|(by, n)| format!("{n} of `{by}`"));
        own.into_iter().flatten().chain(beside).collect::<Vec<_>>().join(", ")
    }

    /// Whether a row is a participant's.
    pub(crate) fn is_beside(&self, row_key: &RowKey) -> bool {
        self.beside.iter().any(|beside| beside.operation.row_key == *row_key)
    }

    /// The writer of a row of the transaction besides its entities.
    pub(crate) fn author(&self, row_key: &RowKey) -> Option<String> {
        let beside = self.beside.iter().find(|beside| beside.operation.row_key == *row_key);
        let copy = || self.copies.get(row_key).map(|copy| copy.index.name);
        let list = || self.lists.get(row_key).map(|list| list.form.index().name);
        match beside {
            Some(beside) => Some(format!("the row of `{}`", beside.by)),
            None => copy().or_else(list).map(|index| format!("the entry in the index `{index}`")),
        }
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
            || write.beside.iter().any(|one| self.is_beside(&one.operation.row_key))
            || write.changes.iter().any(|change| change.index.is_same_partition() && is_taken(change))
    }

    /// Adds a write. A refused one leaves the batch unusable: a caller that goes on keeps a clone.
    ///
    /// # Errors
    /// `InvalidDuplicateRow` for an entity that is in it already (EGT-4); `UniqueViolation` for two entities of one value.
    pub(crate) fn push<E: Entity>(&mut self, write: Write) -> Result<()> {
        let bytes = write.bytes();
        let Write { key, kind, changes, beside, steps, records, remote, identified } = write;
        self.identified |= identified;
        if self.entities.iter().any(|operation| operation.row_key == key.row_key) {
            return Err(
                Error::of(IndexFault::Twice).with_key(key.partition_key.as_str(), key.row_key.as_str())
            );
        }
        self.bytes += bytes;
        let same = self.beside.iter().position(|other| other.operation.row_key == key.row_key);
        let other = same.and_then(|at| Some((at, both(&kind, &self.beside.get(at)?.operation.kind)?)));
        let kind = match other {
            Some((at, both)) => {
                self.beside.remove(at);
                both
            }
            None => kind,
        };
        for change in changes {
            if change.index.is_same_partition() {
                self.in_step::<E>(change, &key)?;
            } else {
                self.behind::<E>(change, &key);
            }
        }
        self.remote.extend(remote.into_iter().map(|change| (E::SCHEMA, change)));
        beside.into_iter().try_for_each(|one| self.put_beside(one))?;
        self.intend(&key.row_key, steps);
        self.records.extend(records);
        self.entities.push(Operation { row_key: key.row_key, kind });
        Ok(())
    }

    /// Adds a row of a pattern that belongs to no entity of the batch.
    pub(crate) fn add(&mut self, one: Beside) -> Result<()> {
        let (partition_key, operation) = (self.partition_key.as_str(), &one.operation);
        self.bytes += entity_bytes(partition_key, operation.row_key.as_str(), operation.kind.row());
        self.put_beside(one)
    }

    fn put_beside(&mut self, one: Beside) -> Result<()> {
        let asks = is_condition(&one.operation.kind);
        let same = |own: &&mut Operation| asks && own.row_key == one.operation.row_key;
        if let Some(own) = self.entities.iter_mut().find(same).filter(|own| is_condition(&own.kind)) {
            own.kind =
                both(&own.kind, &one.operation.kind).ok_or_else(|| moved(&self.partition_key, &one))?;
            return Ok(());
        }
        if let Some(other) = self.beside.iter().find(|other| other.operation.row_key == one.operation.row_key)
        {
            // Two holders of one source have one condition on it.
            if is_condition(&other.operation.kind) && is_condition(&one.operation.kind) {
                let is_same = other.operation == one.operation;
                return if is_same { Ok(()) } else { Err(moved(&self.partition_key, &one)) };
            }
            let (first, second) = (other.by.to_string(), one.by.to_string());
            return Err(Error::of(IndexFault::SameRow { first, second })
                .with_key(self.partition_key.as_str(), one.operation.row_key.as_str()));
        }
        self.beside.push(one);
        Ok(())
    }

    fn in_step<E: Entity>(&mut self, change: Change, owner: &EntityKey) -> Result<()> {
        let Change { index, key, kind } = change;
        let (partition_key, row_key) = (key.partition_key, key.row_key);
        let is_of_list = matches!(kind, ChangeKind::Join(_) | ChangeKind::Leave(_));
        if is_of_list {
            let list = self.lists.entry(row_key).or_insert_with(|| ListChange {
                form: ListForm::new(E::SCHEMA, index),
                owner_of: owner_of::<E>,
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
        let none = CopyChange { index, owner_of: owner_of::<E>, before: None, after: None };
        let copy = self.copies.entry(row_key.clone()).or_insert(none);
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

    fn behind<E: Entity>(&mut self, change: Change, owner: &EntityKey) {
        let Change { index, key, kind } = change;
        let left = match &kind {
            ChangeKind::Add(row) | ChangeKind::Rewrite(row) | ChangeKind::Join(row) => Left::entry(&key, row),
            ChangeKind::Remove | ChangeKind::Leave(_) => Left::Nothing,
        };
        let known = self.remote.iter_mut().map(|(_, known)| known);
        let mut same = known.filter(|known| known.of == Derived::Index(index) && known.owner == *owner);
        if let Some(known) = same.next() {
            if !known.keys.contains(&key) {
                known.keys.push(key);
            }
            if left != Left::Nothing {
                known.left = left;
            }
            return;
        }
        let change = RemoteChange { left, ..RemoteChange::of_index(index, owner.clone(), vec![key]) };
        self.remote.push((E::SCHEMA, change));
    }
}

/// That a row was read twice for one batch, and changed in between.
fn moved(partition_key: &PartitionKey, one: &Beside) -> Error {
    Error::of(IndexFault::Changed).with_key(partition_key.as_str(), one.operation.row_key.as_str())
}

/// The error of a value that another entity has (PAT-INTRA-5).
pub(crate) fn violation(index: &IndexSchema, copy: &EntityKey, owner: &EntityKey) -> Error {
    let taken = UniqueViolation { index: index.name, owner: owner.clone() };
    Error::of(IndexFault::Taken(taken)).with_key(copy.partition_key.as_str(), copy.row_key.as_str())
}
