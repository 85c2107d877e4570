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
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    use pollster::block_on;
    use table_core::clock::Clock;

    use super::*;

    const SECOND: u64 = 10_000_000;

    /// Returns the total time, in seconds, spent waiting for 100 batches of 10 items at 100 items per second. The time is read from `clock`.
    fn waited(clock: impl Fn(u64) -> u64 + Send + Sync + 'static) -> u64 {
        let time = Arc::new(AtomicU64::new(1_000 * 86_400 * SECOND));
        let (shown, slept) = (Arc::clone(&time), Arc::clone(&time));
        let began = time.load(Ordering::SeqCst);
        let runtime = Runtime::new().clock(Clock::new(move || clock(shown.load(Ordering::SeqCst)))).sleep_by(
            move |length| {
                slept.fetch_add(ticks_of(length), Ordering::SeqCst);
                Box::pin(async {})
            },
        );
        let mut pacer = Pacer::new(runtime, NonZeroU32::new(100));
        for _ in 0..100 {
            block_on(pacer.items(10));
        }
        (time.load(Ordering::SeqCst) - began) / SECOND
    }

    #[test]
    fn a_rate_is_kept_if_the_clock_runs_stops_or_goes_back() {
        let day = 86_400 * SECOND;
        let readings = AtomicU64::new(0);
        assert_eq!(waited(|time| time), 10);
        assert_eq!(waited(|_| 7), 10);
        assert_eq!(waited(move |time| time - readings.fetch_add(1, Ordering::SeqCst) * day), 10);
    }
}
