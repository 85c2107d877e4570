//! Limits the number of rows processed per second.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// The maximum idle time credited to a burst. After a pause, the rows that could have been processed in this time may be processed immediately.
const BURST: Duration = Duration::from_secs(1);

/// A limit on rows per second. After a pause, at most one second's worth of rows may be processed at once. Clones share the limit.
#[derive(Clone, Debug)]
pub struct Rate {
    per_second: u32,
    /// The earliest time at which the next rows may be processed.
    due: Arc<Mutex<Instant>>,
}

impl Rate {
    /// Creates a limit of at least one row per second.
    #[must_use]
    pub fn new(per_second: u32) -> Self {
        Self { per_second: per_second.max(1), due: Arc::new(Mutex::new(Instant::now())) }
    }

    /// Waits until the next rows may be processed.
    pub async fn ready(&self) {
        tokio::time::sleep_until(self.due()).await;
    }

    /// Counts `rows` rows as processed now.
    pub fn count(&self, rows: usize) {
        self.count_at(rows, Instant::now());
    }

    fn due(&self) -> Instant {
        *self.due.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts `rows` rows as processed at the time `now`.
    fn count_at(&self, rows: usize, now: Instant) {
        let rows = u32::try_from(rows).unwrap_or(u32::MAX);
        let earliest = now.checked_sub(BURST).unwrap_or(now);
        let mut due = self.due.lock().unwrap_or_else(PoisonError::into_inner);
        *due = (*due).max(earliest) + Duration::from_secs_f64(f64::from(rows) / f64::from(self.per_second));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn rows_are_paced_at_the_rate() {
        let (rate, begun) = (Rate::new(1_000), Instant::now());
        for clone in [&rate, &rate.clone()] {
            clone.ready().await;
            clone.count(500);
        }
        assert_eq!(begun.elapsed(), Duration::from_millis(500));
        assert_eq!(Rate::new(0).per_second, 1);
    }

    #[test]
    fn rows_that_were_missed_in_a_pause_are_not_made_up() {
        let rate = Rate::new(10);
        let mut now = rate.due();
        rate.count_at(10, now);
        now += Duration::from_secs(10 * 60);
        let resumed = now;
        for _ in 0..100 {
            now = now.max(rate.due());
            rate.count_at(10, now);
        }
        assert!(rate.due() - resumed >= Duration::from_secs(99), "{:?}", rate.due() - resumed);
    }
}
