//! Workers that perform the steps recorded by outboxes, driven by a queue (PAT-EC-1 to PAT-EC-7).
//!
//! # Context
//! A change in one partition has consequences in other partitions, tables and stores. No transaction spans them. Therefore, a queue message describes the
//! work. A worker performs the steps, and deletes the message last.
//!
//! # Key layout
//! Each message in the queue is JSON. `{"Version":1,"Table":…,"PartitionKey":…}` represents all pending intents of a partition. With `RowKey`, a message
//! represents the intent in one outbox row. With `Intent`, it contains an intent that has no outbox row; after the first attempt, it also contains the
//! number of `Attempts` and the last `Error`, which are otherwise stored in the row.
//! The queue `{queue}-poison` contains [`PoisonEntry`]s as JSON. If an entry is too large for a message, the message contains the work's JSON object with
//! the additional property `SetAside`: the `Error`, the `Attempts` and the time `At`. If that is too large as well, the message contains only the work.
//!
//! # Guarantee
//! - Each intent is performed at least once, even if workers die: a received message becomes visible again
//!   (PAT-EC-3), and a [`Sweep`] replaces a lost message (PAT-EC-8).
//! - The steps are not isolated: readers can see the states between them (PAT-EC-6).
//! - Work that fails too often is set aside as poison. It is kept until it is requeued or discarded (PAT-EC-4). An attempt is counted in the row when it
//!   starts. If a worker dies after it started several rows, an attempt is counted for each of them. Deliveries of messages do not count, so work that was
//!   never tried does not become poison, even if it waited a long time behind other work. Outages do not count either; the error that a handler returns
//!   [determines](Handler#failures-and-outages) whether a failure is an outage.
//! - Workers claim rows in batches, conditional on the rows' `ETag`s, for the duration of their lease, so even if many workers process
//!   one partition, each row is processed only once (PAT-EC-7). After a claim has expired, another worker may process the row a second time.
//! - Transient errors are retried within an attempt, other errors by later attempts. Both use growing random delays (PAT-EC-5).
//!
//! # Cost
//! A message takes a put, a receive and a delete, and an update whenever half of the lease has passed. A batch of 32 rows takes a range query and one
//! transaction, which claims the rows and starts the first 16. Processing a row takes the requests of its steps (see [`guard`](crate::outbox::guard)), which
//! run concurrently with the steps of 15 other rows. One transaction deletes these rows and starts the next rows. A row that is being retried is started and
//! deleted in separate transactions. An idle worker receives once per [`WorkerOptions::poll_interval`].
//!
//! # Bounds
//! The number of workers and queues is unlimited (PAT-EC-7); one outbox has one queue. A worker holds the intents of one batch in memory and works on 16 of
//! them concurrently ([`WorkerOptions::concurrency`]). Intents of one changed entity that are claimed together are performed in the order of their changes. Claims expire by the
//! clock of the queue service, which workers read from its responses, so the workers' clocks need not agree. A step that takes longer than the lease must call
//! [`keep`](Delivery::keep).
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
mod outcome;
mod poison;
mod steps;
mod sweep;
#[cfg(test)]
mod tests;
pub(crate) mod worker;

pub use archive::{Archive, ArchiveStep, archive};
pub use handler::{Delivery, Handler};
pub use handler_error::{failure, outage};
pub use metrics::WorkMetrics;
pub use poison::PoisonEntry;
pub use sweep::{Sweep, SweepReport};
pub use table_core::runtime::{Backoff, Runtime};
pub use worker::{Worker, WorkerOptions};
