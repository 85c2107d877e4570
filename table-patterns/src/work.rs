//! Workers that carry out what outboxes recorded, by a queue (PAT-EC-1 to PAT-EC-7).
//!
//! # Context
//! A change in one partition has consequences in others, in other tables, in other stores. No transaction spans them. A message
//! names the work; a worker takes the steps, and deletes the message last.
//!
//! # Key layout
//! The queue holds JSON: `{"Version":1,"Table":…,"PartitionKey":…}` for all that is pending in a partition, with `RowKey` for one
//! outbox row, with `Intent` for an intent that has no row, and then `Attempts` and `Error` as the row would have them. The queue `{queue}-poison` holds [`PoisonEntry`]s as JSON.
//!
//! # Guarantee
//! - Each intent is done at least once, whatever worker dies when: a message that was received shows again (PAT-EC-3), and one that
//!   was lost is put again by a [`Sweep`] (PAT-EC-8).
//! - There is no isolation: readers see states between the steps (PAT-EC-6).
//! - What fails too often is put aside, marked, and can be looked at and requeued; it is never dropped (PAT-EC-4). An attempt is counted on the
//!   row where it begins; of rows that are begun together, and whose worker dies, the first attempt counts for each. Deliveries count for nothing: what
//!   was never tried is never poison, however long it waited behind other work.
//! - Workers claim rows in portions, under their `ETag`s, for as long as their lease: many workers on one partition do its work once (PAT-EC-7). A
//!   claim is given up when it is over; then another worker may do the row a second time.
//! - Transient faults are tried again within an attempt, others by later attempts, both with growing waits that vary (PAT-EC-5).
//!
//! # Cost
//! A message is a put, a receive and a delete, and an update for each half lease that it takes. A portion of 32 rows is a range query and one
//! transaction that claims them and begins the first 16. A row is its steps (see [`guard`](crate::outbox::guard)), taken beside those of 15 others; one
//! transaction deletes these rows and begins the next. A row that was tried before is begun and ended alone.
//! An idle worker receives once in [`WorkerOptions::idle`].
//!
//! # Bounds
//! As many workers and queues as you like (PAT-EC-7); one outbox has one queue. A worker holds the intents of one portion in memory, and works on 16 of
//! them at one time ([`WorkerOptions::together`]), those of one source in the order of their changes. Clocks of
//! workers should agree to within a lease, as claims end by them. A step that takes longer than the lease must
//! [`keep`](Delivery::keep) it.
//!
//! # When not to
//! Where all that changes is in one partition: a transaction is simpler, and isolated.

mod archive;
mod attempt;
mod circuit;
mod claim;
mod end;
mod fault;
pub(crate) mod handler;
mod lease;
mod metrics;
mod poison;
mod steps;
mod sweep;
#[cfg(test)]
mod tests;
pub(crate) mod worker;

pub use archive::{Archive, ArchiveStep, archive};
pub use handler::{Delivery, Handler};
pub use metrics::WorkMetrics;
pub use poison::PoisonEntry;
pub use sweep::{Sweep, SweepReport};
pub use table_core::runtime::{Backoff, Runtime};
pub use worker::{Worker, WorkerOptions};
