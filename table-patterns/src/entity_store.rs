//! Functions that create the entity handle [`Entities`] from a store, a table or an outbox.

use table_core::__private::{Refused, require_no_outbox, require_recording_outbox};
use table_core::entity::Entity;
use table_core::queue::QueueStore;
use table_core::schema::IndexSchema;
use table_core::store::TableStore;
use table_core::table::Table;
use table_core::table::TableStoreExt;

use crate::copies;
use crate::entities::{Entities, NoOutbox, StepRecorder};
use crate::feed::{Feed, FeedRecorder};
use crate::index::Indexes;
use crate::outbox::Outbox;
use crate::participant::{Participant, Participants, WithParticipants};

/// Returns `true` if at least one index is in a different partition or table than its entity.
pub(crate) const fn has_remote(indexes: &[IndexSchema]) -> bool {
    let mut rest = indexes;
    while let [index, after @ ..] = rest {
        if !index.is_same_partition() {
            return true;
        }
        rest = after;
    }
    false
}

/// Returns `true` if a write of the entity may have to update indexes or copies in other partitions.
const fn needs_outbox<E: Entity>() -> bool {
    E::RELATIONS.is_some() || has_remote(E::SCHEMA.indexes)
}

/// Creates a handle. It maintains the patterns that the struct declares (indexes, copies, a feed), and calls the participants that are attached to the store.
pub(crate) fn handle<E, S, O>(table: Table<E, S>, outbox: O) -> Entities<E, S, O>
where
    E: Entity + Send + Sync,
    S: TableStore + Clone + 'static,
    O: StepRecorder,
{
    let (participants, feed) = (Participants::of(table.store()), Feed::new(table.store().clone()));
    let mut handle = Entities::new(table, outbox);
    if let Some(participants) = participants {
        handle = handle.with_contributor(participants);
    }
    copies::keeping(
        handle.with_contributor(FeedRecorder::new(feed, E::FEED)).with_contributor(Indexes::of::<E>()),
    )
}

/// A store that creates entity handles. Implemented for every [`TableStore`].
pub trait EntityStore: TableStore + Clone + 'static {
    /// Returns a handle to the table that the schema of `E` names. The handle maintains the indexes and the feed that `E` declares. Sends no request.
    ///
    /// Compiles only if all indexes of `E` are in the entity's partition, and `E` neither has copies nor is copied. All other entities need an outbox
    /// (PAT-EC-8): use [`entities_with_outbox`](Self::entities_with_outbox).
    ///
    /// ```compile_fail,E0080
    /// use table_patterns::{Engine, Entity, EntityStore};
    ///
    /// #[derive(Entity)]
    /// #[partition_key(department)]
    /// #[row_key(id)]
    /// #[index(Directory, unique, table = "Directory", row_key(email))]
    /// struct Employee { department: String, id: u32, email: String }
    ///
    /// let employees = Engine::in_memory().entities::<Employee>();
    /// ```
    #[must_use]
    fn entities<E: Entity + Send + Sync>(&self) -> Entities<E, Self> {
        const {
            require_no_outbox(E::SCHEMA, needs_outbox::<E>());
        }
        handle(self.table(), NoOutbox)
    }

    /// Returns a handle for any entity type. The outbox records changes that are applied later in other partitions and tables.
    #[must_use]
    fn entities_with_outbox<E: Entity + Send + Sync, O: StepRecorder>(
        &self,
        outbox: O,
    ) -> Entities<E, Self, O> {
        const {
            require_recording_outbox(E::SCHEMA, !O::RECORDS && needs_outbox::<E>());
        }
        handle(self.table(), outbox)
    }

    /// Attaches one more participant to the store. Every handle and unit of work created from the returned store calls it whenever an `E` is written: see
    /// [`participant`](crate::participant).
    #[must_use]
    fn with_participant<E: Entity>(
        self,
        participant: impl Participant<E> + 'static,
    ) -> WithParticipants<Self> {
        WithParticipants::new(self).with_participant(participant)
    }

    #[doc(hidden)]
    fn unit<R>(&mut self, _: impl Sized) -> R
    where
        Self: Sized + HasUnits,
    {
        self.refuse()
    }

    #[doc(hidden)]
    fn transaction<R>(&mut self, _: impl Sized, _: impl Sized) -> R
    where
        Self: Sized + HasUnits,
    {
        self.refuse()
    }
}

/// A bound of `unit` and `transaction` that no store satisfies. Its error message explains that a unit of work is on one partition of a table.
#[diagnostic::on_unimplemented(
    message = "[T270] a store has no units of work: a unit writes to one partition of a table",
    label = "write `entities::<…>()` first, with the type of the entity, and then `unit(…::partition(…))?` or `transaction(…::partition(…), async |unit| …)`",
    note = "for an entity `Employee`: `store.entities::<Employee>().unit(Employee::partition(…))?`; the unit also writes the other entity types of the partition",
    note = "writes to several partitions are not atomic: `bulk()`, or an outbox"
)]
pub trait HasUnits: Refused {}

impl<S: TableStore + Clone + 'static> EntityStore for S {}

/// Wraps a table in a handle without an outbox.
impl<E: Entity + Send + Sync, S: TableStore + Clone + 'static> From<Table<E, S>> for Entities<E, S> {
    fn from(table: Table<E, S>) -> Self {
        const {
            require_no_outbox(E::SCHEMA, needs_outbox::<E>());
        }
        handle(table, NoOutbox)
    }
}

/// Creates a handle on the outbox's store. The outbox records changes that are applied later in other partitions and tables.
impl<E: Entity + Send + Sync, S: TableStore + Clone + 'static, Q: QueueStore + 'static> From<Outbox<S, Q>>
    for Entities<E, S, Outbox<S, Q>>
{
    fn from(outbox: Outbox<S, Q>) -> Self {
        outbox.store().clone().entities_with_outbox(outbox)
    }
}
