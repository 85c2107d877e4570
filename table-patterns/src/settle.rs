//! Settles recorded changes. Makes remote index entries and copies consistent with their entities (PAT-INTER-3).

use table_core::entity::Entity;
use table_core::store::TableStore;
use table_core::{Error, Result};

use crate::copies::Copies;
use crate::entities::{Entities, StepRecorder};
use crate::index::fault::IndexFault;
use crate::index::{Derived, RemoteChange};
use crate::work::handler::Delivery;

impl<E: Entity, S: TableStore + 'static, O: StepRecorder> Entities<E, S, O> {
    /// Makes the index entries or copies of an entity in other partitions or tables consistent with its current state. Returns the number of written rows. This
    /// function is idempotent. Call it at least once for each recorded change.
    ///
    /// The order of two changes to an index is not known here. Therefore, each index key has a guard: a row that every write to the key's entry changes. The
    /// guard is read before the entity, and written together with the entry. If two calls settle the same key, the call that read the older entity fails. A
    /// worker also knows the version of the change, so it can detect stale reads. `docs/convergence.md` proves convergence.
    ///
    /// # Errors
    /// - `UniqueViolation` if another entity has the same unique value. The write could not prevent this, because no transaction spans partitions. The change
    ///   remains recorded, and must be resolved manually (PAT-EC-4).
    /// - `IndexListFull` if a list has reached its maximum size (PAT-IX-4).
    /// - `SchemaMismatch` if this program must not write; any error from the store.
    pub async fn settle(&self, change: &RemoteChange) -> Result<usize> {
        self.settle_recorded(change, None).await
    }

    /// Settles a recorded change on behalf of the worker that received it.
    pub(crate) async fn settle_recorded(
        &self,
        change: &RemoteChange,
        call: Option<Delivery<'_>>,
    ) -> Result<usize> {
        if let Derived::Index(index) = &change.of {
            let is_genuine = call.is_none_or(|call| call.is_genuine);
            // IMPORTANT: a version that another program has recorded cannot be trusted, so it is not stored in a guard.
            let generation = call.filter(|_| is_genuine).and_then(|call| call.version);
            return self.settle_index(index, change, (generation, is_genuine)).await;
        }
        match self.contributor::<Copies<E, Self>>() {
            Some(copies) => copies.0.settle(self, change, call).await,
            None => Err(self.here(Error::of(IndexFault::NoRelation(E::SCHEMA.entity)), &change.owner)),
        }
    }
}
