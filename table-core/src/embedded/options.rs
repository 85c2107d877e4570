//! Options of an engine: limits, durability, memory, and faults for tests.

use std::num::{NonZeroU32, NonZeroUsize};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crate::clock::Clock;
use crate::embedded::base::Place;
use crate::embedded::disk::{Disk, RealDisk};
use crate::embedded::failpoint::Hook;
use crate::embedded::threads::{Scheduler, Threads};
use crate::limits::Limits;

/// When a write is acknowledged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// When it is on the disk: it survives a power loss (CON-1). Writers that wait at the same time share one sync.
    #[default]
    Durable,
    /// When it is with the operating system: it survives the end of the process, and a power loss only once a checkpoint, a
    /// close or the next journal file has synced it. What is lost is always the end of the history, never a part of it.
    Relaxed,
}

/// Misbehaviour on request, so that callers can test that they bear it (ENG-14). The default is none.
///
/// ```
/// use std::num::NonZeroU32;
/// use table_core::embedded::{EngineOptions, Faults};
///
/// let faults = Faults { empty_page_every: NonZeroU32::new(2), ..Faults::default() };
/// let engine = EngineOptions::new().faults(faults).in_memory();
/// # drop(engine);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// Every n-th page is empty and has a token (PAGE-4). 1 counts as 2, so that a query comes to its end.
    pub empty_page_every: Option<NonZeroU32>,
    /// No page holds more entities than this, whatever `$top` is (PAGE-4).
    pub page_entities: Option<NonZeroUsize>,
    /// A page ends with its partition (PAGE-1).
    pub partition_pages: bool,
    /// Every n-th call is refused with `ServerBusy`, with nothing done.
    pub busy_every: Option<NonZeroU32>,
    /// Every n-th transaction is applied, and then answered with `OperationTimedOut` (CON-11).
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
    pub(crate) recent_bytes: usize,
    pub(crate) checkpoint_bytes: usize,
    pub(crate) table_delete_delay: Duration,
    pub(crate) faults: Faults,
    pub(crate) clock: Clock,
    pub(crate) hook: Option<Hook>,
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) threads: Threads,
}

impl Default for EngineOptions {
    fn default() -> Self {
        Self {
            limits: Limits::PORTABLE,
            durability: Durability::default(),
            cache_bytes: 256 << 20,
            recent_bytes: 192 << 20,
            checkpoint_bytes: 48 << 20,
            table_delete_delay: Duration::ZERO,
            faults: Faults::default(),
            clock: Clock::default(),
            hook: None,
            disk: Arc::new(RealDisk),
            threads: Threads::default(),
        }
    }
}

impl EngineOptions {
    /// The defaults: the portable limits (ENG-1, ENG-16), durable writes, 256 MiB of cache.
    pub fn new() -> Self {
        Self::default()
    }

    /// The limits that users are held to. [`Limits::UNLIMITED`] stores what no service may accept: chosen openly or not at all.
    pub const fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// When a write is acknowledged.
    pub const fn durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    /// Memory for blocks of the base, in bytes, shared by all readers and snapshots.
    ///
    /// A point get that finds its block takes a few microseconds, one that does not reads 8 KiB from the file, which takes several
    /// times as long. In addition, the index and the filter of each file that was read are kept in memory: about three bytes a row, or 1.3 bytes and two keys for each block of 8 KiB. Keys of one file share their common beginning.
    pub const fn cache_bytes(mut self, bytes: usize) -> Self {
        self.cache_bytes = bytes;
        self
    }

    /// The bound on rows that are not in the base yet, in bytes, about. At the bound writers wait for a checkpoint.
    pub const fn recent_bytes(mut self, bytes: usize) -> Self {
        self.recent_bytes = bytes;
        self
    }

    /// How many bytes of rows, about, begin a checkpoint. Twice as much journal does so too.
    pub const fn checkpoint_bytes(mut self, bytes: usize) -> Self {
        self.checkpoint_bytes = bytes;
        self
    }

    /// The bytes at which a run of the base ends: few of them make a checkpoint, and one is a slice of a merge.
    pub(crate) const fn run_bytes(&self) -> u64 {
        (self.checkpoint_bytes / 3) as u64
    }

    /// Returns the place of the base of a folder on a disk.
    pub(crate) fn place(&self, disk: &Arc<dyn Disk>, folder: &Path) -> Place {
        Place {
            disk: Arc::clone(disk),
            folder: folder.into(),
            cache_bytes: self.cache_bytes,
            run_bytes: self.run_bytes(),
            hook: self.hook.clone(),
        }
    }

    /// How long the name of a deleted table answers `TableBeingDeleted` (ENG-9): 0 by default, 40 seconds as the service does.
    /// It is forgotten when the engine is closed.
    pub const fn table_delete_delay(mut self, delay: Duration) -> Self {
        self.table_delete_delay = delay;
        self
    }

    /// Misbehaviour on request (ENG-14).
    pub const fn faults(mut self, faults: Faults) -> Self {
        self.faults = faults;
        self
    }

    /// The clock that Timestamps are taken from.
    pub fn clock(mut self, clock: Clock) -> Self {
        self.clock = clock;
        self
    }

    /// Asked before every step to the disk: for tests.
    pub fn failpoints(mut self, hook: Hook) -> Self {
        self.hook = Some(hook);
        self
    }

    /// The disk under journal and base.
    pub fn disk(mut self, disk: Arc<dyn Disk>) -> Self {
        self.disk = disk;
        self
    }

    /// What starts the engine's threads and decides when each goes on: for tests.
    pub fn scheduler(mut self, scheduler: Arc<dyn Scheduler>) -> Self {
        self.threads = Threads::scheduled(scheduler);
        self
    }
}
