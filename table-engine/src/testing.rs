//! Access to the engine's internals for tests and fuzzers: custom disks and schedulers, failpoints, and the file formats.
//!
//! This module is not part of the public API and may change in any release.

#[cfg(feature = "testing")]
pub mod fuzz;

use std::ops::ControlFlow;
use std::sync::Arc;

use table_store::Result;
use table_store::name::TableName;

pub use crate::disk::{Disk, DiskFile, DiskLock, RealDisk};
use crate::engine::Engine;
pub use crate::failpoint::{Action, Hook, Step};
use crate::key::{Span, SplitKey, table_of};
use crate::options::EngineOptions;
pub use crate::threads::Scheduler;
use crate::threads::Threads;

impl EngineOptions {
    /// Sets a hook that is called before every [`Step`].
    pub fn failpoints(mut self, hook: Hook) -> Self {
        self.hook = Some(hook);
        self
    }

    /// Sets the disk for the engine's files.
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

impl Engine {
    /// Returns `true` if a file of the base may contain rows of a table, or if the base no longer has this file.
    ///
    /// # Errors
    /// - `TableNotFound` or `TableBeingDeleted` if the table does not exist.
    /// - `EngineClosed` if the engine is closed.
    pub fn may_be_in(&self, table: &TableName, file: &str) -> Result<bool> {
        let state = self.inner.state()?;
        let span = Span::table(self.table_id(&state, table)?);
        Ok(state.base.as_ref().is_none_or(|base| base.file_may_hold(file, &span)))
    }

    /// Returns `true` if the base contains rows of tables that no longer exist.
    ///
    /// # Errors
    /// - Any error from reading the base.
    /// - `EngineClosed` if the engine is closed.
    pub fn holds_dropped_rows(&self) -> Result<bool> {
        let state = self.inner.state_to_keep()?;
        let Some(base) = &state.base else { return Ok(false) };
        let all = Span { start: Vec::new(), end: u32::MAX.to_be_bytes().to_vec() };
        let is_dropped =
            |key: SplitKey<'_>| table_of(&key.to_vec()).is_some_and(|table| !state.catalog.contains(table));
        let found = base.sweep(&all)?.visit(None, |key, _| {
            Ok(if is_dropped(key) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })?;
        Ok(found.is_break())
    }
}
