//! Participants: application code that adds rows to each write of an entity, in the same transaction.
//!
//! # Context
//! Some rows must be written in the same transaction as an entity, whatever the kind of write: an audit row for each change, a counter, or a message to another
//! system. A [`Participant`] is a pure function of the old and the new entity. It returns rows to write in the same transaction, and steps to perform later in
//! other places. The library reads the entity, calls the participant, and submits the transaction conditional on the entity's `ETag`. If another writer commits
//! first, it retries.
//!
//! # Laws
//! - A participant is pure: for equal old and new entities, it returns equal rows and steps, except for [`Changes::id`] and [`Changes::ticks`]. It is called
//!   once per attempt. If the attempt fails, its result has no effect.
//! - The rows are in the entity's table and partition. None of them is the entity itself. Their types declare no indexes, feeds or copies.
//! - The steps are idempotent; see [`Step`].
//! - For a change from `old` to `new`, the participant deals with the rows that it added for `old`: it removes them, or keeps them as a record.
//!
//! # Guarantee
//! Rows and steps are written atomically with the entity. This holds for every write through a [handle](crate::Entities) with the participant, including bulk
//! inserts, [units](crate::unit) and deletions with parts. If a row is refused, the write fails, and the error contains the name of the participant.
//!
//! # Cost
//! A write takes one more operation per row, and one for all of the entity's steps. Every write of a stored entity first reads the entity, as with indexes.
//!
//! # Bounds
//! - Rows count towards the transaction's limits of 100 operations and 4 MiB.
//! - If a participant replaces the same row for several entities in one transaction ([`Changes::insert_or_replace`]), the last of these writes wins, as in
//!   separate transactions. Two participants with different names cannot write the same row in one transaction.
//! - The stored schema of a row's type is not checked. Before a newer release adds an optional property, an index, a feed or copies to the type, stop the
//!   programs whose participants write its rows.
//! - Backfills and repairs of indexes do not change the values of entities, and do not call participants.
//! - A participant is attached to a store. A program that does not attach it writes entities without the participant's rows. If all programs must follow a
//!   rule, declare the rule on the struct instead.
//!
//! # When not to
//! To find an entity by another key, use an [index](crate::index). To follow every change in order, use the [feed](crate::feed).
//!
//! ```
//! use table_patterns::EntityStore;
//! use table_patterns::participant::{Changes, Participant};
//! use table_patterns::{Engine, Entity, IfMatch, Result, TableStoreExt};
//!
//! #[derive(Entity, Clone, Debug, PartialEq)]
//! #[entity(table = "Desk")]
//! #[partition_key(tenant)]
//! #[row_key("ticket_", number)]
//! #[index(Open, row_key("status_", status, "_", number))]
//! struct Ticket { tenant: String, #[digits(6)] number: u32, #[without('_')] status: String }
//!
//! #[derive(Entity, Clone, Debug, PartialEq)]
//! #[entity(table = "Desk")]
//! #[partition_key(tenant)]
//! #[row_key("audit_", at, "_", id)]
//! struct Audit { tenant: String, #[digits(19)] at: u64, #[without('_')] id: String, number: i64, was: Option<String>, is: Option<String> }
//!
//! /// A row for each change of a ticket's status.
//! struct AuditTrail;
//!
//! impl Participant<Ticket> for AuditTrail {
//!     fn name(&self) -> &'static str {
//!         "audit trail"
//!     }
//!
//!     fn changes(&self, old: Option<&Ticket>, new: Option<&Ticket>, out: &mut Changes) -> Result<()> {
//!         let status = |ticket: Option<&Ticket>| ticket.map(|ticket| ticket.status.clone());
//!         let Some(ticket) = new.or(old).filter(|_| status(old) != status(new)) else { return Ok(()) };
//!         let (at, id) = (out.ticks(), out.id());
//!         let (was, is) = (status(old), status(new));
//!         out.insert(&Audit { tenant: ticket.tenant.clone(), at, id, number: ticket.number.into(), was, is })
//!     }
//! }
//!
//! # pollster::block_on(async {
//! let store = Engine::in_memory().with_participant::<Ticket>(AuditTrail);
//! let tickets = store.entities::<Ticket>().create_if_missing().await?;
//! tickets.insert(&Ticket { tenant: "contoso".into(), number: 17, status: "open".into() }).await?;
//! tickets.update(Ticket::key("contoso", 17), |ticket| ticket.status = "closed".into()).await?;
//! tickets.update(Ticket::key("contoso", 17), |_| ()).await?; // does not change the status, so no row is added
//! tickets.delete(Ticket::key("contoso", 17), IfMatch::Any).await?;
//!
//! let trail = store.table::<Audit>().query(Audit::rows("contoso")).collect().await?;
//! let words: Vec<_> = trail.iter().map(|audit| (audit.was.as_deref(), audit.is.as_deref())).collect();
//! assert_eq!(words, [(None, Some("open")), (Some("open"), Some("closed")), (Some("closed"), None)]);
//! # Ok::<(), table_patterns::Error>(())
//! # }).unwrap();
//! ```

mod attach;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use table_core::entity::PlainEntity;
use table_core::etag::IfMatch;
use table_core::key::EntityKey;
use table_core::operation::{Operation, OperationKind};
use table_core::runtime::Runtime;
use table_core::selection::{Point, Selection};
use table_core::{Error, ErrorCode, Result};
use uuid::Uuid;

use crate::entities::{ChangeRecord, WriteContext};
use crate::outbox::Step;

pub use attach::WithParticipants;
pub(crate) use attach::{Participants, deletion, is_attached};

/// A pattern or application type that adds rows whenever an entity of type `E` is written. It must obey the laws in [the module](self).
#[diagnostic::on_unimplemented(
    message = "[T241] `{Self}` is not a participant of the writes of `{E}`",
    label = "expected a type with `impl Participant<{E}>`",
    note = "declare a struct, and write `impl Participant<{E}> for … {{ fn name(&self) -> &'static str {{ … }} fn changes(&self, …) -> Result<()> {{ … }} }}`",
    note = "a participant is a type and not a closure, because its name identifies its rows in errors"
)]
pub trait Participant<E>: Send + Sync {
    /// Returns the participant's name. It appears in errors and in descriptions of transactions.
    fn name(&self) -> &'static str;

    /// Adds the rows and steps for the change from `old` to `new`. `None` means that the entity does not exist. At least one of the two is `Some`.
    ///
    /// # Errors
    /// Any error from [`Changes`] or from the participant itself. The entity is then not written.
    fn changes(&self, old: Option<&E>, new: Option<&E>, out: &mut Changes) -> Result<()>;
}

/// The rows and steps that participants add to the write of one entity.
#[derive(Debug)]
pub struct Changes {
    source: EntityKey,
    /// The table that the entity's type declares.
    table: &'static str,
    by: &'static str,
    pace: Runtime,
    context: WriteContext,
    /// The rows, each with the name of the participant that added it.
    pub(crate) rows: Vec<(&'static str, Operation)>,
    pub(crate) steps: Vec<Step>,
    pub(crate) records: Vec<ChangeRecord>,
}

impl Changes {
    pub(crate) fn new(
        (table, source): (&'static str, EntityKey),
        pace: Runtime,
        context: WriteContext,
    ) -> Self {
        let (rows, steps, records) = (Vec::new(), Vec::new(), Vec::new());
        Self { source, table, by: "", pace, context, rows, steps, records }
    }

    pub(crate) const fn by(&mut self, name: &'static str) -> &mut Self {
        self.by = name;
        self
    }

    /// Returns the key of the entity that is written.
    #[must_use]
    pub const fn source(&self) -> &EntityKey {
        &self.source
    }

    /// Returns the person or program for which the entity is written, if the [handle](crate::Entities::with_actor) or the
    /// [unit](crate::unit::UnitOfWork::with_actor) sets it.
    #[must_use]
    pub fn actor(&self) -> Option<&str> {
        self.context.actor.as_deref()
    }

    /// Returns the identifier of the request that caused the write, if the [handle](crate::Entities::with_correlation_id) or the
    /// [unit](crate::unit::UnitOfWork::with_correlation_id) sets it.
    #[must_use]
    pub fn correlation_id(&self) -> Option<&str> {
        self.context.correlation_id.as_deref()
    }

    /// Returns the current time in [ticks](table_core::ticks), by the handle's clock.
    #[must_use]
    pub fn ticks(&self) -> u64 {
        self.pace.now()
    }

    /// Returns a new random identifier of 32 hexadecimal digits.
    #[must_use]
    pub fn id(&self) -> String {
        Uuid::new_v4().simple().to_string()
    }

    /// Adds an operation that inserts a row. The row must not exist (INS-1).
    ///
    /// # Errors
    /// `CommandsInBatchActOnDifferentPartitions` (EGT-5) if the row is in another partition; `InvalidInput` (EGT-1) if the row's type is declared in a
    /// different table than the entity's type; any error from encoding the row.
    pub fn insert<R: PlainEntity>(&mut self, row: &R) -> Result<()> {
        let kind = OperationKind::Insert(row.to_row()?);
        self.write::<R>(row.key_of()?, kind)
    }

    /// Adds an operation that inserts or replaces a row (UPS-2).
    ///
    /// # Errors
    /// Any error from [`insert`](Self::insert).
    pub fn insert_or_replace<R: PlainEntity>(&mut self, row: &R) -> Result<()> {
        let kind = OperationKind::InsertOrReplace(row.to_row()?);
        self.write::<R>(row.key_of()?, kind)
    }

    /// Adds an operation that deletes a row. The row must exist (DEL-2).
    ///
    /// # Errors
    /// Any error from [`insert`](Self::insert).
    pub fn delete<R: PlainEntity>(&mut self, key: Selection<R, Point>) -> Result<()> {
        self.write::<R>(key.into_key()?, OperationKind::Delete(IfMatch::Any))
    }

    /// Adds an operation on a row in the entity's partition. Patterns with their own row encodings use this function.
    pub fn operation(&mut self, operation: Operation) {
        self.rows.push((self.by, operation));
    }

    /// Records an entry of the given kind in the partition's [feed](crate::feed), with a payload of at most 64 KiB (TYPE-10).
    pub fn record(&mut self, kind: impl Into<String>, payload: impl Into<Vec<u8>>) {
        let (source, kind) = (self.source.row_key.clone(), Cow::Owned(kind.into()));
        self.records.push(ChangeRecord { source, kind, payload: payload.into() });
    }

    /// Adds a step, which a worker performs in another partition, table or store. The handle needs an [outbox](crate::outbox).
    pub fn add_step(&mut self, step: Step) {
        self.steps.push(step);
    }

    fn write<R: PlainEntity>(&mut self, key: EntityKey, kind: OperationKind) -> Result<()> {
        let (by, table) = (self.by, R::SCHEMA.table);
        let error = if key.partition_key != self.source.partition_key {
            let message = format!(
                "participant `{by}` added a row in partition '{}' to the write of an entity in '{}'; add a step instead",
                key.partition_key, self.source.partition_key
            );
            Error::new(ErrorCode::CommandsInBatchActOnDifferentPartitions, message).with_rule("EGT-5")
        } else if !table.eq_ignore_ascii_case(self.table) {
            // The declared names are compared, because the actual name of a period's table is different.
            let message = format!(
                "participant `{by}` added a row of table `{table}` to the write of an entity of table `{}`; declare both in one table \
                 (`#[entity(table = \"…\")]`), or add a step instead",
                self.table
            );
            Error::new(ErrorCode::InvalidInput, message).with_rule("EGT-1")
        } else {
            self.operation(Operation { row_key: key.row_key, kind });
            return Ok(());
        };
        Err(error.with_key(key.partition_key.as_str(), key.row_key.as_str()))
    }
}
