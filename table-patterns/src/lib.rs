//! Table storage patterns: the crate that applications depend on.
//!
//! | module | pattern |
//! |---|---|
//! | [`backup`] | full and incremental backups of an embedded engine in a blob store |
//! | [`denormal`] | properties of one entity copied into others, kept consistent (PAT-DEN) |
//! | [`entities`] | the write path: every write of an entity, with the rows of its patterns |
//! | [`feed`] | every change of a partition, in order, readable from any position (PAT-EC-8) |
//! | [`index`](mod@index) | self-maintaining secondary indexes (PAT-INTRA, PAT-INTER, PAT-IX) |
//! | [`large`] | large values in blobs, with their addresses in the entity (PAT-LARGE) |
//! | [`log_blobs`] | log lines in blobs named by time (PAT-ANTI-2) |
//! | [`log_tail`] | logs with the newest entry first, appends without collisions, followers (PAT-LOG) |
//! | [`migrate`] | copies of a table in another store, resumable and verified (DQ-12) |
//! | [`outbox`] | intents for other partitions, recorded in the transaction of a change (PAT-EC) |
//! | [`participant`] | application code that adds rows to each write of an entity |
//! | [`periods`] | one table per period, dropped when it expires; batched deletes (PAT-HVD) |
//! | [`relation`] | parents and their parts: no part without its parent (PAT-CK-3) |
//! | [`sequence`] | numbers of a partition: without gaps, or without a hot row |
//! | [`series`] | the values of a period as properties of one entity (PAT-SER) |
//! | [`unit`](mod@unit) | one transaction over several entity types, with the rows of their patterns |
//! | [`view`] | a read model built from a change feed, with sums that count each entity once (IMP-6) |
//! | [`wide`] | one logical entity in several rows, never read half-written (PAT-WIDE) |
//! | [`work`] | workers that deliver recorded intents; sweeps, poison messages, the archive (PAT-EC) |
//!
//! The crate re-exports [`table_core`]: one dependency is enough. Each pattern needs only a [`TableStore`] and, for the outbox, a
//! [`QueueStore`]. Its module documents guarantees, costs, limits, and when not to use it.
//!
//! ```
//! use table_patterns::{EntityKey, TableName};
//!
//! assert_eq!(TableName::new("Company")?.as_str(), "Company");
//! assert_eq!(EntityKey::new("Sales", "000223")?.row_key.as_str(), "000223");
//! # Ok::<(), table_patterns::Error>(())
//! ```

// The code that the derives generate names the crate, in its own tests too.
extern crate self as table_patterns;

#[cfg(all(feature = "blobs", feature = "embedded"))]
pub mod backup;
pub mod blob;
mod converge;
pub mod denormal;
pub mod entities;
mod failure;
#[cfg(test)]
mod faults;
pub mod feed;
mod handle;
pub mod index;
#[cfg(feature = "blobs")]
pub mod large;
#[cfg(feature = "blobs")]
pub mod log_blobs;
pub mod log_tail;
mod many;
pub mod migrate;
mod order;
pub mod outbox;
pub mod participant;
pub mod periods;
pub mod relation;
mod requests;
pub mod sequence;
pub mod series;
mod settle;
pub mod unit;
pub mod view;
pub mod wide;
pub mod work;

pub use entities::Entities;
pub use handle::EntityStore;
pub use table_core::*;
