//! Statistics of a running engine.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Statistics of an [`Engine`](crate::Engine): the sizes of its data, and counters of operations since the engine was opened.
///
/// Recently written rows are in memory, in the *memtable*. A checkpoint writes them to files on disk. Together, these files are the *base*.
///
/// Collecting the statistics reads no file. Sizes in bytes include the encoded rows and their overhead.
///
/// ```
/// use table_core::embedded::Engine;
///
/// let folder = tempfile::tempdir()?;
/// let engine = Engine::open(folder.path())?;
/// let before = engine.statistics()?;
/// pollster::block_on(engine.checkpoint())?;
/// let after = engine.statistics()?;
/// assert_eq!((before.flushes, after.flushes, after.memtable_rows), (0, 1, 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Statistics {
    /// The number of tables, excluding the internal tables of queues.
    pub tables: usize,
    /// The number of rows and tombstones in the memtable. They are not in the base yet.
    pub memtable_rows: usize,
    /// The approximate memory use of the memtable in bytes.
    pub memtable_bytes: usize,
    /// The time since the last checkpoint, or `None` if no checkpoint has been completed since the engine was opened.
    pub checkpoint_age: Option<Duration>,
    /// The number of files in the base.
    pub runs: usize,
    /// The total size in bytes of the files in the base. Files that have been merged into others do not count, even if they are still being read.
    pub base_bytes: u64,
    /// The number of segments. A segment is a key range that is merged independently of others.
    pub segments: usize,
    /// The largest number of layers in a segment. A lookup has to check at most this many layers.
    pub layers: usize,
    /// The total size in bytes of the layers above the oldest layer of each segment. The rows in these layers have not been merged with older rows yet.
    pub unmerged_bytes: u64,
    /// The number of tombstones in the base. A merge removes a tombstone together with the rows it hides.
    pub deletions: u64,
    /// The number of completed checkpoints.
    pub flushes: u64,
    /// The number of bytes written by checkpoints.
    pub flushed_bytes: u64,
    /// The number of completed merge steps.
    pub merges: u64,
    /// The number of bytes written by merges.
    pub merged_bytes: u64,
    /// The number of write groups. All writes in a group become durable together.
    pub groups: u64,
    /// The total number of writes in all write groups.
    pub grouped_writes: u64,
    /// The number of writes in the largest group.
    pub largest_group: u64,
    /// The number of block reads served from the cache.
    pub cache_hits: u64,
    /// The number of block reads that were not served from the cache, and therefore read a file of the base.
    pub cache_misses: u64,
}

/// Counters of committed groups of writes.
#[derive(Debug, Default)]
pub(crate) struct Groups {
    made: AtomicU64,
    writes: AtomicU64,
    largest: AtomicU64,
}

impl Groups {
    /// Counts a group with the given number of writes.
    pub(crate) fn add(&self, writes: usize) {
        self.made.fetch_add(1, Ordering::Relaxed);
        self.writes.fetch_add(writes as u64, Ordering::Relaxed);
        self.largest.fetch_max(writes as u64, Ordering::Relaxed);
    }

    pub(crate) fn describe(&self, statistics: &mut Statistics) {
        statistics.groups = self.made.load(Ordering::Relaxed);
        statistics.grouped_writes = self.writes.load(Ordering::Relaxed);
        statistics.largest_group = self.largest.load(Ordering::Relaxed);
    }
}

/// Counters of the flushes and merges of a base.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    flushes: AtomicU64,
    flushed_bytes: AtomicU64,
    merges: AtomicU64,
    merged_bytes: AtomicU64,
    /// The time of the last flush.
    flushed: Mutex<Option<Instant>>,
}

impl Counters {
    pub(crate) fn flush(&self, bytes: u64) {
        self.flushes.fetch_add(1, Ordering::Relaxed);
        self.flushed_bytes.fetch_add(bytes, Ordering::Relaxed);
        *self.flushed.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }

    #[cfg(test)]
    pub(crate) fn merged_bytes(&self) -> u64 {
        self.merged_bytes.load(Ordering::Relaxed)
    }

    pub(crate) fn merge(&self, bytes: u64) {
        self.merges.fetch_add(1, Ordering::Relaxed);
        self.merged_bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    pub(crate) fn describe(&self, statistics: &mut Statistics) {
        statistics.flushes = self.flushes.load(Ordering::Relaxed);
        statistics.flushed_bytes = self.flushed_bytes.load(Ordering::Relaxed);
        statistics.merges = self.merges.load(Ordering::Relaxed);
        statistics.merged_bytes = self.merged_bytes.load(Ordering::Relaxed);
        let flushed = *self.flushed.lock().unwrap_or_else(PoisonError::into_inner);
        statistics.checkpoint_age = flushed.map(|flushed| flushed.elapsed());
    }
}
