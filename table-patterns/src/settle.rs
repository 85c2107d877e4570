//! Settling of recorded changes: entries of indexes and copies in other partitions follow their entity (PAT-INTER-3).

use table_core::entity::Entity;
use table_core::error::{Error, Result};
use table_core::store::TableStore;

use crate::denormal::Copies;
use crate::entities::{Entities, StepRecorder};
use crate::index::fault::IndexFault;
use crate::index::{Derived, RemoteChange};
use crate::work::handler::Delivery;

impl<E: Entity, S: TableStore + 'static, O: StepRecorder> Entities<E, S, O> {
    /// Brings what follows from an entity in another partition or table, an entry of an index or copies, in line with the entity as it is now; gives how
    /// many rows that took. To be called at least once for each recorded change; that it is called again does no harm.
    ///
    /// Why it converges: see `docs/convergence.md`. Where it is not known which change of an index was later, as here, the guard of each
    /// key is read before the entity and written with the entry, so that of two that settle one key the one with the older entity in mind
    /// fails; a worker also knows the number of the change, by which an old answer of the store is recognised.
    ///
    /// # Errors
    /// `UniqueViolation` if another entity has the value, which no transaction could prevent between partitions: the change
    /// stays recorded for a person to decide (PAT-EC-4); `IndexListFull` (PAT-IX-4); those of the store.
    pub async fn settle(&self, change: &RemoteChange) -> Result<usize> {
        self.settle_recorded(change, None).await
    }

    /// The same as the work of a call.
    pub(crate) async fn settle_recorded(
        &self,
        change: &RemoteChange,
        call: Option<Delivery<'_>>,
    ) -> Result<usize> {
        if let Derived::Index(index) = &change.of {
            let is_genuine = call.is_none_or(|call| call.is_genuine);
            // IMPORTANT: the version of a record of a foreign writer may be any number, and is noted in no guard.
            let generation = call.filter(|_| is_genuine).and_then(|call| call.version);
            return self.settle_index(index, change, (generation, is_genuine)).await;
        }
        match self.contributor::<Copies<E, Self>>() {
            Some(copies) => copies.0.settle(self, change, call).await,
            None => Err(self.here(Error::of(IndexFault::NoRelation(E::SCHEMA.entity)), &change.owner)),
        }
    }
}
