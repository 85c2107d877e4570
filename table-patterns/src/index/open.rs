//! Ways to a handle: from a store, from a table, from an outbox.

use table_core::entity::Entity;
use table_core::queue::QueueStore;
use table_core::schema::IndexSchema;
use table_core::store::TableStore;
use table_core::table::Table;
use table_core::table::TableStoreExt;

use crate::index::outbox::{IndexOutbox, NoOutbox};
use crate::index::table::Entities;
use crate::outbox::Outbox;

/// Whether an entity has an index in another partition or table.
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

/// Hands out indexed tables of every [`TableStore`].
pub trait EntityStore: TableStore + Clone {
    /// The table that the design of `E` names, with its indexes. Sends nothing.
    ///
    /// Only for entities whose indexes all lie in their own partition: it does not compile for others, which need an outbox
    /// (PAT-EC-8), [`entities_through`](Self::entities_through).
    ///
    /// ```compile_fail,E0080
    /// use table_patterns::{Engine, Entity, index::EntityStore};
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
    fn entities<E: Entity>(&self) -> Entities<E, Self> {
        const {
            assert!(
                !has_remote(E::SCHEMA.indexes),
                "an index of this entity lives in another partition or table: use `entities_through(outbox)`, which records its \
                 changes in the transaction of the entity (PAT-EC-8)"
            );
        }
        Entities::new(self.table(), NoOutbox)
    }

    /// The same for entities with indexes in other partitions or tables, whose changes the outbox records.
    #[must_use]
    fn entities_through<E: Entity, O: IndexOutbox>(&self, outbox: O) -> Entities<E, Self, O> {
        const {
            assert!(O::RECORDS || !has_remote(E::SCHEMA.indexes), "this outbox records nothing (PAT-EC-8)");
        }
        Entities::new(self.table(), outbox)
    }
}

impl<S: TableStore + Clone> EntityStore for S {}

/// The handle on the entities of a table, with what their struct declares and no outbox.
impl<E: Entity, S: TableStore + Clone> From<Table<E, S>> for Entities<E, S> {
    fn from(table: Table<E, S>) -> Self {
        const {
            assert!(
                !has_remote(E::SCHEMA.indexes),
                "an index of this entity lives in another partition or table: use `entities_through(outbox)`"
            );
        }
        Self::new(table, NoOutbox)
    }
}

/// The handle on the entities of a table in the store of an outbox, which records what they change elsewhere.
impl<E: Entity, S: TableStore + Clone, Q: QueueStore> From<Outbox<S, Q>> for Entities<E, S, Outbox<S, Q>> {
    fn from(outbox: Outbox<S, Q>) -> Self {
        outbox.store().clone().entities_through(outbox)
    }
}
