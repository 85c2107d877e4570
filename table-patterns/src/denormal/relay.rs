//! The workers that take the steps of copies.

use futures_util::future::BoxFuture;
use table_core::entity::Entity;
use table_core::error::Result;
use table_core::key::EntityKey;
use table_core::queue::QueueStore;
use table_core::store::TableStore;

use crate::denormal::holder::HolderTable;
use crate::denormal::source::SourceTable;
use crate::denormal::steps::{Left, holder_step, source_step};
use crate::work::Worker;
use crate::work::handler::{Call, Take};

struct OfSource<E, S, Q>(SourceTable<E, S, Q>);

impl<E: Entity + Send + Sync, S: TableStore, Q: QueueStore> Take for OfSource<E, S, Q> {
    fn take<'a>(&'a self, call: Call<'a>) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move { self.0.spread(&key_of(&call), Some(call)).await.map(drop) })
    }
}

struct OfHolder<H, S, Q>(HolderTable<H, S, Q>);

impl<H: Entity + Send + Sync, S: TableStore, Q: QueueStore> Take for OfHolder<H, S, Q> {
    fn take<'a>(&'a self, call: Call<'a>) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let left = Left::parse(call.payload)?;
            self.0.align(&key_of(&call), left).await.map(drop)
        })
    }
}

fn key_of(call: &Call<'_>) -> EntityKey {
    EntityKey { partition_key: call.partition_key.clone(), row_key: call.source.clone() }
}

impl<S: TableStore + Clone + 'static, Q: QueueStore + 'static> Worker<S, Q> {
    /// Takes changes of these sources to their holders, as the outbox recorded them: see [the pattern](crate::denormal).
    #[must_use]
    pub fn propagates<E: Entity + Send + Sync>(self, sources: &SourceTable<E, S, Q>) -> Self {
        self.takes(source_step::<E>(), OfSource(sources.clone()))
    }

    /// Brings these holders in line with sources of other partitions that they have taken up or left: see
    /// [the pattern](crate::denormal).
    #[must_use]
    pub fn settles_copies<H: Entity + Send + Sync>(self, holders: &HolderTable<H, S, Q>) -> Self {
        self.takes(holder_step::<H>(), OfHolder(holders.clone()))
    }
}
