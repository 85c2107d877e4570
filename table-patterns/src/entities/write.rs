//! Single-entity writes. A write is planned from the stored version, committed with its contributed rows, and planned again after a conflict (CON-3).

use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use table_core::entity::Entity;
use table_core::etag::{ETag, IfMatch};
use table_core::key::EntityKey;
use table_core::key::text::RESERVED;
use table_core::name::TableName;
use table_core::operation::OperationKind;
use table_core::row::{self, Row};
use table_core::store::{TableStore, WriteLease};
use table_core::table::PatchChange;
use table_core::{Error, Result};

use crate::entities::admission::AdmitWrites;
use crate::entities::batch::Batch;
use crate::entities::commit::{Outcome, Site};
use crate::entities::contributor::Contributor;
use crate::entities::draft::{Draft, EntityWrite};
use crate::entities::fault::undecided;
use crate::entities::handle::Entities;
use crate::entities::outbox::StepRecorder;
use crate::entities::read::{Current, RACE, read_as};
use crate::entities::retries::Retries;

/// A planned write, or `None` if planning it requires stored properties that have not been read.
pub(crate) type Planned<'a> = Result<Option<EntityWrite<'a>>>;

/// The result of a committed write.
pub(crate) struct Written {
    pub(crate) etag: Option<ETag>,
    /// The entity's properties as written, if contributors changed them.
    pub(crate) row: Option<Row>,
}

impl<E: Entity, S: TableStore, O: StepRecorder> Entities<E, S, O> {
    /// Plans a merge into the stored entity, or an insert if no entity is stored.
    ///
    /// # Errors
    /// Any error from [`plan`](Self::plan).
    pub(crate) fn plan_merge_or_insert(
        &self,
        key: &EntityKey,
        current: Option<&Current<E>>,
        (entity, changed, whole): (&E, &Row, &Row),
    ) -> Result<EntityWrite<'_>> {
        match current {
            Some(current) => self.plan_merge(key, current, changed.clone()),
            None => self.plan(key.clone(), OperationKind::Insert(whole.clone()), None, Some(entity)),
        }
    }

    /// Plans a merge of properties into the stored entity.
    ///
    /// # Errors
    /// Any error from [`plan`](Self::plan).
    pub(crate) fn plan_merge(
        &self,
        key: &EntityKey,
        current: &Current<E>,
        row: Row,
    ) -> Result<EntityWrite<'_>> {
        let before = match &current.stored {
            Some(stored) => stored.clone(),
            None => current.entity.to_row()?,
        };
        let after: E = read_as(key, &row::merge(before.view(), row.view())?)?;
        let kind = OperationKind::Merge(row, IfMatch::ETag(current.etag.clone()));
        self.plan(key.clone(), kind, Some(current.old()), Some(&after))
    }

    /// Plans a change that removes properties. The change becomes a replace with all remaining properties.
    ///
    /// # Errors
    /// Any error from [`plan`](Self::plan).
    pub(crate) fn plan_removal(
        &self,
        key: &EntityKey,
        current: &Current<E>,
        change: &PatchChange,
    ) -> Result<EntityWrite<'_>> {
        let stored = current.stored.as_ref().ok_or_else(undecided)?;
        let row = change.apply(stored.view())?;
        let after: E = read_as(key, &row)?;
        let kind = OperationKind::Replace(row, IfMatch::ETag(current.etag.clone()));
        self.plan(key.clone(), kind, Some(current.old()), Some(&after))
    }

    /// Returns `true` if no contributor needs the stored version. A write then reads nothing.
    pub(crate) fn is_blind(&self) -> bool {
        !self.contributors.iter().any(|contributor| contributor.needs_old())
    }

    /// Returns `true` if this write can be planned without the stored version of the entity.
    pub(crate) fn is_blind_for(&self, kind: &OperationKind) -> bool {
        !self.contributors.iter().any(|contributor| contributor.needs_old_for(kind))
    }

    /// Returns the contributor that reads other entities, if any.
    pub(crate) fn completer(&self) -> Option<&Arc<dyn Contributor<E, Self>>> {
        self.contributors.iter().find(|contributor| contributor.reads_others())
    }

    /// Returns the commit site for a batch: the table, the outbox, the seen versions and the admission check.
    pub(crate) fn site<'a>(&'a self, table: &'a TableName) -> Site<'a, S, O> {
        Site { store: self.table.store(), outbox: &self.outbox, table, seen: &self.seen, admission: self }
    }

    /// Reads the entity if `reads` is `true`, plans the write, and commits it. Retries after a conflict.
    ///
    /// # Errors
    /// Any error from planning or committing the write.
    pub(crate) async fn write<'a>(
        &'a self,
        key: &EntityKey,
        reads: bool,
        first: Option<Current<E>>,
        plan: impl FnMut(Option<Current<E>>) -> Planned<'a>,
    ) -> Result<Option<ETag>> {
        self.write_completed(key, reads, first, plan).await.map(|written| written.etag)
    }

    /// Writes an entity, like [`write`](Self::write), and also returns the properties changed by contributors.
    ///
    /// # Errors
    /// Any error from [`write`](Self::write).
    pub(crate) async fn write_completed<'a>(
        &'a self,
        key: &EntityKey,
        reads: bool,
        first: Option<Current<E>>,
        mut plan: impl FnMut(Option<Current<E>>) -> Planned<'a>,
    ) -> Result<Written> {
        // A contributor that reads other entities needs all stored properties.
        let mut first = first.filter(|_| self.completer().is_none());
        let (table, runtime) = (self.table.name()?, self.retry.runtime());
        let mut retries = Retries::new(&self.retry, RACE).replan_entities(reads);
        // Writers in this process that lose a race for an entity take turns. If they already form a queue, this writer joins it.
        let mut turn = if reads { self.turns.enter_busy_entity(table, key, runtime).await } else { None };
        loop {
            let planned = match first.take() {
                Some(first) => plan(Some(first))?,
                None => None,
            };
            let planned = if let Some(planned) = planned {
                planned
            } else {
                let current = if reads { self.current(key).await? } else { None };
                plan(current)?.ok_or_else(undecided)?
            };
            let written = self.submit(&mut retries, planned).await;
            if let Some(etag) = written.map_err(|error| self.at_lost(error, key))? {
                return Ok(Written { etag, row: retries.into_completed() });
            }
            if reads && turn.is_none() {
                turn = Some(self.turns.enter_entity(table, key, runtime).await);
            }
        }
    }

    /// Makes one attempt to commit a write. Returns `None` if the write must be planned again for another attempt. This function is separate from
    /// [`write_completed`](Self::write_completed) to avoid compiling it once per plan closure.
    async fn submit(
        &self,
        retries: &mut Retries<'_>,
        write: EntityWrite<'_>,
    ) -> Result<Option<Option<ETag>>> {
        let outcome = retries.submit(&self.site(self.table.name()?), &Draft::of(write)?).await?;
        let etags = outcome.map(Outcome::committed).transpose()?;
        Ok(etags.map(|etags| etags.into_iter().next().flatten()))
    }

    /// Adds the entity's key to the error returned after the last attempt. An error about a reserved row, such as the head of a feed, keeps that row's key.
    fn at_lost(&self, error: Error, key: &EntityKey) -> Error {
        let is_reserved = error.key().is_some_and(|(_, row_key)| row_key.starts_with(RESERVED));
        if error.rule() == Some("CON-3") && !is_reserved { self.here(error, key) } else { error }
    }

    /// Plans a write that does not depend on the stored version, and commits it.
    ///
    /// # Errors
    /// Any error from the commit.
    pub(crate) async fn write_blind(&self, key: EntityKey, kind: OperationKind) -> Result<Option<ETag>> {
        let is_whole = matches!(kind, OperationKind::Replace(..) | OperationKind::InsertOrReplace(_));
        let planned = self.plan(key.clone(), kind, None, None)?.whole(is_whole);
        self.write(&key, false, None, |_| Ok(Some(planned.clone()))).await
    }

    /// Commits planned writes. Returns an error if an entity does not satisfy the condition of its write.
    ///
    /// # Errors
    /// Any error from the commit.
    pub(crate) async fn commit(&self, batch: &Batch) -> Result<Vec<Option<ETag>>> {
        self.commit_in(self.table.name()?, batch).await
    }

    /// Commits planned writes to another table, for entities of any type.
    ///
    /// # Errors
    /// Any error from the commit.
    pub(crate) async fn commit_in(&self, table: &TableName, batch: &Batch) -> Result<Vec<Option<ETag>>> {
        Retries::new(&self.retry, "a row that is written with the entities")
            .commit_batch(&self.site(table), batch)
            .await
    }

    /// Checks that no program with a newer schema forbids writes. If `is_whole` is `true`, also checks that no such program forbids removing unknown
    /// properties. Returns the period in which unconditional replace operations may be sent, or `None` if the period is unlimited.
    ///
    /// # Errors
    /// `SchemaMismatch` if a program with a newer schema forbids the write; any error from the store.
    pub(crate) async fn admit(&self, is_whole: bool) -> Result<Option<WriteLease>> {
        let lease = self.table.admit(self.retry.runtime()).await?;
        if is_whole {
            self.table.admit_whole()?;
        }
        Ok(lease)
    }
}

impl<E: Entity, S: TableStore, O: StepRecorder> AdmitWrites for Entities<E, S, O> {
    fn admit_writes(&self, is_whole: bool) -> BoxFuture<'_, Result<Option<WriteLease>>> {
        self.admit(is_whole).boxed()
    }
}
