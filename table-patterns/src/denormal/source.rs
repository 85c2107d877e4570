//! Sources: entities that others hold copies of. A change takes its copies along (PAT-DEN-2).

use std::fmt;

use table_core::Table;
use table_core::entity::{Entity, Versioned};
use table_core::error::{Error, Result};
use table_core::etag::{ETag, IfMatch};
use table_core::key::EntityKey;
use table_core::name::TableName;
use table_core::operation::{Operation, OperationKind};
use table_core::query::Select;
use table_core::queue::QueueStore;
use table_core::retry::Retry;
use table_core::row::rewrite;
use table_core::selection::{Point, Selection};
use table_core::store::{StoredRow, TableStore};

use crate::denormal::admission::Admission;
use crate::denormal::fault::CopyFault;
use crate::denormal::group::{self, Group};
use crate::denormal::reference::{self, StoredReference};
use crate::denormal::relation::{Outgoing, Refreshed};
use crate::denormal::steps::source_step;
use crate::denormal::{Denormal, OnDelete, io};
use crate::index::{Batch, Beside, Entities};
use crate::outbox::{Outbox, Step};

/// A table of sources `E`: what that is, see [the pattern](crate::denormal). All relations from `E` are to be registered.
pub struct SourceTable<E, S, Q> {
    pub(super) entities: Entities<E, S, Outbox<S, Q>>,
    pub(super) relations: Vec<Outgoing<E>>,
    /// Of each relation, whether its holders may be written.
    pub(super) admissions: Vec<Admission>,
}

/// The outcome for the copies of a source that changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Copies {
    /// Holders written in the transaction of the source.
    pub in_transaction: usize,
    /// Whether there are others, which follow by the outbox.
    pub follow: bool,
}

impl<E: Entity, S, Q> SourceTable<E, S, Q> {
    /// The sources of a handle; of an outbox, those in the table that the design of `E` names, in its store.
    #[must_use]
    pub fn new(entities: impl Into<Entities<E, S, Outbox<S, Q>>>) -> Self {
        Self { entities: entities.into(), relations: Vec::new(), admissions: Vec::new() }
    }

    /// Registers a relation. Which holders are written by a change is known from their references; how, from here.
    #[must_use]
    pub fn copied<D: Denormal<Source = E>>(mut self) -> Self
    where
        S: TableStore + Clone + 'static,
    {
        self.entities.keeps_copies = true;
        self.relations.push(Outgoing::of::<D>());
        self.admissions.push(Admission::of::<D, S>(self.entities.table()));
        self
    }

    /// The same with another back-off for changes that lose races.
    #[must_use]
    pub fn with_retry(self, retry: Retry) -> Self {
        Self { entities: self.entities.with_retry(retry), ..self }
    }

    /// The table, for reads.
    #[must_use]
    pub const fn table(&self) -> &Table<E, S> {
        self.entities.table()
    }

    pub(super) fn relation(&self, found: &StoredReference) -> Result<&Outgoing<E>> {
        let name = &found.reference.relation;
        self.relations
            .iter()
            .find(|relation| relation.name == name)
            .ok_or_else(|| Error::of(CopyFault::UnknownRelation(name.clone())))
    }
}

/// What is about to be written.
struct Plan {
    batch: Batch,
    /// Whether a change of a holder is recorded in its feed.
    feed: bool,
    copies: Copies,
}

impl<E: Entity, S: TableStore, Q: QueueStore> SourceTable<E, S, Q> {
    /// Inserts a source. No holder can refer to it yet.
    ///
    /// # Errors
    /// Those of [`Entities::insert`].
    pub async fn insert(&self, source: &E) -> Result<ETag> {
        self.entities.insert(source).await
    }

    /// Changes a source and its copies: those of its partition in one transaction, others by the outbox. Read and tried again
    /// where another was faster.
    ///
    /// # Errors
    /// `ResourceNotFound` if it is not there; `InvalidInput` if `change` altered the key (UPD-6); `Unsupported` if a holder has copies
    /// by a relation that is not registered; `UpdateConditionNotSatisfied` if all attempts lost their race; those of the store. Nothing is written then.
    pub async fn update(
        &self,
        key: Selection<E, Point>,
        mut change: impl FnMut(&mut E),
    ) -> Result<(Versioned<E>, Copies)> {
        let key = key.into_key()?;
        let change = |mut source: E| {
            change(&mut source);
            Some(source)
        };
        match self.change(&key, change).await? {
            (Some(source), copies) => Ok((source, copies)),
            (None, _) => Err(io::is_gone(self.table().name()?, &key)),
        }
    }

    /// Deletes a source, as its relations declare it: [`OnDelete`].
    ///
    /// # Errors
    /// `InvalidInput` (PAT-DEN-2), naming the holder, while one refers to it by a relation that refuses; otherwise those of
    /// [`update`](Self::update).
    pub async fn delete(&self, key: Selection<E, Point>) -> Result<Copies> {
        let (_, copies) = self.change(&key.into_key()?, |_| None).await?;
        Ok(copies)
    }

    async fn change(
        &self,
        key: &EntityKey,
        mut change: impl FnMut(E) -> Option<E>,
    ) -> Result<(Option<Versioned<E>>, Copies)> {
        let (store, table) = (self.table().store(), self.table().name()?);
        let mut race = self.entities.retry.race(io::RACE);
        let mut together = true;
        loop {
            let found = store.get(table, key, &Select::All).await?;
            let stored = found.ok_or_else(|| io::is_gone(table, key))?;
            let read =
                || E::from_entity(io::entity(key, &stored)).map_err(|error| error.with_table(table.as_str()));
            let before = read()?;
            let after = change(read()?);
            let Plan { batch, feed, copies } =
                self.plan(key, (&stored, &before), after.as_ref(), together).await?;
            match io::commit(&self.entities, table, &batch, feed).await {
                Ok(etags) => {
                    let version = |after| io::version(table, after, etags, stored.row.view().timestamp());
                    return Ok((after.map(version).transpose()?, copies));
                }
                Err(error) if error.is_conflict() => race.lost(io::in_place(error, table, key)).await?,
                Err(error) if io::is_too_much(&error) && copies.in_transaction > 0 => together = false,
                Err(error) => return Err(error),
            }
        }
    }

    /// The transaction of a change.
    ///
    /// IMPORTANT: the source was read before its references are, and is written under that version: a holder that adds a reference writes the
    /// source, so that none is missed.
    async fn plan(
        &self,
        key: &EntityKey,
        (stored, before): (&StoredRow, &E),
        after: Option<&E>,
        together: bool,
    ) -> Result<Plan> {
        let (store, table) = (self.table().store(), self.table().name()?);
        let own = own(table, key, (stored, before), after)?;
        let own = self.entities.write_of(key.clone(), own, Some(before), after)?;
        let is_affected =
            |relation: &Outgoing<E>| after.is_none_or(|after| (relation.changes)(before, after));
        if after.is_some() && !self.relations.iter().any(is_affected) {
            return Ok(Plan { batch: Batch::of::<E>(own)?, feed: false, copies: Copies::default() });
        }
        let most = store.capabilities().limits.operations;
        let all = if after.is_none() { usize::MAX } else { most };
        let mut here = Vec::new();
        let mut copies = Copies::default();
        for found in reference::find(store, table, key, all).await? {
            let relation = self.relation(&found).map_err(|error| io::in_place(error, table, key))?;
            if after.is_none() && relation.on_delete == OnDelete::Refuse {
                self.refuse(table, key, before, &found).await?;
            }
            if !is_affected(relation) {
                continue;
            }
            let reference = &found.reference;
            if reference.holder.partition_key == key.partition_key && reference.holder_table == *table {
                here.push(found);
            } else {
                copies.follow = true;
            }
        }
        let follow = || Step::of_pattern(source_step::<E>(), String::new());
        if together && here.len() < most {
            let (mut own, mut feed) = (own.clone(), false);
            own.steps.extend(copies.follow.then(follow));
            let mut batch = Batch::of::<E>(own)?;
            for step in self.steps(key, after, group::read(store, group::group(here)).await?).await? {
                if let Some(write) = step.write {
                    copies.in_transaction += 1;
                    feed |= write.push(&mut batch)?;
                }
                for (row_key, kind) in step.drop.into_iter().map(group::dropped) {
                    batch.add(Beside { by: "references", operation: Operation { row_key, kind } })?;
                }
            }
            if batch.operations() <= most {
                return Ok(Plan { batch, feed, copies });
            }
        }
        let mut own = own;
        own.steps.push(follow());
        Ok(Plan {
            batch: Batch::of::<E>(own)?,
            feed: false,
            copies: Copies { in_transaction: 0, follow: true },
        })
    }

    /// Refuses the deletion of a source that a holder refers to. A reference without such a holder is left over.
    async fn refuse(
        &self,
        table: &TableName,
        key: &EntityKey,
        before: &E,
        found: &StoredReference,
    ) -> Result<()> {
        let relation = self.relation(found)?;
        let group = Group::of(found.clone());
        let Some(stored) = self.table().store().get(&group.table, &group.holder, &Select::All).await? else {
            return Ok(());
        };
        let refreshed = (relation.refresh)(key, io::entity(&group.holder, &stored), Some(before))?;
        if matches!(refreshed, Refreshed::Elsewhere) {
            return Ok(());
        }
        let fault = CopyFault::Referred { holder: group.holder, table: group.table, relation: relation.name };
        Err(io::in_place(Error::of(fault), table, key))
    }
}

/// The operation on the source itself.
fn own<E: Entity>(
    table: &TableName,
    key: &EntityKey,
    (stored, before): (&StoredRow, &E),
    after: Option<&E>,
) -> Result<OperationKind> {
    let if_match = IfMatch::ETag(stored.etag.clone());
    let Some(after) = after else { return Ok(OperationKind::Delete(if_match)) };
    if after.key_of()? != *key {
        return Err(io::in_place(Error::of(CopyFault::SourceKey), table, key));
    }
    let row = rewrite(stored.row.view(), before.to_row()?.view(), after.to_row()?.view())?;
    Ok(OperationKind::Replace(row, if_match))
}

impl<E, S: Clone, Q> Clone for SourceTable<E, S, Q> {
    fn clone(&self) -> Self {
        Self {
            entities: self.entities.clone(),
            relations: self.relations.clone(),
            admissions: self.admissions.clone(),
        }
    }
}

impl<E, S: fmt::Debug, Q> fmt::Debug for SourceTable<E, S, Q> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.relations.iter().map(|relation| relation.name).collect();
        f.debug_struct("SourceTable")
            .field("table", &self.entities.table)
            .field("relations", &names)
            .finish_non_exhaustive()
    }
}
