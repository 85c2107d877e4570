//! Figures of a running engine, as data.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Figures of an [`Engine`](crate::embedded::Engine): what it holds, and what it has done since it was opened.
///
/// Taking them reads no file and waits for no one. Bytes are those of encoded rows with what belongs to them.
///
/// ```
/// use table_core::embedded::Engine;
///
/// let folder = tempfile::tempdir()?;
/// let engine = Engine::open(folder.path())?;
/// let before = engine.statistics()?;
/// pollster::block_on(engine.checkpoint())?;
/// let after = engine.statistics()?;
/// assert_eq!((before.flushes, after.flushes, after.recent_rows), (0, 1, 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Statistics {
    /// Tables.
    pub tables: usize,
    /// Rows and deletions that are not in the base yet.
    pub recent_rows: usize,
    /// The memory that these take, about.
    pub recent_bytes: usize,
    /// The time since the last checkpoint; `None` before the first one since the engine was opened.
    pub checkpoint_age: Option<Duration>,
    /// Files of the base.
    pub runs: usize,
    /// Bytes of these files. Files that were merged and are still read are not among them.
    pub base_bytes: u64,
    /// Ranges of keys that the base is merged by.
    pub segments: usize,
    /// Layers of the range that has most: a look-up goes through these.
    pub layers: usize,
    /// Bytes above the oldest layer of each range: rows that will be merged with older ones.
    pub unmerged_bytes: u64,
    /// Deletions in the base. Each one hides a row until both are merged.
    pub deletions: u64,
    /// Checkpoints that were written.
    pub flushes: u64,
    /// Bytes that these wrote.
    pub flushed_bytes: u64,
    /// Slices of merges.
    pub merges: u64,
    /// Bytes that these wrote.
    pub merged_bytes: u64,
    /// Groups of writes that were made durable together.
    pub groups: u64,
    /// Writes of these groups.
    pub grouped_writes: u64,
    /// Writes of the largest group.
    pub largest_group: u64,
    /// Blocks of the base that were found in memory.
    pub cache_hits: u64,
    /// Blocks of the base that were read from a file for a reader.
    pub cache_misses: u64,
}

/// Counts groups of writes.
#[derive(Debug, Default)]
pub(crate) struct Groups {
    made: AtomicU64,
    writes: AtomicU64,
    largest: AtomicU64,
}

impl Groups {
    /// A group of so many writes.
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

/// Counts what a base does.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    flushes: AtomicU64,
    flushed_bytes: AtomicU64,
    merges: AtomicU64,
    merged_bytes: AtomicU64,
    /// When the last flush was done.
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
