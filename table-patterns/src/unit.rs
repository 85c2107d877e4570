//! Units of work: atomic transactions over entities of several types in one partition.
//!
//! # Context
//! A change may involve several entities. Closing a ticket, for example, also adds a comment with the reason, requires that the agent exists, and notifies the
//! customer. All of these writes must happen, or none.
//!
//! # Guarantee
//! - A commit is all or nothing (EGT-9). It covers entities of any type in one table, and all rows that belong to them: index rows, the rows of
//!   [participants](crate::participant), [feed](crate::feed) records, conditions and recorded steps.
//! - Replace, update and delete require that the entity still has the `ETag` with which it was read.
//! - If a list or an index row has changed since it was read, the unit rereads it and retries. If an entity has changed, `commit` fails with
//!   `UpdateConditionNotSatisfied`, and the error contains the entity's key.
//!
//! # Cost
//! A commit sends one request. It also sends one read for each list, and one read for each index row whose index may be incomplete. The first commit in a
//! partition that has a feed or intents (rows that record steps) also registers the partition. Each intent also sends a message.
//!
//! A [transaction](crate::Entities::transaction) that finds rows written by another process also reads the partition's reservations, with one query. After
//! three lost attempts, the transaction reserves the partition: it writes a row whose `RowKey` begins with `U+FFFC reservation_`. The reservation takes one
//! query and one write, and the transaction's commit deletes the row. If no other process writes to the partition, none of these requests is sent.
//!
//! # Bounds
//! A unit has at most 100 operations (EGT-2) and 4 MiB (EGT-3), writes each row once (EGT-4), and is limited to one table and partition (EGT-1, EGT-5). A call
//! that would exceed a limit fails. The error lists how many operations or bytes each pattern contributed.
//!
//! Some sizes are checked only at commit time. If recorded steps or feed entries are too large, the commit fails with `RequestBodyTooLarge`. On a store that
//! measures a transaction by its request body, the same applies to index rows.
//!
//! On a store that [supports checks](table_core::store::Capabilities::checks), such as the engine, a condition is a check, which writes nothing. The protocol
//! of the Table service has no checks. On such a store, [`require`](UnitOfWork::require) sends an empty merge, which changes the entity's `ETag`, and
//! [`require_absent`](UnitOfWork::require_absent) is refused.
//!
//! For entities with [copies](crate::copies), the commit also reads the copied entities and the entities that hold copies. If their rows exceed a limit, the
//! commit fails.
//!
//! # When not to
//! To write a single entity, use the handle's methods. If the writes do not fit into one transaction, use [bulk](crate::Entities::bulk), which is not atomic.
//!
//! ```
//! use table_patterns::EntityStore;
//! use table_patterns::unit::UnitOfWork;
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
//! let close = || -> Result<UnitOfWork<_, _>, table_patterns::Error> {
//!     let mut unit = tickets.unit(Ticket::partition("contoso"))?;
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
mod admissions;
mod change;
mod committed;
mod contention;
mod fault;
mod group;
mod handles;
mod queue;
mod reads;
mod refused;
mod reservation;
mod rivals;
mod share;
mod slots;
mod transaction;
mod verbs;
mod was_read;

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;

use table_core::__private::Uncommitted;
use table_core::entity::Entity;
use table_core::etag::ETag;
use table_core::key::{PartitionKey, RowKey};
use table_core::name::TableName;
use table_core::retry::Retry;
use table_core::row::Row;
use table_core::selection::{Partition, Selection};
use table_core::store::TableStore;
use table_core::table::{InPartition, SchemaWatch};
use table_core::{Error, Result};

use crate::entities::{
    AdmitWrites as _, Conflict, Draft, Entities, EntityFault, Outcome, Retries, SeenPartitions, Site,
    StepRecorder, WriteContext,
};
use crate::feed::Feed;
use crate::index::Indexes;

use act::Act;
use admissions::Admissions;
use change::Rewrite;
pub use committed::Committed;
use fault::UnitFault;
use reads::Reads;
use reservation::LOSSES;
pub(crate) use reservation::{PREFIX as RESERVATION_PREFIX, is_refusal};
use rivals::Rivals;
pub use share::UnitShare;
pub(crate) use transaction::Decide;
pub use was_read::WasRead;

/// A set of entity writes in one partition, committed atomically together with the rows of their patterns. See [the module](self).
///
/// If a non-empty unit is dropped without a commit, nothing is written, and a `WARN` event is emitted.
#[must_use = "a unit does nothing until it is committed; bind it with `let mut`, and write `.commit().await?` after its writes"]
pub struct UnitOfWork<S, O> {
    store: S,
    outbox: O,
    retry: Retry,
    context: WriteContext,
    table: TableName,
    /// The row versions last seen by transactions of the handle that created the unit.
    seen: SeenPartitions,
    draft: Draft<'static>,
    /// The kind of each write in the batch. Conditions are included, although they do not return a version.
    acts: Vec<Act>,
    /// The feed and the indexes of the handle that created the unit, for entity types without their own handle.
    feed: Feed<S>,
    indexes: Indexes,
    /// The stored schemas known to the handle that created the unit.
    watch: SchemaWatch,
    /// The unit's handles, by entity type.
    handles: HashMap<TypeId, Arc<dyn Any + Send + Sync>>,
    /// The admission check for each entity type. It fails if a program with a newer schema forbids this program's writes.
    admissions: Admissions,
    /// The replace operations for which the commit must first read all stored properties.
    rewrites: Vec<Rewrite>,
    reads: Reads,
    /// Rows with changed slots, in their new state.
    slots: HashMap<RowKey, Row>,
    /// The state for detecting other processes' transactions and waiting for them, or `None` outside a transaction.
    rivals: Option<Rivals>,
    /// Counts the writes and steps added so far, for the warning when a unit is dropped without a commit. A transaction commits its unit itself, so it adds
    /// none.
    uncommitted: Uncommitted,
}

impl<E: Entity, S: TableStore + Clone + 'static, O: StepRecorder> Entities<E, S, O> {
    /// Creates a unit of work on one partition. Sends no request.
    ///
    /// # Errors
    /// `KeyEncoding` or `PropertyValueTooLarge` if the partition value is not a valid key (KEY-8).
    pub fn unit(&self, partition: impl InPartition<E>) -> Result<UnitOfWork<S, O>> {
        self.unit_in(partition.partition_key()?)
    }

    /// Creates a unit of work on the partition with the given key.
    pub(crate) fn unit_in(&self, partition_key: PartitionKey) -> Result<UnitOfWork<S, O>> {
        let unit = UnitOfWork {
            store: self.table().store().clone(),
            outbox: self.outbox.clone(),
            retry: self.retry.clone(),
            context: self.context.clone(),
            table: self.table().name()?.clone(),
            seen: self.seen.clone(),
            draft: Draft::new(partition_key),
            acts: Vec::new(),
            feed: self.feed(),
            indexes: Indexes { blobs: self.list_blobs().cloned(), ..Indexes::of::<E>() },
            watch: self.table().schema_watch(),
            handles: HashMap::new(),
            admissions: Admissions::default(),
            rewrites: Vec::new(),
            reads: Reads::default(),
            slots: HashMap::new(),
            rivals: None,
            uncommitted: Uncommitted::default(),
        };
        Ok(unit.with(self))
    }
}

/// Returns the `PartitionKey` of a partition selection.
pub(crate) fn partition_key<E>(partition: Selection<E, Partition>) -> Result<PartitionKey> {
    let ranges = partition.into_ranges()?;
    let name = ranges.first().and_then(|range| range.partition_key.single()).unwrap_or_default();
    PartitionKey::new(name)
}

impl<S: TableStore + Clone + 'static, O: StepRecorder> UnitOfWork<S, O> {
    /// Sets the person or program making the writes, as reported to [participants](crate::participant::Changes::actor).
    pub fn with_actor(mut self, actor: impl Into<Arc<str>>) -> Self {
        self.context.actor = Some(actor.into());
        self
    }

    /// Sets the identifier of the request causing the writes, as reported to [participants](crate::participant::Changes::correlation_id).
    pub fn with_correlation_id(mut self, id: impl Into<Arc<str>>) -> Self {
        self.context.correlation_id = Some(id.into());
        self
    }

    /// Returns the largest number of operations that the unit's transaction can have, including the operations of contributors and the outbox.
    #[must_use]
    pub fn operations(&self) -> usize {
        self.draft.planned().operations()
    }

    /// Returns the number of operations per contributor. Entities are counted as `entities`, recorded steps as `intents`, and each index and pattern by its
    /// name.
    #[must_use]
    pub fn contributions(&self) -> Vec<(&'static str, usize)> {
        self.draft.planned().contributions()
    }

    /// Returns the total size of all rows in bytes, by the service's published formula (SIZE-2). The rows of recorded steps and of the feed are not included.
    #[must_use]
    pub const fn bytes(&self) -> usize {
        self.draft.planned().bytes()
    }

    /// Commits the unit atomically. Returns one item per entity write, in order: the entity's new version, or `None` for a delete. Conditions return no item.
    ///
    /// # Errors
    /// - The error for the first entity that does not satisfy its condition, with its [operation index](Error::operation), type and verb.
    /// - The error for a contributed row, with the name of its contributor.
    /// - `UniqueViolation` (PAT-INTRA-5) or `IndexListFull` (PAT-IX-4) from an index.
    /// - `InvalidInput` if the unit has no operations (EGT-12).
    /// - `UpdateConditionNotSatisfied` if every attempt conflicted on a list.
    pub async fn commit(mut self) -> Result<Vec<Option<ETag>>> {
        self.uncommitted.commit();
        if self.prepare().await?.is_break() {
            return Err(Error::of(EntityFault::Changed).with_table(self.table.as_str()));
        }
        let etags = self.commit_alone().await?.committed()?;
        let of_acts = self.acts.iter().zip(etags);
        Ok(of_acts.filter(|(act, _)| act.verb.is_some()).map(|(_, etag)| etag).collect())
    }

    /// Commits the unit in a transaction without any other unit. Every write requires the `ETag` with which its entity was read.
    async fn commit_alone(&self) -> Result<Outcome> {
        if let Some(error) = self.reads.outdated.clone() {
            return Ok(Outcome::Conflict(Conflict::Entity, self.named(error)));
        }
        let is_pending = self.draft.is_pending();
        let what =
            if is_pending { "the copies of the entities" } else { "a row that is written with the entities" };
        let retries = Retries::new(&self.retry, what);
        // In a transaction, the number of attempts is limited. After the last attempt, the closure runs again, and the transaction may reserve the partition.
        let retries = if self.rivals.is_some() { retries.at_most(LOSSES) } else { retries };
        match retries.commit(&self.site(), &self.draft).await {
            Ok(Outcome::Conflict(conflict, error)) => Ok(Outcome::Conflict(conflict, self.named(error))),
            committed => committed.map_err(|error| self.named(error)),
        }
    }

    /// Checks the unit, and reads the stored properties for any replace operations that need them. Returns `Break` if the unit must reread its rows.
    async fn prepare(&mut self) -> Result<ControlFlow<()>> {
        if self.draft.planned().is_empty() {
            return Err(Error::of(UnitFault::Empty).with_table(self.table.as_str()));
        }
        self.admissions.admit_writes(false).await?;
        self.require_reads()?;
        self.complete_changes().await
    }

    fn site(&self) -> Site<'_, S, O> {
        let (outbox, seen, admission) = (&self.outbox, &self.seen, &self.admissions);
        Site { store: &self.store, outbox, table: &self.table, seen, admission }
    }
}

debug_fields!([S: fmt::Debug, O: fmt::Debug] UnitOfWork[S, O] { table, acts, .. });

#[cfg(test)]
mod tests;
