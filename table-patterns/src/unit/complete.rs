//! Units with entities that are sources or holders of copies. Such units are completed at the commit, and again after a conflict on a related row.

use std::collections::HashSet;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use table_core::entity::Entity;
use table_core::etag::ETag;
use table_core::key::{EntityKey, RowKey};
use table_core::operation::OperationKind;
use table_core::store::TableStore;
use table_core::{Error, Result};

use crate::entities::{
    Batch, Completed, Entities, EntityPlan, PendingWrite, PlannedRow, Siblings, StepRecorder, WriteContext,
    is_moved, is_too_large,
};
use crate::outbox::Step;
use crate::unit::UnitOfWork;

/// Completes the write of an entity. Its arguments are the operation of the entity, whether other entities may be
/// written in the same transaction, and the entities of the unit.
pub(super) type Complete =
    Arc<dyn Fn(OperationKind, bool, Arc<Siblings>) -> BoxFuture<'static, Result<Completed>> + Send + Sync>;

/// The parts of a unit, starting with its first entity that has copies.
pub(super) struct Completion {
    /// The earlier parts, which are already complete.
    pub(super) base: Batch,
    pub(super) parts: Vec<Part>,
}

/// A part of a unit.
pub(super) enum Part {
    Write(Box<EntityPlan>, Option<Complete>),
    Rows(Vec<PlannedRow>),
    Step(RowKey, Step),
}

impl Completion {
    /// Creates a completion after the parts that are already complete.
    pub(super) fn after(batch: &Batch) -> Self {
        Self { base: batch.clone(), parts: Vec::new() }
    }
}

/// Returns the completion of an entity, if a contributor of its handle reads other entities.
pub(super) fn completes<E, S, O>(
    handle: &Arc<Entities<E, S, O>>,
    key: &EntityKey,
    old: Option<&E>,
    context: &WriteContext,
) -> Result<Option<Complete>>
where
    E: Entity,
    S: TableStore + Clone + 'static,
    O: StepRecorder,
{
    if handle.completer().is_none() {
        return Ok(None);
    }
    let (handle, key, context) = (Arc::clone(handle), key.clone(), context.clone());
    let stored = old.map(Entity::to_row).transpose()?;
    Ok(Some(Arc::new(move |kind, together, siblings| {
        let (handle, context) = (Arc::clone(&handle), context.clone());
        let (key, stored) = (key.clone(), stored.clone());
        Box::pin(async move {
            let pending = PendingWrite { key, kind: kind.clone(), stored, together, siblings, context };
            let own = EntityPlan::alone(pending.key.clone(), kind);
            match handle.completer().and_then(|completer| completer.complete(&handle, pending)) {
                Some(completed) => completed.await,
                None => Ok(Completed { own, others: Vec::new(), row: None }),
            }
        })
    })))
}

impl<S: TableStore + Clone + 'static, O: StepRecorder> UnitOfWork<S, O> {
    /// Commits a unit with copies, and repeats after a conflict on a related row. A conflict on an entity of the unit is an error.
    pub(super) async fn commit_completed(&self) -> Result<Vec<Option<ETag>>> {
        let mut rounds = self.rounds("the copies of the entities").replan_rows(true).look(true);
        let (most, own) = (self.store.capabilities().limits.operations, self.acts.len());
        let mut together = true;
        loop {
            let batch = match self.completed(together).await {
                Err(error) if is_moved(&error) => {
                    rounds.lost(error).await?;
                    continue;
                }
                completed => completed?,
            };
            let has_others = batch.entities().len() > own;
            if has_others && batch.operations() > most {
                together = false;
                continue;
            }
            match rounds.submit(&self.site(), &batch, own).await {
                Ok(Some(etags)) => return Ok(etags),
                Ok(None) => {}
                Err(error) if has_others && is_too_large(&error) => together = false,
                Err(error) => return Err(error),
            }
        }
    }

    /// Builds the batch with all copies. The entities of the unit come first.
    async fn completed(&self, together: bool) -> Result<Batch> {
        let Some(Completion { base, parts }) = &self.completion else { return Ok(self.batch.clone()) };
        let mut siblings = Siblings::default();
        base.entities().iter().for_each(|known| siblings.add(&known.row_key, &known.kind, false));
        for part in parts {
            if let Part::Write(plan, complete) = part {
                siblings.add(&plan.key.row_key, &plan.kind, complete.is_some());
            }
        }
        let siblings = Arc::new(siblings);
        let mut batch = base.clone();
        let mut others = Vec::<EntityPlan>::new();
        for part in parts {
            match part {
                Part::Write(plan, None) => batch.push(EntityPlan::clone(plan))?,
                Part::Write(plan, Some(complete)) => {
                    let completed = complete(plan.kind.clone(), together, Arc::clone(&siblings)).await?;
                    batch.push(completed.own)?;
                    others.extend(completed.others);
                }
                Part::Rows(rows) => batch.add_rows(rows.clone(), None)?,
                Part::Step(source, step) => batch.add_step(source, step.clone(), None)?,
            }
        }
        let mut rows: HashSet<RowKey> = batch.entities().iter().map(|known| known.row_key.clone()).collect();
        rows.extend(batch.rows().keys().cloned());
        if together && !others.iter().all(|other| rows.insert(other.key.row_key.clone())) {
            // The unit contains two sources of the holder, or a condition on the holder. A worker updates the holder later.
            return Box::pin(self.completed(false)).await;
        }
        others.into_iter().try_for_each(|other| batch.push(other))?;
        Ok::<_, Error>(batch)
    }
}
