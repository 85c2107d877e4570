//! Rate limit of index maintenance.

use table_core::runtime::{Runtime, ticks_of};

use std::num::NonZeroU32;
use std::time::Duration;

/// Holds work to a rate: so many items a second on the average since it began, unlimited if it is `None`.
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

    /// How many items may be gone over before the next wait: what is due in a second.
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
