//! Settling copies on demand, and the workers that take the steps of them.

use futures_util::future::BoxFuture;
use table_core::entity::Entity;
use table_core::error::Result;
use table_core::key::EntityKey;
use table_core::queue::QueueStore;
use table_core::selection::{Point, Selection};
use table_core::store::TableStore;

use crate::denormal::relations::{Copying, Relations};
use crate::denormal::steps::{Left, holder_step, source_step};
use crate::index::{Entities, IndexOutbox};
use crate::outbox::Outbox;
use crate::work::Worker;
use crate::work::handler::{Call, Take};

impl<E: Entity, S: TableStore + 'static, O: IndexOutbox> Entities<E, S, O> {
    /// Brings copies in agreement with what is there now: those that an entity holds, with its references, and those that it gives, also where it is gone;
    /// how many entities were written. That it is called again does no harm.
    ///
    /// Workers call it; a program does where another tool wrote the entity.
    ///
    /// # Errors
    /// `Unsupported` if a holder has copies by a relation that is not registered; `UpdateConditionNotSatisfied` if a holder changed
    /// during all attempts; those of the store. What was written stays, and another call goes on.
    pub async fn settle_copies(&self, key: Selection<E, Point>) -> Result<usize> {
        let key = key.into_key()?;
        let Some(copying) = Copying::of(self) else { return Ok(0) };
        let Relations { gives, holds } = copying.relations;
        let held = !holds.is_empty() && copying.align(&key, Left::default()).await?;
        let given = if gives.is_empty() { 0 } else { copying.spread(&key, None).await? };
        Ok(usize::from(held) + given)
    }
}

struct Given<E, S, O>(Entities<E, S, O>);

impl<E: Entity + Send + Sync, S: TableStore + 'static, O: IndexOutbox> Take for Given<E, S, O> {
    fn take<'a>(&'a self, call: Call<'a>) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let Some(copying) = Copying::of(&self.0) else { return Ok(()) };
            copying.spread(&key_of(&call), Some(call)).await.map(drop)
        })
    }
}

struct Held<H, S, O>(Entities<H, S, O>);

impl<H: Entity + Send + Sync, S: TableStore + 'static, O: IndexOutbox> Take for Held<H, S, O> {
    fn take<'a>(&'a self, call: Call<'a>) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let left = Left::parse(call.payload)?;
            let Some(copying) = Copying::of(&self.0) else { return Ok(()) };
            copying.align(&key_of(&call), left).await.map(drop)
        })
    }
}

fn key_of(call: &Call<'_>) -> EntityKey {
    EntityKey { partition_key: call.partition_key.clone(), row_key: call.source.clone() }
}

impl<S: TableStore + Clone + 'static, Q: QueueStore + 'static> Worker<S, Q> {
    /// Takes changes of these entities to those that hold copies of them, and brings them in line with what they hold copies of, as the outbox recorded it: see
    /// [the pattern](crate::denormal).
    #[must_use]
    pub fn settles_copies<E: Entity + Send + Sync>(
        mut self,
        entities: &Entities<E, S, Outbox<S, Q>>,
    ) -> Self {
        let Some(Copying { relations, .. }) = Copying::of(entities) else { return self };
        if !relations.gives.is_empty() {
            self = self.takes(source_step::<E>(), Given(entities.clone()));
        }
        if !relations.holds.is_empty() {
            self = self.takes(holder_step::<E>(), Held(entities.clone()));
        }
        self
    }
}
