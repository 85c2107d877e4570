//! Options of an engine: limits, durability, memory, and injected faults.

use std::num::{NonZeroU32, NonZeroUsize};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use table_store::clock::Clock;
use table_store::limits::Limits;

use crate::base::Place;
use crate::disk::{Disk, RealDisk};
use crate::failpoint::Hook;
use crate::threads::Threads;

/// The durability guarantee of an acknowledged write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// The write is on the disk and survives a power loss (CON-1). Concurrent writers share one sync.
    #[default]
    Durable,
    /// The write is in the operating system's cache, so it survives a crash of the process. It survives a power loss only after it has been synced by a
    /// checkpoint, by a close, or by the switch to the next journal file. A power loss can only remove the most recent writes, never an earlier write or part
    /// of a write.
    Relaxed,
}

/// Injected faults, for testing how callers handle them (ENG-14). By default, no faults are injected.
///
/// ```
/// use std::num::NonZeroU32;
/// use table_core::embedded::{EngineOptions, FaultInjection};
///
/// let faults = FaultInjection { empty_page_every: NonZeroU32::new(2), ..FaultInjection::default() };
/// let engine = EngineOptions::new().faults(faults).in_memory();
/// # drop(engine);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FaultInjection {
    /// Makes every n-th page empty, with a token for the next page (PAGE-4). A value of 1 is treated as 2, because a query with only empty pages would never
    /// end.
    pub empty_page_every: Option<NonZeroU32>,
    /// The maximum number of entities on a page, regardless of `$top` (PAGE-4).
    pub page_entities: Option<NonZeroUsize>,
    /// Limits each page to entities in one partition (PAGE-1).
    pub partition_pages: bool,
    /// Makes every n-th call fail with `ServerBusy` without any effect.
    pub busy_every: Option<NonZeroU32>,
    /// Makes every n-th transaction return `OperationTimedOut`, although it is applied (CON-11).
    pub lose_answer_every: Option<NonZeroU32>,
}

/// Options of an [`Engine`](crate::Engine).
///
/// ```
/// use table_core::embedded::{Durability, EngineOptions};
/// use table_core::limits::Limits;
///
/// let folder = tempfile::tempdir()?;
/// let engine = EngineOptions::new()
///     .limits(Limits::WIDE)
///     .durability(Durability::Relaxed)
///     .cache_bytes(64 << 20)
///     .open(folder.path())?;
/// # drop(engine);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "options do nothing until an engine is opened with them"]
pub struct EngineOptions {
    pub(crate) limits: Limits,
    pub(crate) durability: Durability,
    pub(crate) cache_bytes: usize,
    pub(crate) memtable_bytes: usize,
    pub(crate) checkpoint_bytes: usize,
    pub(crate) table_delete_delay: Duration,
    pub(crate) faults: FaultInjection,
    pub(crate) clock: Clock,
    pub(crate) hook: Option<Hook>,
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) threads: Threads,
}

/// The smallest permitted checkpoint threshold, in bytes. The threshold is limited because each checkpoint writes and syncs at least one file.
const SMALLEST: usize = 1 << 10;
/// The largest permitted checkpoint threshold, in bytes. It is so small that small multiples of it do not overflow.
const LARGEST: usize = match 1_usize.checked_shl(40) {
    Some(size) => size,
    None => usize::MAX / 4,
};

/// Returns `bytes`, clamped to the range from [`SMALLEST`] to [`LARGEST`].
const fn bounded(bytes: usize) -> usize {
    if bytes < SMALLEST {
        SMALLEST
    } else if bytes > LARGEST {
        LARGEST
    } else {
        bytes
    }
}

impl Default for EngineOptions {
    fn default() -> Self {
        Self {
            limits: Limits::PORTABLE,
            durability: Durability::default(),
            cache_bytes: 256 << 20,
            memtable_bytes: 192 << 20,
            checkpoint_bytes: 48 << 20,
            table_delete_delay: Duration::ZERO,
            faults: FaultInjection::default(),
            clock: Clock::default(),
            hook: None,
            disk: Arc::new(RealDisk),
            threads: Threads::default(),
        }
    }
}

impl EngineOptions {
    /// Returns the defaults: the portable limits (ENG-1, ENG-16), durable writes, and a 256 MiB cache.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the limits to enforce. [`Limits::UNLIMITED`] permits data that no service may accept, so it is not the default.
    pub const fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets the durability guarantee of acknowledged writes.
    pub const fn durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    /// Sets the size in bytes of the block cache, which all readers and snapshots share.
    ///
    /// A point read takes a few microseconds if the block is cached. Otherwise, it reads 8 KiB from the file, which takes several times as long.
    ///
    /// The cache is not the only memory for reads. The index and the filter of each file that has been read also stay in memory. They take about three bytes
    /// per row, or more precisely 1.3 bytes per row plus two keys per 8 KiB block. The common prefix of a file's keys is stored only once.
    pub const fn cache_bytes(mut self, bytes: usize) -> Self {
        self.cache_bytes = bytes;
        self
    }

    /// Sets the approximate maximum size in bytes of the memtable, which contains the rows that are not in the base yet. At this size, writers block until a
    /// checkpoint completes.
    ///
    /// A checkpoint starts when the memtable reaches half of this size, or earlier, so writers can continue while the checkpoint runs. The size is clamped to
    /// the same range as [`checkpoint_bytes`](Self::checkpoint_bytes).
    pub const fn memtable_bytes(mut self, bytes: usize) -> Self {
        self.memtable_bytes = bounded(bytes);
        self
    }

    /// Sets the approximate memtable size in bytes at which a checkpoint starts. A checkpoint also starts when the journal reaches twice this size.
    ///
    /// The size is clamped to the range from 1 KiB to 1 TiB, and to at most half of [`memtable_bytes`](Self::memtable_bytes).
    pub const fn checkpoint_bytes(mut self, bytes: usize) -> Self {
        self.checkpoint_bytes = bounded(bytes);
        self
    }

    /// Returns the memtable size in bytes at which a checkpoint starts.
    pub(crate) const fn checkpoint_at(&self) -> usize {
        let half = self.memtable_bytes / 2;
        if self.checkpoint_bytes < half { self.checkpoint_bytes } else { half }
    }

    /// Returns the size in bytes at which a run (a sorted data file) is finished. It is chosen so that a checkpoint writes a few runs, and a merge step writes
    /// one.
    pub(crate) const fn run_bytes(&self) -> u64 {
        (self.checkpoint_at() / 3) as u64
    }

    /// Returns the location of a folder's base on `disk`.
    pub(crate) fn place(&self, disk: &Arc<dyn Disk>, folder: &Path) -> Place {
        Place {
            disk: Arc::clone(disk),
            folder: folder.into(),
            cache_bytes: self.cache_bytes,
            run_bytes: self.run_bytes(),
            hook: self.hook.clone(),
        }
    }

    /// Sets how long requests for a deleted table return `TableBeingDeleted` (ENG-9). The default is 0. On the service, it is 40 seconds. The period ends early
    /// if the engine is closed.
    pub const fn table_delete_delay(mut self, delay: Duration) -> Self {
        self.table_delete_delay = delay;
        self
    }

    /// Sets the injected faults (ENG-14).
    pub const fn faults(mut self, faults: FaultInjection) -> Self {
        self.faults = faults;
        self
    }

    /// Sets the clock for Timestamps, leases and expiries. The clock may read from the engine, but must not wait for a write. The engine reads the clock before
    /// it processes the next request, so the wait would never end.
    pub fn clock(mut self, clock: Clock) -> Self {
        self.clock = clock;
        self
    }
}
