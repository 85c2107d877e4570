//! The reasons for which the result of an engine may differ from the expected one.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The reasons for which a result may differ from the correct one.
#[derive(Debug, Default)]
pub(super) struct Excuses {
    /// `true` if a thread of the engine was made to fail.
    pub(super) thread_failed: Arc<AtomicBool>,
    /// `true` if bytes on the disk were changed.
    pub(super) damaged: bool,
    /// `true` if the only change so far was in one block of a run.
    pub(super) is_one_block: bool,
    /// `true` if the clock has reached the maximum time.
    pub(super) time_over: bool,
    /// `true` if the engine is being closed.
    pub(super) closing: bool,
}

impl Excuses {
    /// Returns the excuses that the disk gives to all later lives.
    pub(super) fn of_disk(&self) -> Self {
        Self { damaged: self.damaged, is_one_block: self.is_one_block, ..Self::default() }
    }

    /// Records that bytes on the disk were changed; `is_block` is `true` if they are in one block of a run.
    pub(super) fn damage(&mut self, is_block: bool) {
        self.is_one_block = is_block && !self.damaged;
        self.damaged = true;
    }
}
