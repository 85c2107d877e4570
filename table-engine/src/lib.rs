//! The embedded engine: tables and queues in a folder or in memory, with the semantics of Azure Table Storage.
//!
//! Overview:
//! - The **journal** makes writes durable. Writes are appended to its files as frames. One sync makes all waiting writes durable.
//! - The **memtable** contains the rows written since the last checkpoint, in a persistent map whose clones are snapshots. The **base** contains all other
//!   rows, in sorted files on disk, called runs. Checkpoints add runs, and a background thread merges runs step by step.
//! - The **committer** changes the **state**. It runs on its own thread, but most writes to an in-memory engine run it on the calling thread. Readers load the
//!   state atomically without waiting for the committer. There is one exception: in an in-memory engine, the first read after a write waits for any write in
//!   progress.
//!
//! `docs/format.md` describes the file formats.
//!
//! The engine implements the traits of `table-store` and does not depend on the typed layer. Programs use it as `table_core::embedded`.

mod apply;
mod backup;
mod base;
mod bytes;
mod catalog;
mod checkpointer;
mod committer;
mod decision;
#[cfg_attr(
    not(any(test, feature = "testing")),
    expect(unreachable_pub, reason = "only tests of the engine reach it, by `testing`")
)]
mod disk;
mod engine;
mod event;
#[cfg_attr(
    not(any(test, feature = "testing")),
    expect(unreachable_pub, reason = "only tests of the engine reach it, by `testing`")
)]
mod failpoint;
mod fault;
mod folder;
mod front;
mod gaps;
mod incarnation;
mod journal;
mod key;
mod manifest;
mod memtable;
mod options;
mod page;
mod queue;
mod read_only;
mod recover;
mod refused;
mod request;
mod reserve;
mod shared;
mod snapshot;
mod state;
mod statistics;
mod store;
mod table_statistics;
#[cfg(any(test, feature = "testing"))]
#[doc(hidden)]
pub mod testing;
#[cfg_attr(
    not(any(test, feature = "testing")),
    expect(unreachable_pub, reason = "only tests of the engine reach it, by `testing`")
)]
mod threads;
mod timestamps;
mod waker;

#[cfg(test)]
mod tests;

/// The README's example program, compiled and run as a doc test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;

pub use backup::{BackupImage, LostRows, PartialBackup, Restoration};
pub use base::{BackupFile, CopyReport, Verification, VerifiedFiles};
pub use engine::Engine;
pub use options::{Durability, EngineOptions, FaultInjection};
pub use snapshot::Snapshot;
pub use statistics::Statistics;
pub use table_statistics::{PartitionStatistics, TableStatistics};
pub use table_store::clock::Clock;
