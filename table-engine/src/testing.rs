//! Access to the engine for tests and fuzzers: another disk, another scheduler, failpoints, and the file formats.
//!
//! Not public API: it may change in any release.

#[cfg(feature = "testing")]
pub mod fuzz;

use std::sync::Arc;

pub use crate::disk::{Disk, DiskFile, DiskLock, RealDisk};
pub use crate::failpoint::{Action, Hook, Step};
use crate::options::EngineOptions;
pub use crate::threads::Scheduler;
use crate::threads::Threads;

impl EngineOptions {
    /// Sets a hook that is called before every step that accesses the disk.
    pub fn failpoints(mut self, hook: Hook) -> Self {
        self.hook = Some(hook);
        self
    }

    /// Sets the disk of the journal and the base.
    pub fn disk(mut self, disk: Arc<dyn Disk>) -> Self {
        self.disk = disk;
        self
    }

    /// Sets the scheduler that starts the engine's threads and decides when each one runs.
    pub fn scheduler(mut self, scheduler: Arc<dyn Scheduler>) -> Self {
        self.threads = Threads::scheduled(scheduler);
        self
    }
}
