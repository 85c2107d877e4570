//! Rate limit of index maintenance.

use table_core::runtime::{Runtime, ticks_of};

use std::num::NonZeroU32;
use std::time::Duration;

/// A rate limit: an average number of items per second since its creation, unlimited if `None`.
#[derive(Debug)]
pub(crate) struct Pacer {
    pace: Runtime,
    per_second: Option<NonZeroU32>,
    began: u64,
    done: u64,
}

impl Pacer {
    pub(crate) fn new(pace: Runtime, per_second: Option<NonZeroU32>) -> Self {
        let began = pace.now();
        Self { pace, per_second, began, done: 0 }
    }

    /// Returns the number of items that may be processed before the next wait, which is that of one second.
    pub(crate) fn burst(&self) -> usize {
        self.per_second.map_or(usize::MAX, |rate| usize::try_from(rate.get()).unwrap_or(usize::MAX))
    }

    /// Counts items, and waits until they are due.
    pub(crate) async fn items(&mut self, items: usize) {
        self.done = self.done.saturating_add(u64::try_from(items).unwrap_or(u64::MAX));
        let Some(per_second) = self.per_second else { return };
        let due = self.done.saturating_mul(ticks_of(Duration::from_secs(1))) / u64::from(per_second.get());
        let wait = self.began.saturating_add(due).saturating_sub(self.pace.now());
        if wait > 0 {
            self.pace.sleep(Duration::from_nanos(wait.saturating_mul(100))).await;
        }
    }
}
