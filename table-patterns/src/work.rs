//! Workers that carry out what outboxes recorded, by a queue (PAT-EC-1 to PAT-EC-7).
//!
//! # Context
//! A change in one partition has consequences in others, in other tables, in other stores. No transaction spans them. A message
//! names the work; a worker takes the steps, and deletes the message last.
//!
//! # Key layout
//! The queue holds JSON: `{"Version":1,"Table":…,"PartitionKey":…}` for all that is pending in a partition, with `RowKey` for one
//! outbox row, with `Intent` for an intent that has no row. The queue `{queue}-poison` holds [`PoisonEntry`]s as JSON.
//!
//! # Guarantee
//! - Each intent is done at least once, whatever worker dies when: a message that was received shows again (PAT-EC-3), and one that
//!   was lost is put again by a [`Sweep`] (PAT-EC-8).
//! - There is no isolation: readers see states between the steps (PAT-EC-6).
//! - What fails too often is put aside, marked, and can be looked at and requeued; it is never dropped (PAT-EC-4).
//! - Transient faults are tried again within a delivery, others by later deliveries, both with growing waits that vary (PAT-EC-5).
//!
//! # Cost
//! A message is a put, a receive and a delete, and an update for each half lease that it takes. A row is a range query, its steps (see
//! [`guard`](crate::outbox::guard)), and a delete. An idle worker receives once in [`WorkerOptions::idle`].
//!
//! # Bounds
//! As many workers and queues as you like (PAT-EC-7); one outbox has one queue. A step that takes longer than the lease must
//! [`keep`](Call::keep) it.
//!
//! # When not to
//! Where all that changes is in one partition: a transaction is simpler, and isolated.

mod archive;
pub(crate) mod handler;
mod lease;
pub(crate) mod message;
mod metrics;
mod poison;
mod steps;
mod sweep;
#[cfg(test)]
mod tests;
pub(crate) mod worker;

pub use archive::{ARCHIVE, Archive, archive};
pub use handler::{Call, Handler};
pub use metrics::WorkMetrics;
pub use poison::PoisonEntry;
pub use sweep::{Sweep, SweepReport};
pub use table_core::pace::{Backoff, Pace};
pub use worker::{Worker, WorkerOptions};
