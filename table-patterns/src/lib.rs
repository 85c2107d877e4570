//! The pattern catalogue on table storage: the crate an application depends on.
//!
//! | module | pattern |
//! |---|---|
//! | [`backup`] | backups of an embedded engine in a store of blobs, full and incremental |
//! | [`denormal`] | properties of one entity copied into others, in agreement (PAT-DEN) |
//! | [`entities`] | the write path: every write of an entity, with the rows of its patterns |
//! | [`feed`] | every change of a partition, in order, from any place (PAT-EC-8) |
//! | [`index`](mod@index) | indexes that look after themselves (PAT-INTRA, PAT-INTER, PAT-IX) |
//! | [`large`] | the value is a blob, the entity holds its address (PAT-LARGE) |
//! | [`log_blobs`] | log lines in blobs named by time (PAT-ANTI-2) |
//! | [`log_tail`] | the newest first, appends that never collide, followers (PAT-LOG) |
//! | [`migrate`] | a table copied to another store, resumed and checked (DQ-12) |
//! | [`outbox`] | what a change intends elsewhere, recorded in its transaction (PAT-EC) |
//! | [`participant`] | what takes part in each write of an entity, in its transaction |
//! | [`periods`] | a table a period, dropped when it expires; deletes in batches (PAT-HVD) |
//! | [`relation`] | owners and their parts, no part without its owner (PAT-CK-3) |
//! | [`sequence`] | the next number of a partition, without gaps or without a hot row |
//! | [`series`] | the values of a period as properties of one entity (PAT-SER) |
//! | [`unit`](mod@unit) | one transaction over several entity types, with all that their patterns add |
//! | [`view`] | a read model kept from a change feed, with sums that count each entity once (IMP-6) |
//! | [`wide`] | one logical entity in several rows, never read half-written (PAT-WIDE) |
//! | [`work`] | workers that do it, by a queue; sweeps, poison, the archive (PAT-EC) |
//!
//! It re-exports [`table_core`], so that one dependency is enough. Each pattern stands on
//! [`TableStore`] and [`QueueStore`] alone, and its module says what it guarantees, what it costs, where it ends, and when not to use it.
//!
//! ```
//! use table_patterns::{EntityKey, TableName};
//!
//! assert_eq!(TableName::new("Company")?.as_str(), "Company");
//! assert_eq!(EntityKey::new("Sales", "000223")?.row_key.as_str(), "000223");
//! # Ok::<(), table_patterns::Error>(())
//! ```

// The derives name the crate, also in its own tests.
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
