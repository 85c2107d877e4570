//! All relations of an entity, as its handle keeps them.

use std::any::Any;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use table_core::entity::Entity;
use table_core::error::Result;
use table_core::queue::QueueStore;
use table_core::row::Row;
use table_core::store::TableStore;

use crate::denormal::Denormal;
use crate::denormal::admission::Given;
use crate::denormal::relation::Incoming;
use crate::index::{Asked, Entities, IndexOutbox, Keeper, Kept, KeptWrite, RemoteChange, read_as};
use crate::outbox::Outbox;
use crate::work::Call;

/// The relations by which others hold copies of entities, and those by which they hold copies of others.
pub(super) struct Relations<E, S> {
    pub(super) gives: Vec<Given<E, S>>,
    pub(super) holds: Vec<Incoming<E>>,
}

impl<E, S> Clone for Relations<E, S> {
    fn clone(&self) -> Self {
        Self { gives: self.gives.clone(), holds: self.holds.clone() }
    }
}

/// A handle with its relations.
pub(super) struct Copying<'a, E, S, O> {
    pub(super) handle: &'a Entities<E, S, O>,
    pub(super) relations: &'a Relations<E, S>,
}

impl<'a, E, S: 'static, O> Copying<'a, E, S, O>
where
    E: Entity,
{
    /// The relations of a handle, if it has any.
    pub(super) fn of(handle: &'a Entities<E, S, O>) -> Option<Self> {
        let relations = handle.keeper.as_ref()?.as_any().downcast_ref()?;
        Some(Self { handle, relations })
    }
}

impl<E, S, O> Keeper<E, Entities<E, S, O>> for Relations<E, S>
where
    E: Entity + Send + Sync,
    S: TableStore + 'static,
    O: IndexOutbox,
{
    fn keep<'a>(&'a self, handle: &'a Entities<E, S, O>, asked: Asked) -> BoxFuture<'a, Result<KeptWrite>> {
        Box::pin(async move { Copying { handle, relations: self }.keep(asked).await })
    }

    fn settle<'a>(
        &'a self,
        handle: &'a Entities<E, S, O>,
        change: &'a RemoteChange,
        call: Option<Call<'a>>,
    ) -> BoxFuture<'a, Result<usize>> {
        Box::pin(async move { Copying { handle, relations: self }.settle(change, call).await })
    }

    fn opened(&self, handle: &Entities<E, S, O>) -> Arc<dyn Keeper<E, Entities<E, S, O>>> {
        let gives = self.gives.iter().map(|given| given.beside(&handle.table)).collect();
        Arc::new(Self { gives, holds: self.holds.clone() })
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl<E: Entity, S: TableStore, O: IndexOutbox> Copying<'_, E, S, O> {
    /// The write of an entity with the copies that it holds, and those that it gives.
    async fn keep(&self, asked: Asked) -> Result<KeptWrite> {
        let mut kept = Kept::of(&asked)?;
        let Asked { key, kind, stored, .. } = asked;
        let handle = self.handle;
        // Before a reference is written in another partition.
        handle.admit(false).await?;
        let read = |row: &Row| read_as::<E>(&key, row).map_err(|error| handle.here(error, &key));
        let old = stored.as_ref().map(read).transpose()?;
        self.hold(&key, old.as_ref(), &mut kept).await.map_err(|error| handle.in_table(error))?;
        self.give(&key, old.as_ref(), &mut kept).await.map_err(|error| handle.in_table(error))?;
        let new = kept.new.as_ref().map(read).transpose()?;
        let mut own = handle.write_of(key.clone(), kept.operation(kind), old.as_ref(), new.as_ref())?;
        own.beside.extend(kept.rows);
        own.remote.extend(kept.remote);
        Ok(KeptWrite { own, others: kept.others, row: kept.new })
    }
}

impl<E: Entity + Send + Sync, S: TableStore + Clone + 'static, Q: QueueStore + 'static>
    Entities<E, S, Outbox<S, Q>>
{
    /// The same with a relation by which others hold copies of these entities: see [the pattern](crate::denormal). All are to be registered. Which holders
    /// a change writes is known from their references; how, from here.
    #[must_use]
    pub fn gives<D: Denormal<Source = E>>(self) -> Self {
        let given = Given::of::<D>(&self.table);
        self.relating(|relations| relations.gives.push(given))
    }

    /// The same with a relation by which these entities hold copies of others: see [the pattern](crate::denormal). All are to be registered.
    #[must_use]
    pub fn holds<D: Denormal<Holder = E>>(self) -> Self {
        self.relating(|relations| relations.holds.push(Incoming::of::<D>()))
    }

    fn relating(self, add: impl FnOnce(&mut Relations<E, S>)) -> Self {
        let known = Copying::of(&self).map(|copying| copying.relations.clone());
        let mut relations = known.unwrap_or_else(|| Relations { gives: Vec::new(), holds: Vec::new() });
        add(&mut relations);
        Self { keeper: Some(Arc::new(relations)), ..self }
    }
}
