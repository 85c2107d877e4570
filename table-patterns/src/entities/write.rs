//! The write of one entity. It is planned from the stored version, committed with its contributions, and planned again after a conflict (CON-3).

use std::sync::Arc;

use table_core::entity::Entity;
use table_core::etag::{ETag, IfMatch};
use table_core::key::EntityKey;
use table_core::name::TableName;
use table_core::operation::OperationKind;
use table_core::row::{self, Row};
use table_core::store::TableStore;
use table_core::table::PatchChange;
use table_core::{Error, Result};

use crate::entities::batch::Batch;
use crate::entities::commit::Site;
use crate::entities::contributor::{Contribution, Contributor, EntityChange, PendingWrite, WriteContext};
use crate::entities::fault::EntityFault;
use crate::entities::handle::Entities;
use crate::entities::outbox::StepRecorder;
use crate::entities::plan::EntityPlan;
use crate::entities::read::{Current, RACE, read_as};
use crate::entities::rounds::{Rounds, is_too_large};

/// The plan of a write; `None` if it depends on stored properties that were not read.
pub(crate) type Planned = Result<Option<EntityPlan>>;

/// A committed write.
pub(crate) struct Written {
    pub(crate) etag: Option<ETag>,
    /// The properties of the entity, if contributors changed them.
    pub(crate) row: Option<Row>,
}

impl<E: Entity, S: TableStore, O> Entities<E, S, O> {
    /// Plans the write of an entity that changes from `old` to `new`.
    ///
    /// # Errors
    /// Any error from the contributors.
    pub(crate) fn plan(
        &self,
        key: EntityKey,
        kind: OperationKind,
        old: Option<&E>,
        new: Option<&E>,
    ) -> Result<EntityPlan> {
        self.plan_in(&self.context, key, kind, old, new)
    }

    /// Plans the write of an entity in the context of a unit.
    ///
    /// # Errors
    /// Any error from the contributors.
    pub(crate) fn plan_in(
        &self,
        context: &WriteContext,
        key: EntityKey,
        kind: OperationKind,
        old: Option<&E>,
        new: Option<&E>,
    ) -> Result<EntityPlan> {
        let (pace, limits) = (self.retry.runtime(), &self.table.store().capabilities().limits);
        let (mut out, watch) = (Contribution::default(), &self.table.schema_watch());
        let change = EntityChange { key: &key, kind: &kind, old, new, context, pace, limits, watch };
        let contributed =
            self.contributors.iter().try_for_each(|contributor| contributor.contribute(&change, &mut out));
        match contributed {
            Ok(()) => Ok(out.into_plan(key, kind)),
            Err(error) if error.key().is_some() => Err(error),
            Err(error) => Err(error.with_key(key.partition_key.as_str(), key.row_key.as_str())),
        }
    }

    /// Plans a merge into the stored entity, or an insert if the entity does not exist.
    ///
    /// # Errors
    /// Any error from [`plan`](Self::plan).
    pub(crate) fn plan_merge_or_insert(
        &self,
        key: &EntityKey,
        current: Option<&Current<E>>,
        (entity, row): (&E, Row),
    ) -> Result<EntityPlan> {
        match current {
            Some(current) => self.plan_merge(key, current, row),
            None => self.plan(key.clone(), OperationKind::Insert(row), None, Some(entity)),
        }
    }

    /// Plans a merge of properties into the stored entity.
    ///
    /// # Errors
    /// Any error from [`plan`](Self::plan).
    pub(crate) fn plan_merge(&self, key: &EntityKey, current: &Current<E>, row: Row) -> Result<EntityPlan> {
        let before = match &current.stored {
            Some(stored) => stored.clone(),
            None => current.entity.to_row()?,
        };
        let after: E = read_as(key, &row::merge(before.view(), row.view())?)?;
        let kind = OperationKind::Merge(row, IfMatch::ETag(current.etag.clone()));
        self.plan(key.clone(), kind, Some(&current.entity), Some(&after))
    }

    /// Plans a change that removes properties: a replace with all stored properties after the change.
    ///
    /// # Errors
    /// Any error from [`plan`](Self::plan).
    pub(crate) fn plan_removal(
        &self,
        key: &EntityKey,
        current: &Current<E>,
        change: &PatchChange,
    ) -> Result<EntityPlan> {
        let stored = current.stored.as_ref().ok_or_else(undecided)?;
        let row = change.apply(stored.view())?;
        let after: E = read_as(key, &row)?;
        let kind = OperationKind::Replace(row, IfMatch::ETag(current.etag.clone()));
        self.plan(key.clone(), kind, Some(&current.entity), Some(&after))
    }

    /// Returns `true` if no contributor needs the stored version, so a write reads nothing.
    pub(crate) fn is_blind(&self) -> bool {
        !self.contributors.iter().any(|contributor| contributor.needs_old())
    }

    /// Returns the contributor that reads other entities, if any.
    pub(crate) fn completer(&self) -> Option<&Arc<dyn Contributor<E, Self>>> {
        self.contributors.iter().find(|contributor| contributor.reads_others())
    }
}

impl<E: Entity, S: TableStore, O: StepRecorder> Entities<E, S, O> {
    /// Returns the site at which batches are committed.
    pub(crate) fn site<'a>(&'a self, table: &'a TableName) -> Site<'a, S, O> {
        Site { store: self.table.store(), outbox: &self.outbox, table, seen: None }
    }

    /// Reads the entity if `reads` is `true`, plans the write and commits it. Repeats this after a conflict.
    ///
    /// # Errors
    /// Any error from planning or committing the write.
    pub(crate) async fn write(
        &self,
        key: &EntityKey,
        reads: bool,
        first: Option<Current<E>>,
        plan: impl FnMut(Option<Current<E>>) -> Planned,
    ) -> Result<Option<ETag>> {
        self.write_completed(key, reads, first, plan).await.map(|written| written.etag)
    }

    /// Writes like [`write`](Self::write), and also returns the properties that contributors changed.
    ///
    /// # Errors
    /// Any error from [`write`](Self::write).
    pub(crate) async fn write_completed(
        &self,
        key: &EntityKey,
        reads: bool,
        first: Option<Current<E>>,
        mut plan: impl FnMut(Option<Current<E>>) -> Planned,
    ) -> Result<Written> {
        let completes = self.completer().is_some();
        // A contributor that reads other entities needs all stored properties.
        let mut first = first.filter(|_| !completes);
        let rounds = Rounds::new(&self.retry, RACE).replan_entities(reads).replan_rows(completes);
        let mut attempts = Attempts { handle: self, key, reads, stored: None, together: true, rounds };
        let table = self.table.name()?;
        // Writers of this process that lost a race for an entity take turns.
        let mut turn =
            if reads { self.turns.enter_busy_entity(table, key, self.retry.runtime()).await } else { None };
        loop {
            let planned = match first.take() {
                Some(first) => plan(Some(first))?,
                None => None,
            };
            let planned = match planned {
                Some(planned) => planned,
                None => plan(attempts.read().await?)?.ok_or_else(undecided)?,
            };
            if let Some(written) = attempts.write(planned).await? {
                return Ok(written);
            }
            if reads && turn.is_none() {
                turn = Some(self.turns.enter_entity(table, key, self.retry.runtime()).await);
            }
        }
    }

    /// Commits a plan that needs no stored version.
    ///
    /// # Errors
    /// Any error from the commit.
    pub(crate) async fn write_blind(&self, key: EntityKey, kind: OperationKind) -> Result<Option<ETag>> {
        let is_whole = matches!(kind, OperationKind::Replace(..) | OperationKind::InsertOrReplace(_));
        let planned = EntityPlan { is_whole, ..self.plan(key.clone(), kind, None, None)? };
        self.write(&key, false, None, |_| Ok(Some(planned.clone()))).await
    }

    /// Commits plans under the caller's conditions on entities. A conflict on an entity is an error.
    ///
    /// # Errors
    /// Any error from the commit.
    pub(crate) async fn commit(&self, batch: &Batch) -> Result<Vec<Option<ETag>>> {
        self.commit_in(self.table.name()?, batch).await
    }

    /// Commits plans for entities of any type in another table.
    ///
    /// # Errors
    /// Any error from the commit.
    pub(crate) async fn commit_in(&self, table: &TableName, batch: &Batch) -> Result<Vec<Option<ETag>>> {
        self.admit(false).await?;
        Rounds::new(&self.retry, "the indexes of the entities").commit(&self.site(table), batch).await
    }

    /// Checks that no program with a newer schema forbids writes, or writes that remove properties which this program does not know.
    ///
    /// # Errors
    /// `SchemaMismatch`; any error from the store.
    pub(crate) async fn admit(&self, is_whole: bool) -> Result<()> {
        self.table.admit(self.retry.runtime().now()).await?;
        if is_whole { self.table.admit_whole() } else { Ok(()) }
    }

    /// Completes a plan through the contributor that reads other entities. Returns its batch, with the properties that changed.
    pub(crate) async fn complete(
        &self,
        plan: EntityPlan,
        stored: Option<Row>,
        together: &mut bool,
    ) -> Result<(Batch, Option<Row>)> {
        let Some(completer) = self.completer() else { return Ok((Batch::of(plan)?, None)) };
        let EntityPlan { key, kind, .. } = plan;
        loop {
            let pending = PendingWrite {
                key: key.clone(),
                kind: kind.clone(),
                stored: stored.clone(),
                together: *together,
                siblings: Arc::default(),
                context: self.context.clone(),
            };
            let Some(completion) = completer.complete(self, pending) else { return Err(undecided()) };
            let done = completion.await?;
            let is_alone = done.others.is_empty();
            let mut batch = Batch::of(done.own)?;
            done.others.into_iter().try_for_each(|other| batch.push(other))?;
            if is_alone || batch.operations() <= self.table.store().capabilities().limits.operations {
                return Ok((batch, done.row));
            }
            *together = false;
        }
    }
}

/// The retry loop for committing one write. Separate from planning, so this code is not compiled for each kind of plan.
struct Attempts<'a, E: 'static, S, O> {
    handle: &'a Entities<E, S, O>,
    key: &'a EntityKey,
    reads: bool,
    /// All stored properties, for a contributor that reads other entities.
    stored: Option<Row>,
    /// `true` if other entities are written in the same transaction.
    together: bool,
    rounds: Rounds<'a>,
}

impl<E: Entity, S: TableStore, O: StepRecorder> Attempts<'_, E, S, O> {
    async fn read(&mut self) -> Result<Option<Current<E>>> {
        let current = if self.reads { self.handle.current(self.key).await? } else { None };
        let completes = self.handle.completer().is_some();
        self.stored = current.as_ref().filter(|_| completes).and_then(|current| current.stored.clone());
        Ok(current)
    }

    /// Commits a plan. Returns `None` if the write must be planned again.
    async fn write(&mut self, plan: EntityPlan) -> Result<Option<Written>> {
        let handle = self.handle;
        handle.admit(plan.is_whole).await?;
        let (batch, row) = handle.complete(plan, self.stored.take(), &mut self.together).await?;
        let others = batch.entities().len() > 1;
        let submitted = self.rounds.submit(&handle.site(handle.table.name()?), &batch, 1).await;
        match submitted {
            Ok(Some(etags)) => Ok(Some(Written { etag: etags.into_iter().next().flatten(), row })),
            Ok(None) => Ok(None),
            Err(error) if others && is_too_large(&error) => {
                self.together = false;
                Ok(None)
            }
            Err(error) if error.rule() == Some("CON-3") => Err(handle.here(error, self.key)),
            Err(error) => Err(error),
        }
    }
}

/// Returns the error of a plan that requires stored properties although all of them were read.
pub(crate) fn undecided() -> Error {
    Error::of(EntityFault::Undecided)
}
