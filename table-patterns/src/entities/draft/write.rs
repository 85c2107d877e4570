//! The planned write of one entity, and its completion by a contributor that reads other entities.

use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use table_core::Result;
use table_core::entity::Entity;
use table_core::key::EntityKey;
use table_core::operation::OperationKind;
use table_core::row::Row;
use table_core::store::TableStore;

use crate::entities::contributor::{Completed, Contribution, EntityChange, PendingWrite, WriteContext};
use crate::entities::fault::undecided;
use crate::entities::handle::Entities;
use crate::entities::outbox::StepRecorder;
use crate::entities::plan::EntityPlan;
use crate::entities::siblings::Siblings;

/// A handle that completes the writes of its entities.
pub(crate) trait Completes: Send + Sync {
    /// Returns the entity's completed plan, and plans for other entities to be written in the same transaction.
    fn complete(&self, pending: PendingWrite) -> BoxFuture<'_, Result<(EntityPlan, Vec<EntityPlan>)>>;
}

/// One entity's planned write.
#[derive(Clone)]
pub(crate) struct EntityWrite<'a> {
    pub(super) plan: EntityPlan,
    /// The arguments for completing the write, or `None` if no contributor reads other entities.
    pub(super) completion: Option<Completion<'a>>,
}

/// The arguments for completing a write.
#[derive(Clone)]
pub(super) struct Completion<'a> {
    pub(super) by: Arc<dyn Completes + 'a>,
    /// The stored properties. For a replace, they include at least the declared properties; for other writes, all properties.
    stored: Option<Row>,
    context: WriteContext,
}

impl<E: Entity, S: TableStore, O: StepRecorder> Entities<E, S, O> {
    /// Plans the write that changes an entity from `old` to `new`. If all stored properties have been read, `old` includes them.
    ///
    /// # Errors
    /// Any error from the contributors.
    pub(crate) fn plan(
        &self,
        key: EntityKey,
        kind: OperationKind,
        old: Option<(&E, Option<&Row>)>,
        new: Option<&E>,
    ) -> Result<EntityWrite<'_>> {
        self.plan_by(|| Arc::new(self), &self.context, (key, kind), old, new)
    }

    /// Plans an entity's write within a unit of work, with the unit's context. `by` returns the handle that completes the write.
    ///
    /// # Errors
    /// Any error from the contributors.
    pub(crate) fn plan_by<'a>(
        &self,
        by: impl FnOnce() -> Arc<dyn Completes + 'a>,
        context: &WriteContext,
        (key, kind): (EntityKey, OperationKind),
        old: Option<(&E, Option<&Row>)>,
        new: Option<&E>,
    ) -> Result<EntityWrite<'a>> {
        let completion = if self.completer().is_some() {
            let stored = match old {
                None => None,
                Some((_, Some(stored))) => Some(stored.clone()),
                // Completing a merge turns it into a replace, which must contain all stored properties.
                Some((_, None)) if matches!(kind, OperationKind::Merge(..)) => return Err(undecided()),
                Some((old, None)) => Some(old.to_row()?),
            };
            Some(Completion { by: by(), stored, context: context.clone() })
        } else {
            None
        };
        let plan = self.contributed(context, (key, kind), old, new, true)?;
        Ok(EntityWrite { plan, completion })
    }

    /// Returns a plan that is used only to estimate a transaction's size. If `is_planned_again` is `true`, the write will be planned again from the stored
    /// entity. In that case, this plan omits rows from contributors that may refuse the write.
    ///
    /// # Errors
    /// Any error from the contributors.
    pub(crate) fn estimate(
        &self,
        key: EntityKey,
        kind: OperationKind,
        new: Option<&E>,
        is_planned_again: bool,
    ) -> Result<EntityPlan> {
        self.contributed(&self.context, (key, kind), None, new, !is_planned_again)
    }

    fn contributed(
        &self,
        context: &WriteContext,
        (key, kind): (EntityKey, OperationKind),
        old: Option<(&E, Option<&Row>)>,
        new: Option<&E>,
        asks_all: bool,
    ) -> Result<EntityPlan> {
        let (pace, limits) = (self.retry.runtime(), &self.table.store().capabilities().limits);
        let (mut out, watch) = (Contribution::default(), &self.table.schema_watch());
        let (old, stored) = old.unzip();
        let stored = stored.flatten();
        let change = EntityChange { key: &key, kind: &kind, old, new, stored, context, pace, limits, watch };
        let mut asked = self.contributors.iter().filter(|by| asks_all || by.is_estimated());
        let contributed = asked.try_for_each(|contributor| contributor.contribute(&change, &mut out));
        match contributed {
            Ok(()) => Ok(out.into_plan(key, kind)),
            Err(error) if error.key().is_some() => Err(error),
            Err(error) => Err(error.with_key(key.partition_key.as_str(), key.row_key.as_str())),
        }
    }
}

impl<E: Entity, S: TableStore, O: StepRecorder> Completes for Entities<E, S, O> {
    fn complete(&self, pending: PendingWrite) -> BoxFuture<'_, Result<(EntityPlan, Vec<EntityPlan>)>> {
        let (key, context, stored) = (pending.key.clone(), pending.context.clone(), pending.stored.clone());
        async move {
            let completion = self.completer().and_then(|completer| completer.complete(self, pending));
            let Completed { kind, old, new, more, others } = completion.ok_or_else(undecided)?.await?;
            let old = old.as_ref().map(|old| (old, stored.as_ref()));
            let mut own = self.contributed(&context, (key, kind), old, new.as_ref(), true)?;
            own.rows.extend(more.rows);
            own.derived_steps.extend(more.derived_steps);
            Ok((own, others))
        }
        .boxed()
    }
}

impl<T: Completes + ?Sized> Completes for &T {
    fn complete(&self, pending: PendingWrite) -> BoxFuture<'_, Result<(EntityPlan, Vec<EntityPlan>)>> {
        (**self).complete(pending)
    }
}

impl EntityWrite<'_> {
    /// Creates a write that no contributor completes, such as a condition on an entity, or a row written without a handle.
    pub(crate) const fn without_contributors(plan: EntityPlan) -> Self {
        Self { plan, completion: None }
    }

    /// Returns the entity's key.
    pub(crate) const fn key(&self) -> &EntityKey {
        &self.plan.key
    }

    /// Marks the write as identified. If a response is lost, the store can then recognise a retry of the write, provided that the transaction contains no other
    /// write.
    pub(crate) fn identified(self) -> Self {
        Self { plan: EntityPlan { identified: true, ..self.plan }, ..self }
    }

    /// Sets whether the write removes properties unknown to this program.
    pub(crate) fn whole(self, is_whole: bool) -> Self {
        Self { plan: EntityPlan { is_whole, ..self.plan }, ..self }
    }

    /// Returns the arguments for completing this write. `together` is `true` if the same transaction may write other entities.
    pub(super) fn pending(
        &self,
        completion: &Completion<'_>,
        together: bool,
        siblings: &Arc<Siblings>,
    ) -> PendingWrite {
        PendingWrite {
            key: self.plan.key.clone(),
            kind: self.plan.kind.clone(),
            stored: completion.stored.clone(),
            together,
            siblings: Arc::clone(siblings),
            context: completion.context.clone(),
        }
    }
}
