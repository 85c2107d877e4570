//! Workers perform the steps that outboxes record. Queue messages notify them of pending work (PAT-EC-1 to PAT-EC-7).
//!
//! # Context
//! A change in one partition often requires changes in other partitions, tables and stores, but no transaction spans them. Instead, a queue message describes
//! the remaining work. A worker performs it step by step, and then deletes the message.
//!
//! # Key layout
//! Each message in the queue is JSON:
//! - `{"Version":1,"Table":…,"PartitionKey":…}` refers to all pending intents in a partition.
//! - With `RowKey`, a message refers to the intent in one outbox row.
//!
//! The queue `{queue}-poison` contains [`PoisonEntry`]s as JSON. If an entry is too large for a message, the message contains the work's own JSON object with
//! the additional property `SetAside`: the `Error`, the `Attempts` and the time `At`. If even that is too large, the message contains only the work.
//!
//! # Guarantee
//! - Each intent is performed at least once, even if workers die. A received message becomes visible again (PAT-EC-3), and a [`Sweep`] replaces a lost message
//!   (PAT-EC-8).
//! - The steps are not isolated: readers can see the intermediate states (PAT-EC-6).
//! - Work that fails too often is moved to the poison queue. It remains there until it is requeued or discarded (PAT-EC-4).
//! - An attempt is counted in the row when it starts. If a worker starts several rows and dies, an attempt is counted for each of them. Message deliveries do
//!   not count, so work that was never tried does not become poison, even if it waits a long time behind other work. Outages do not count either, and a
//!   recorded outage cancels the earlier attempts that have no recorded outcome. The error that a handler returns
//!   [determines](Handler#failures-and-outages) whether a failure is an outage.
//! - Workers claim rows in batches, conditional on the rows' `ETag`s, for the duration of their lease. Even if many workers process one partition, only one of
//!   them processes each row (PAT-EC-7). Once a claim has expired, another worker may process the row a second time.
//! - Transient errors are retried within an attempt, and other errors in later attempts. Both kinds of retries use increasing, randomised delays (PAT-EC-5).
//!
//! # Cost
//! A message costs a put, a receive and a delete, plus an update whenever half of the lease has passed. A batch of 32 rows costs a range query and one
//! transaction, which claims the rows and starts the first 16. Processing a row costs the requests of its steps (see [`guard`](crate::outbox::guard)), which
//! run concurrently with the steps of 15 other rows. One transaction then deletes the 16 rows and starts the next ones. A retried row is started and deleted in
//! separate transactions.
//!
//! If a batch contains no unclaimed row, the worker scans the remaining rows in pages of 1,000, and each further batch costs an additional read of its rows. An
//! idle worker sends one receive request per [`WorkerOptions::poll_interval`].
//!
//! # Bounds
//! The number of workers and queues is unlimited (PAT-EC-7); one outbox has one queue. A worker holds the intents of one batch in memory and processes 16 of
//! them concurrently ([`WorkerOptions::concurrency`]). If several intents for one entity are claimed together, they are performed in change order.
//!
//! Claims expire by the clock of the queue service. Workers read this clock from the service's responses, so their own clocks need not agree. A worker extends
//! its lease while a step runs, for up to an hour. A step that takes longer, or that blocks its thread, must call [`keep`](Delivery::keep).
//!
//! A delivery ends after about 1,024 rows, and the message is redelivered after the other messages. The next delivery continues after the last row of this one.
//! On a store without key order, it starts again with the first remaining row.
//!
//! # When not to
//! If all changes are in one partition, use a transaction, which is simpler and isolated.

mod archive;
mod attempt;
mod circuit;
mod claim;
mod fault;
pub(crate) mod handler;
mod handler_error;
mod lease;
mod metrics;
mod options;
mod outcome;
mod poison;
mod portion;
mod reading;
mod renewal;
mod steps;
mod submitted;
mod sweep;
#[cfg(test)]
mod tests;
mod timer;
pub(crate) mod worker;

pub use archive::{Archive, ArchiveStep, archive};
pub use handler::{Delivery, Handler};
pub use handler_error::{failure, outage};
pub use metrics::WorkMetrics;
pub use options::WorkerOptions;
pub use poison::PoisonEntry;
pub use sweep::{Sweep, SweepReport};
pub use table_core::runtime::{Backoff, Runtime};
pub use worker::Worker;
