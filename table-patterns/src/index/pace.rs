//! The rate limit for index checks and backfills.

use table_core::runtime::{Runtime, ticks_of};

use std::num::NonZeroU32;
use std::time::Duration;

/// An optional limit on the average number of items per second. The average is measured from the creation of the limit.
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

    /// Returns the number of items that may be processed without waiting, which is the allowance of one second.
    pub(crate) fn burst(&self) -> usize {
        self.per_second.map_or(usize::MAX, |rate| usize::try_from(rate.get()).unwrap_or(usize::MAX))
    }

    /// Counts processed items. Sleeps if they exceed the rate limit.
    pub(crate) async fn items(&mut self, items: usize) {
        let items = u64::try_from(items).unwrap_or(u64::MAX);
        self.done = self.done.saturating_add(items);
        let Some(per_second) = self.per_second else { return };
        let time =
            |items: u64| items.saturating_mul(ticks_of(Duration::from_secs(1))) / u64::from(per_second.get());
        // A call never sleeps longer than its own items require, even if the clock goes back or stops.
        let wait =
            self.began.saturating_add(time(self.done)).saturating_sub(self.pace.now()).min(time(items));
        if wait > 0 {
            self.pace.sleep(Duration::from_nanos(wait.saturating_mul(100))).await;
        }
    }
}

#[cfg(test)]
mod tests;
