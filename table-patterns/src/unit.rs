//! Units of work: one entity group transaction over several entity types of one partition, with all that their patterns add.
//!
//! # Context
//! A ticket is closed, a comment says so, the agent who did it must exist, and the customer is notified: one change, all or nothing.
//!
//! # Guarantee
//! - All or none (EGT-9): entities of any types of one table, their copies and lists in indexes, rows of their
//!   [participants](crate::participant), records of the [feed](crate::feed), conditions, and steps elsewhere.
//! - What replaces, updates or deletes takes the entity as it was read: its version is the condition, its values say what is beside it.
//! - A unit is made of what it was given: where a list or a copy was not as it was thought to be, it looks and tries again; where an entity
//!   was, it fails, and says which.
//!
//! # Cost
//! One request, and a look-up for each list, and for each copy where an index is not known to be whole.
//!
//! # Bounds
//! 100 operations (EGT-2), 4 MiB (EGT-3), each row once (EGT-4), one table and partition (EGT-1, EGT-5): reported as they are added, with what they are made
//! of. A condition is an empty merge, as the service has no other: it changes the version of what it asks for.
//! Entities with [copies](crate::denormal) are completed when the unit is committed: what they copy is read then, or taken from the source in
//! the same unit, and a row too many by them is an error of the commit.
//!
//! # When not to
//! For one entity: the verbs of the handle. For more than fits: [bulk](crate::index::Entities::bulk), which is not atomic.
//!
//! ```
//! use table_patterns::EntityStore;
//! use table_patterns::unit::Unit;
//! use table_patterns::{Engine, Entity, ErrorCode};
//!
//! #[derive(Entity, Clone, Debug, PartialEq)]
//! #[entity(table = "Desk")]
//! #[partition_key(tenant)]
//! #[row_key("agent_", id)]
//! struct Agent { tenant: String, #[digits(4)] id: u32, name: String }
//!
//! #[derive(Entity, Clone, Debug, PartialEq)]
//! #[entity(table = "Desk")]
//! #[partition_key(tenant)]
//! #[row_key("ticket_", number)]
//! #[index(ByStatus, row_key("status_", status, "_", number))]
//! struct Ticket { tenant: String, #[digits(6)] number: u32, #[without('_')] status: String, comments: i32 }
//!
//! #[derive(Entity, Clone, Debug, PartialEq)]
//! #[entity(table = "Desk")]
//! #[partition_key(tenant)]
//! #[row_key("comment_", ticket, "_", number)]
//! struct Comment { tenant: String, #[digits(6)] ticket: u32, #[digits(4)] number: u32, text: String }
//!
//! # pollster::block_on(async {
//! let store = Engine::in_memory();
//! let tickets = store.entities::<Ticket>().create_if_missing().await?;
//! let ticket = Ticket { tenant: "contoso".into(), number: 17, status: "open".into(), comments: 0 };
//! tickets.insert(&ticket).await?;
//! let ticket = tickets.get(Ticket::key("contoso", 17)).await?.expect("inserted above");
//! let comment = Comment { tenant: "contoso".into(), ticket: 17, number: 1, text: "Done.".into() };
//!
//! let close = || -> Result<Unit<_, _>, table_patterns::Error> {
//!     let mut unit = tickets.transaction(Ticket::partition("contoso"))?;
//!     unit.require(Agent::key("contoso", 9))?;
//!     unit.update(&ticket, |ticket| (ticket.status, ticket.comments) = ("closed".into(), 1))?;
//!     unit.insert(&comment)?;
//!     Ok(unit)
//! };
//! let error = close()?.commit().await.unwrap_err();
//! assert!(error.is_not_found() && error.to_string().contains("condition on `Agent`"), "{error}");
//!
//! store.entities::<Agent>().insert(&Agent { tenant: "contoso".into(), id: 9, name: "Ada".into() }).await?;
//! assert_eq!(close()?.commit().await?.len(), 2); // the versions of ticket and comment
//! assert_eq!(tickets.query(Ticket::by_status("contoso", "closed")).collect().await?.len(), 1);
//! # Ok::<(), table_patterns::Error>(())
//! # }).unwrap();
//! ```

mod act;
mod add;
mod change;
mod fault;
mod kept;
mod verbs;

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use table_core::Table;
use table_core::entity::Entity;
use table_core::error::{Error, Result};
use table_core::etag::ETag;
use table_core::key::PartitionKey;
use table_core::name::TableName;
use table_core::selection::{Partition, Selection};
use table_core::store::TableStore;

use crate::handle::handle;
use crate::index::{Batch, Entities, IndexOutbox, Road};

use act::Act;
use change::Rewrite;
use fault::UnitFault;
use kept::Part;

/// Writes of entities of one partition and of all that their patterns add, applied all or none: see [the module](self).
#[must_use = "a unit does nothing until it is committed"]
pub struct Unit<S, O> {
    road: Road<S, O>,
    table: TableName,
    batch: Batch,
    /// Of each entity of the batch, what is done to it; conditions give no version back.
    acts: Vec<Act>,
    /// What the batch is made of.
    parts: Vec<Part>,
    /// Whether a copy is to change whose index is not known to be whole.
    look: bool,
    /// Handles with participants, by entity type.
    handles: HashMap<TypeId, Box<dyn Any + Send + Sync>>,
    /// Asks, of the types that are written, whether a program of a newer design has opened them.
    admissions: HashMap<TypeId, Admission>,
    /// Changes that are made of all that is stored.
    rewrites: Vec<Rewrite>,
}

type Admission = Arc<dyn Fn() -> BoxFuture<'static, Result<()>> + Send + Sync>;

impl<E: Entity, S: TableStore + Clone + 'static, O: IndexOutbox + 'static> Entities<E, S, O> {
    /// Begins a unit of work on one partition. Sends nothing.
    ///
    /// # Errors
    /// `KeyEncoding`, `PropertyValueTooLarge` if the partition has no legal key (KEY-8).
    pub fn transaction(&self, partition: Selection<E, Partition>) -> Result<Unit<S, O>> {
        self.transaction_in(key_of(partition)?)
    }

    /// The same of a partition whose key is known.
    pub(crate) fn transaction_in(&self, partition_key: PartitionKey) -> Result<Unit<S, O>> {
        let unit = Unit {
            road: self.road(),
            table: self.table().name()?.clone(),
            batch: Batch::new(partition_key),
            acts: Vec::new(),
            parts: Vec::new(),
            look: false,
            handles: HashMap::new(),
            admissions: HashMap::new(),
            rewrites: Vec::new(),
        };
        Ok(unit.with(self))
    }
}

/// The key of a partition.
pub(crate) fn key_of<E>(partition: Selection<E, Partition>) -> Result<PartitionKey> {
    let ranges = partition.into_ranges()?;
    let name = ranges.first().and_then(|range| range.partition_key.single()).unwrap_or_default();
    PartitionKey::new(name)
}

impl<S: TableStore + Clone + 'static, O: IndexOutbox + 'static> Unit<S, O> {
    /// Writes entities of another type through their handle, with its participants. A type without a handle is written with what its
    /// struct declares.
    pub fn with<E: Entity>(mut self, table: &Entities<E, S, O>) -> Self {
        self.handles.insert(TypeId::of::<E>(), Box::new(table.clone()));
        self
    }

    fn handle<E: Entity + Send + Sync>(&self) -> Entities<E, S, O> {
        let known = self.handles.get(&TypeId::of::<E>()).and_then(|handle| handle.downcast_ref());
        known.cloned().unwrap_or_else(|| {
            let handle = handle(Table::of_design(self.road.store.clone()), self.road.outbox.clone());
            Entities { retry: self.road.retry.clone(), blobs: self.road.blobs.clone(), ..handle }
        })
    }

    /// How many operations it holds at most, those of copies, lists, participants and the outbox included.
    #[must_use]
    pub fn operations(&self) -> usize {
        self.batch.operations()
    }

    /// The sum of the sizes of entities, copies and rows of participants, by the published formula (SIZE-2).
    #[must_use]
    pub const fn bytes(&self) -> usize {
        self.batch.bytes()
    }

    /// Applies all or nothing, and gives the new versions of the entities in order, conditions left out; `None` for a delete.
    ///
    /// # Errors
    /// That of the first entity that is not as its condition has it, with its [position](Error::operation), type and verb; that of a row that
    /// a participant or an index adds, with its name; `UniqueViolation` (PAT-INTRA-5), `IndexListFull` (PAT-IX-4); `InvalidInput` for a unit without
    /// operations (EGT-12); `UpdateConditionNotSatisfied` if all attempts lost their race for a list.
    pub async fn commit(mut self) -> Result<Vec<Option<ETag>>> {
        if self.batch.entities.is_empty() && self.batch.beside.is_empty() {
            return Err(Error::of(UnitFault::Empty).with_table(self.table.as_str()));
        }
        for admission in self.admissions.values() {
            admission().await?;
        }
        self.complete_changes().await?;
        let etags = if self.parts.iter().any(Part::keeps) {
            self.commit_kept().await
        } else {
            self.road.commit(&self.table, &self.batch, self.look).await
        };
        let etags = etags.map_err(|error| self.named(error))?;
        let of_acts = self.acts.iter().zip(etags);
        Ok(of_acts.filter(|(act, _)| act.verb.is_some()).map(|(_, etag)| etag).collect())
    }
}

impl<S: fmt::Debug, O: fmt::Debug> fmt::Debug for Unit<S, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Unit").field("table", &self.table).field("acts", &self.acts).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
