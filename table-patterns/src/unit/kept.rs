//! Units with entities that give or hold copies: what follows is read when they are committed, and again where that changed.

use std::collections::HashSet;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use table_core::entity::Entity;
use table_core::error::Result;
use table_core::etag::ETag;
use table_core::key::{EntityKey, RowKey};
use table_core::operation::OperationKind;
use table_core::store::TableStore;

use crate::index::{
    Asked, Batch, Beside, Entities, InUnit, IndexOutbox, KeptWrite, Other, is_moved, is_too_much,
};
use crate::outbox::Step;
use crate::unit::Unit;

/// Completes the write of an entity by its copies; whether others may be written with it, and the entities of the unit.
pub(super) type Keep =
    Arc<dyn Fn(OperationKind, bool, Arc<InUnit>) -> BoxFuture<'static, Result<KeptWrite>> + Send + Sync>;

/// What was added to a unit.
pub(super) enum Part {
    Write(Other, Option<Keep>),
    Row(Beside),
    Step(RowKey, Step),
}

impl Part {
    pub(super) const fn keeps(&self) -> bool {
        matches!(self, Self::Write(_, Some(_)))
    }
}

/// How the write of an entity is completed, if it has copies.
pub(super) fn keep<E, S, O>(
    handle: &Entities<E, S, O>,
    key: &EntityKey,
    old: Option<&E>,
) -> Result<Option<Keep>>
where
    E: Entity,
    S: TableStore + Clone + 'static,
    O: IndexOutbox + 'static,
{
    let Some(keeper) = handle.keeper.clone() else { return Ok(None) };
    let (handle, key) = (handle.clone(), key.clone());
    let stored = old.map(Entity::to_row).transpose()?;
    Ok(Some(Arc::new(move |kind, together, unit| {
        let (handle, keeper) = (handle.clone(), keeper.clone());
        let (key, stored) = (key.clone(), stored.clone());
        let asked = Asked { key, kind, stored, together, unit };
        Box::pin(async move { keeper.keep(&handle, asked).await })
    })))
}

impl<S: TableStore + Clone + 'static, O: IndexOutbox + 'static> Unit<S, O> {
    /// Commits the unit with its copies; again where what was read for them has changed. Where an entity of the unit has, it fails.
    pub(super) async fn commit_kept(&self) -> Result<Vec<Option<ETag>>> {
        let mut race = self.road.retry.race("the copies of the entities");
        let most = self.road.store.capabilities().limits.operations;
        let mut together = true;
        loop {
            let batch = match self.completed(together).await {
                Err(error) if is_moved(&error) => {
                    race.lost(error).await?;
                    continue;
                }
                completed => completed?,
            };
            let own = self.acts.len();
            let has_others = batch.entities.len() > own;
            if has_others && batch.operations() > most {
                together = false;
                continue;
            }
            match self.road.commit(&self.table, &batch, self.look || !batch.copies.is_empty()).await {
                Err(error) if error.is_conflict() && error.operation().is_none_or(|at| at >= own) => {
                    race.lost(error).await?;
                }
                Err(error) if has_others && is_too_much(&error) => together = false,
                outcome => return outcome,
            }
        }
    }

    /// The batch with all that copies add: entities of the unit first.
    async fn completed(&self, together: bool) -> Result<Batch> {
        let mut unit = InUnit::default();
        for part in &self.parts {
            if let Part::Write(own, keep) = part {
                unit.add(&own.write.key.row_key, &own.write.kind, keep.is_some());
            }
        }
        let unit = Arc::new(unit);
        let mut batch = Batch::new(self.batch.partition_key.clone());
        let mut others = Vec::<Other>::new();
        for part in &self.parts {
            match part {
                Part::Write(own, None) => (own.push)(&mut batch, own.write.clone())?,
                Part::Write(own, Some(keep)) => {
                    let kept = keep(own.write.kind.clone(), together, Arc::clone(&unit)).await?;
                    (own.push)(&mut batch, kept.own)?;
                    others.extend(kept.others);
                }
                Part::Row(row) => batch.add(row.clone())?,
                Part::Step(source, step) => batch.intend(source, vec![step.clone()]),
            }
        }
        let beside = batch.beside.iter().map(|beside| &beside.operation);
        let mut rows: HashSet<_> =
            batch.entities.iter().chain(beside).map(|operation| operation.row_key.clone()).collect();
        if together && !others.iter().all(|other| rows.insert(other.write.key.row_key.clone())) {
            // A holder of two sources of the unit, or one that it has a condition on, as on a source of another: a worker follows.
            return Box::pin(self.completed(false)).await;
        }
        others.into_iter().try_for_each(|other| other.push(&mut batch))?;
        Ok(batch)
    }
}
