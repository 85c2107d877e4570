//! All relations of an entity, as its handle keeps them.

use std::any::Any;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use table_core::Table;
use table_core::entity::Entity;
use table_core::error::Result;
use table_core::row::Row;
use table_core::store::TableStore;

use crate::denormal::admission::Given;
use crate::denormal::declared::Declared;
use crate::denormal::relation::Incoming;
use crate::index::{Asked, Entities, IndexOutbox, Keeper, Kept, KeptWrite, RemoteChange, read_as};
use crate::work::Delivery;

/// The relations by which others hold copies of entities, and those by which they hold copies of others.
pub(super) struct Relations<E: 'static, S> {
    declared: &'static Declared<E>,
    pub(super) gives: Vec<Given<E, S>>,
    pub(super) holds: &'static [Incoming<E>],
}

impl<E, S: TableStore + Clone> Relations<E, S> {
    fn of(declared: &'static Declared<E>, table: &Table<E, S>) -> Self {
        let gives = declared.gives.iter().map(|relation| Given::of(relation, table)).collect();
        Self { declared, gives, holds: declared.holds }
    }
}

/// A handle with its relations.
pub(super) struct Copying<'a, E: 'static, S, O> {
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
    S: TableStore + Clone + 'static,
    O: IndexOutbox,
{
    fn keep<'a>(&'a self, handle: &'a Entities<E, S, O>, asked: Asked) -> BoxFuture<'a, Result<KeptWrite>> {
        Box::pin(async move { Copying { handle, relations: self }.keep(asked).await })
    }

    fn settle<'a>(
        &'a self,
        handle: &'a Entities<E, S, O>,
        change: &'a RemoteChange,
        call: Option<Delivery<'a>>,
    ) -> BoxFuture<'a, Result<usize>> {
        Box::pin(async move { Copying { handle, relations: self }.settle(change, call).await })
    }

    fn opened(&self, handle: &Entities<E, S, O>) -> Arc<dyn Keeper<E, Entities<E, S, O>>> {
        Arc::new(Self::of(self.declared, &handle.table))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl<E: Entity, S: TableStore + Clone, O: IndexOutbox> Copying<'_, E, S, O> {
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

/// A handle that keeps the copies which the struct of its entities declares.
pub(crate) fn keeping<E, S, O>(handle: Entities<E, S, O>) -> Entities<E, S, O>
where
    E: Entity + Send + Sync,
    S: TableStore + Clone + 'static,
    O: IndexOutbox,
{
    // Known while it is compiled: what keeps copies is then not compiled at all for entities without any, a third of all that is compiled for
    // an entity.
    if const { E::RELATIONS.is_none() } {
        return handle;
    }
    let Some(declared) = Declared::find() else { return handle };
    Entities { keeper: Some(Arc::new(Relations::of(declared, &handle.table))), ..handle }
}
