//! Participants: patterns that take part in each write of an entity, in its transaction.
//!
//! # Context
//! An audit row for each change, a counter beside the entities, a word to another system: whatever is to be written *with* an entity, by
//! every verb, and never without it. A [`Participant`] answers one question, purely: from old and new, which rows in this
//! transaction, and which steps elsewhere. One loop does the rest: it reads, asks, submits under the `ETag` of the entity, and begins
//! again where another writer was faster.
//!
//! # Laws
//! - Pure: the same old and new give the same rows and steps, but for what [`Changes::id`] and [`Changes::ticks`] give. It is asked once
//!   for each attempt, and an answer that was not written leaves no trace.
//! - Its rows lie in the partition of the entity, are not the entity's own, and are not entities that declare something themselves.
//! - What it intends elsewhere can be done twice: see [`Step`].
//! - The answer for `(old, new)` undoes that for `(_, old)`: what it put for an old value it takes out again, or leaves as a record.
//!
//! # Guarantee
//! Rows and steps are written with the entity or not at all: by every verb of the [handle](crate::Entities) that has the participant, bulk
//! inserts and [units](crate::unit) included. A row that is refused fails the write, and the error names the participant.
//!
//! # Cost
//! One operation a row, one more for all steps of an entity. A verb reads the entity first, as it does for indexes.
//!
//! # Bounds
//! Rows count against the 100 operations and 4 MiB of the transaction. Backfills and repairs of indexes change no entity, and ask no participant. A participant is
//! given to a handle, so a program that forgets it writes without it: what every program is to keep is declared on the struct.
//!
//! # When not to
//! For another key of the same entity: an [index](crate::index). For every change in order, to be followed: the [feed](crate::feed).
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
//! tickets.update(Ticket::key("contoso", 17), |_| ()).await?; // changes nothing that is audited
//! tickets.delete(Ticket::key("contoso", 17), IfMatch::Any).await?;
//!
//! let trail = store.table::<Audit>().query(Audit::rows("contoso")).collect().await?;
//! let words: Vec<_> = trail.iter().map(|audit| (audit.was.as_deref(), audit.is.as_deref())).collect();
//! assert_eq!(words, [(None, Some("open")), (Some("open"), Some("closed")), (Some("closed"), None)]);
//! # Ok::<(), table_patterns::Error>(())
//! # }).unwrap();
//! ```

mod attach;

use std::borrow::Cow;

use table_core::entity::PlainEntity;
use table_core::error::{Error, ErrorCode, Result};
use table_core::etag::IfMatch;
use table_core::key::EntityKey;
use table_core::operation::{Operation, OperationKind};
use table_core::runtime::Runtime;
use table_core::selection::{Point, Selection};
use uuid::Uuid;

use crate::entities::{ChangeRecord, WriteContext};
use crate::outbox::Step;

pub(crate) use attach::Participants;
pub use attach::WithParticipants;

/// A pattern that takes part in the writes of entities `E`: see [the module](self) for its laws.
pub trait Participant<E>: Send + Sync {
    /// Its name, in errors and in what a transaction is made of.
    fn name(&self) -> &'static str;

    /// What is to be written beside an entity that changes from `old` to `new`, of which one is there at least; `None` is an entity that
    /// is not there.
    ///
    /// # Errors
    /// Those of [`Changes`] and its own: the entity is then not written.
    fn changes(&self, old: Option<&E>, new: Option<&E>, out: &mut Changes) -> Result<()>;
}

/// Collects what participants add to the write of one entity.
#[derive(Debug)]
pub struct Changes {
    source: EntityKey,
    by: &'static str,
    pace: Runtime,
    context: WriteContext,
    /// The rows, each with the name of its participant.
    pub(crate) rows: Vec<(&'static str, Operation)>,
    pub(crate) steps: Vec<Step>,
    pub(crate) records: Vec<ChangeRecord>,
}

impl Changes {
    pub(crate) const fn new(source: EntityKey, pace: Runtime, context: WriteContext) -> Self {
        Self { source, by: "", pace, context, rows: Vec::new(), steps: Vec::new(), records: Vec::new() }
    }

    pub(crate) const fn by(&mut self, name: &'static str) -> &mut Self {
        self.by = name;
        self
    }

    /// The key of the entity that changes.
    #[must_use]
    pub const fn source(&self) -> &EntityKey {
        &self.source
    }

    /// The person or program that writes, if the [handle](crate::Entities::with_actor) or the [unit](crate::unit::Unit::with_actor) knows it.
    #[must_use]
    pub fn actor(&self) -> Option<&str> {
        self.context.actor.as_deref()
    }

    /// The identifier of the request that caused the write, if the [handle](crate::Entities::with_correlation_id) or the
    /// [unit](crate::unit::Unit::with_correlation_id) knows it.
    #[must_use]
    pub fn correlation_id(&self) -> Option<&str> {
        self.context.correlation_id.as_deref()
    }

    /// The present instant in [ticks](table_core::ticks), by the clock of the handle.
    #[must_use]
    pub fn ticks(&self) -> u64 {
        self.pace.now()
    }

    /// An identifier of 32 hexadecimal digits, another each time.
    #[must_use]
    pub fn id(&self) -> String {
        Uuid::new_v4().simple().to_string()
    }

    /// Adds a row that must not be there (INS-1).
    ///
    /// # Errors
    /// Those of encoding it; `CommandsInBatchActOnDifferentPartitions` (EGT-5) if it lies in another partition.
    pub fn insert<R: PlainEntity>(&mut self, row: &R) -> Result<()> {
        let kind = OperationKind::Insert(row.to_row()?);
        self.write(row.key_of()?, kind)
    }

    /// Adds a row that replaces what is there, or is inserted (UPS-2).
    ///
    /// # Errors
    /// Those of [`insert`](Self::insert).
    pub fn put<R: PlainEntity>(&mut self, row: &R) -> Result<()> {
        let kind = OperationKind::InsertOrReplace(row.to_row()?);
        self.write(row.key_of()?, kind)
    }

    /// Removes a row that is there (DEL-2).
    ///
    /// # Errors
    /// Those of [`insert`](Self::insert).
    pub fn delete<R: PlainEntity>(&mut self, key: Selection<R, Point>) -> Result<()> {
        self.write(key.into_key()?, OperationKind::Delete(IfMatch::Any))
    }

    /// Adds an operation on a row of the partition, for patterns that lay rows out themselves.
    pub fn operation(&mut self, operation: Operation) {
        self.rows.push((self.by, operation));
    }

    /// Records an entry of this kind in the [feed](crate::feed) of the partition, with a payload of at most 64 KiB (TYPE-10).
    pub fn record(&mut self, kind: impl Into<String>, payload: impl Into<Vec<u8>>) {
        let (source, kind) = (self.source.row_key.clone(), Cow::Owned(kind.into()));
        self.records.push(ChangeRecord { source, kind, payload: payload.into() });
    }

    /// Adds a step in another partition, table or store, which a worker takes. The handle needs an [outbox](crate::outbox).
    pub fn add_step(&mut self, step: Step) {
        self.steps.push(step);
    }

    fn write(&mut self, key: EntityKey, kind: OperationKind) -> Result<()> {
        if key.partition_key != self.source.partition_key {
            let message = format!(
                "`{}` writes into partition '{}' beside an entity of '{}': send a step instead",
                self.by, key.partition_key, self.source.partition_key
            );
            return Err(Error::new(ErrorCode::CommandsInBatchActOnDifferentPartitions, message)
                .with_rule("EGT-5")
                .with_key(key.partition_key.as_str(), key.row_key.as_str()));
        }
        self.operation(Operation { row_key: key.row_key, kind });
        Ok(())
    }
}
