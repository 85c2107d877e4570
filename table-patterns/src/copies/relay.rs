//! Settles copies (makes them equal to their sources), on demand or for a change recorded in the outbox.

use table_core::entity::Entity;
use table_core::selection::{Point, Selection};
use table_core::store::TableStore;
use table_core::{Error, Result};

use crate::copies::fault::CopyFault;
use crate::copies::relations::Copying;
use crate::entities::{Entities, StepRecorder};
use crate::failure::Failure;
use crate::index::{Derived, RemoteChange};
use crate::work::Delivery;

impl<E: Entity, S: TableStore + Clone + 'static, O: StepRecorder> Entities<E, S, O> {
    /// Makes copies equal to their stored sources, in both directions: the copies that this entity holds, with its references, and the copies of this entity
    /// that other entities hold. The entity may have been deleted. Returns the number of entities written. Idempotent.
    ///
    /// Call this function after another tool has written the entity. Workers [with an index handler](crate::work::Worker::with_index_handler) call
    /// it for each recorded change.
    ///
    /// # Errors
    /// - `Unsupported` if the handle has not been opened and a reference contains a relation not declared by the entity type.
    /// - `UpdateConditionNotSatisfied` if a holder changed during every attempt.
    /// - Any error from the store.
    ///
    /// An entity that cannot be written does not block the others: its error is returned after they have been written. A store outage, a row that needs a newer
    /// program, and an entity that changed during every attempt do stop the call; another call continues with the remaining entities.
    pub async fn settle_copies(&self, key: Selection<E, Point>) -> Result<usize> {
        let key = key.into_key()?;
        let Some(copying) = Copying::of(self) else { return Ok(0) };
        // Copies of this entity in other entities are settled even if the copies in this entity cannot be settled.
        let (mut written, mut failed) = (0, None);
        match copying.hold_all(&key).await {
            Ok(held) => written += held.min(1),
            Err(error) => Failure::postpone(&mut failed, error)?,
        }
        if !copying.relations.gives.is_empty() {
            match copying.spread(&key, &[], None).await {
                Ok(given) => written += given,
                Err(error) => Failure::postpone(&mut failed, error)?,
            }
        }
        failed.map_or(Ok(written), Err)
    }
}

impl<E: Entity, S: TableStore + Clone + 'static, O: StepRecorder> Copying<'_, E, S, O> {
    /// Settles the copies affected by a recorded change. Returns the number of entities written.
    pub(super) async fn settle(&self, change: &RemoteChange, call: Option<Delivery<'_>>) -> Result<usize> {
        let RemoteChange { of, owner, keys, .. } = change;
        let name = match of {
            Derived::CopiesOf => return self.spread(owner, keys, call).await,
            of => of.name(),
        };
        let known = self.relations.holds.iter().find(|held| held.relation.name == name);
        let held = known.ok_or_else(|| Error::of(CopyFault::UnknownRelation(name.to_owned())))?;
        self.align(held, (owner, keys), call).await
    }
}
