//! The write-path contributor for entities with relations. It adds the writes of references and holders to each entity write.

use std::any::Any;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use table_core::Result;
use table_core::entity::Entity;
use table_core::key::EntityKey;
use table_core::name::TableName;
use table_core::row::Row;
use table_core::store::TableStore;

use crate::copies::chain;
use crate::copies::declared::Declared;
use crate::copies::plan::{CopyPlan, HolderContext};
use crate::copies::reference::{self, Reference};
use crate::entities::{
    Completed, Contribution, Contributor, Entities, EntityChange, PendingWrite, REFERENCES, ReservedRows,
    StepRecorder, WriteContext, read_as,
};
use crate::index::{RemoteChange, relay};
use crate::work::Delivery;

/// Settles copies (updates them to match their sources) through handles of type `H`. Used as a trait object, so the implementation is compiled only for
/// entities with relations.
pub(crate) trait SettleCopies<E, H>: Send + Sync {
    /// Settles the copies affected by a recorded change. Returns the number of entities written.
    fn settle<'a>(
        &'static self,
        handle: &'a H,
        change: &'a RemoteChange,
        call: Option<Delivery<'a>>,
    ) -> BoxFuture<'a, Result<usize>>;

    /// Completes a pending entity write: sets the copies, and adds the writes for the entity's references and holders.
    fn complete<'a>(
        &'static self,
        handle: &'a H,
        pending: PendingWrite,
    ) -> BoxFuture<'a, Result<Completed<E>>>;

    /// Returns the sources whose values an entity copies, each with the name of the relation.
    fn sources(&self, entity: &E) -> Result<Vec<(&'static str, EntityKey)>>;

    /// Returns the table and the key of a holder's reference. `of` contains the holder and its source. Returns `None` for an unknown relation.
    fn reference(
        &self,
        handle: &H,
        relation: &str,
        of: (&EntityKey, &EntityKey),
    ) -> Result<Option<(TableName, EntityKey)>>;
}

/// The contributor for entities of type `E`. Through a handle of type `H`, it maintains the copies of these entities, and the copies they hold.
pub(crate) struct Copies<E: 'static, H: 'static>(pub(crate) &'static dyn SettleCopies<E, H>);

impl<E: 'static, H: 'static> Contributor<E, H> for Copies<E, H> {
    fn contribute(&self, _: &EntityChange<'_, E>, _: &mut Contribution) -> Result<()> {
        Ok(())
    }

    fn reads_others(&self) -> bool {
        true
    }

    fn complete<'a>(
        &'a self,
        handle: &'a H,
        pending: PendingWrite,
    ) -> Option<BoxFuture<'a, Result<Completed<E>>>> {
        Some(self.0.complete(handle, pending))
    }

    fn reserved(&self) -> Option<ReservedRows> {
        Some(reference::RESERVED)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// A handle with the relations of its entity type.
pub(super) struct Copying<'a, E: 'static, S, O> {
    pub(super) handle: &'a Entities<E, S, O>,
    pub(super) relations: &'static Declared<E>,
}

impl<'a, E: Entity, S: 'static, O: 'static> Copying<'a, E, S, O> {
    /// Returns the handle with its relations, or `None` if the entity type has no relations.
    pub(super) fn of(handle: &'a Entities<E, S, O>) -> Option<Self> {
        handle.contributor::<Copies<E, Entities<E, S, O>>>()?;
        Some(Self { handle, relations: Declared::find()? })
    }
}

impl<E, S, O> SettleCopies<E, Entities<E, S, O>> for Declared<E>
where
    E: Entity + Send + Sync,
    S: TableStore + Clone + 'static,
    O: StepRecorder,
{
    fn settle<'a>(
        &'static self,
        handle: &'a Entities<E, S, O>,
        change: &'a RemoteChange,
        call: Option<Delivery<'a>>,
    ) -> BoxFuture<'a, Result<usize>> {
        async move { Copying { handle, relations: self }.settle(change, call).await }.boxed()
    }

    fn complete<'a>(
        &'static self,
        handle: &'a Entities<E, S, O>,
        pending: PendingWrite,
    ) -> BoxFuture<'a, Result<Completed<E>>> {
        async move { Copying { handle, relations: self }.complete(pending).await }.boxed()
    }

    fn sources(&self, entity: &E) -> Result<Vec<(&'static str, EntityKey)>> {
        let sources = self.holds.iter().filter_map(|held| {
            let source = (held.reference)(entity).transpose()?;
            Some(source.map(|source| (held.relation.name, source)))
        });
        sources.collect()
    }

    fn reference(
        &self,
        handle: &Entities<E, S, O>,
        relation: &str,
        (holder, source): (&EntityKey, &EntityKey),
    ) -> Result<Option<(TableName, EntityKey)>> {
        let Some(held) = self.holds.iter().find(|held| held.relation.name == relation) else {
            return Ok(None);
        };
        let holder_table = handle.table.name()?.clone();
        let reference = Reference { relation: relation.to_owned(), holder_table, holder: holder.clone() };
        Ok(Some((held.relation.source_table()?, reference.key(source)?)))
    }
}

impl<E: Entity, S: TableStore + Clone + 'static, O: StepRecorder> Copying<'_, E, S, O> {
    /// Completes a pending entity write: sets the entity's copied properties, and adds the writes for its references and holders.
    async fn complete(&self, pending: PendingWrite) -> Result<Completed<E>> {
        let mut kept = CopyPlan::of(&pending)?;
        let PendingWrite { key, kind, stored, .. } = pending;
        let handle = self.handle;
        // The write is checked before a reference is written in another partition.
        handle.admit(false).await?;
        let read = |row: &Row| read_as::<E>(&key, row).map_err(|error| handle.here(error, &key));
        let old = stored.as_ref().map(read).transpose()?;
        let given = kept.new.clone().filter(|_| kept.siblings.has_others(&key.row_key));
        self.hold(&key, old.as_ref(), &mut kept).await.map_err(|error| handle.in_table(error))?;
        self.give(&key, old.as_ref(), &mut kept).await.map_err(|error| handle.in_table(error))?;
        let new = kept.new.as_ref().map(read).transpose()?;
        // Holders in the same unit of work copied this entity's values before its own copied properties were set, so a worker updates these holders.
        if let (Some(given), Some(new)) = (given, &new) {
            kept.remote.extend(chain::passed_on(&key, (&read(&given)?, new), &[]));
        }
        let (kind, mut more) = (kept.operation(kind), Contribution::default());
        kept.rows.into_iter().for_each(|row| more.write(REFERENCES, row));
        more.derived_steps.extend(kept.remote.iter().map(|change| relay::step_of(E::SCHEMA, change)));
        Ok(Completed { kind, old, new, more, others: kept.others })
    }
}

/// Returns the context for writing holders (entities that hold copies) with this handle. `context` is the context of the source's write. `path` contains the
/// entities that have propagated the change; the last one is the holders' source.
pub(super) fn holder_context<'a, E: Entity, S: TableStore, O>(
    handle: &'a Entities<E, S, O>,
    context: &'a WriteContext,
    path: &'a [EntityKey],
) -> HolderContext<'a> {
    HolderContext {
        attached: handle.table.store().attached(),
        blobs: handle.list_blobs(),
        pace: handle.retry.runtime(),
        context,
        limits: &handle.table.store().capabilities().limits,
        watch: handle.table.schema_watch(),
        path,
    }
}

/// Adds the relations declared by the entity's struct, if any, to the handle.
pub(crate) fn keeping<E, S, O>(handle: Entities<E, S, O>) -> Entities<E, S, O>
where
    E: Entity + Send + Sync,
    S: TableStore + Clone + 'static,
    O: StepRecorder,
{
    // Decided at compile time: the code for copies is a third of an entity's code, and is omitted for entities without copies.
    if const { E::RELATIONS.is_none() } {
        return handle;
    }
    let Some(declared) = Declared::find() else { return handle };
    handle.with_contributor(Copies(declared))
}
