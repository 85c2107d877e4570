//! Limits the number of rows that are processed per second.

use std::time::{Duration, Instant};

/// The maximum length of a pause that can be made up for. The rows that were missed in this time may be processed at once.
const BURST: Duration = Duration::from_secs(1);

/// A limit on rows per second. After a pause, at most the rows of one second may be processed at once.
#[derive(Debug)]
pub struct Rate {
    per_second: u32,
    /// The earliest time at which the next rows may be processed.
    due: Instant,
}

impl Rate {
    /// Creates a limit of at least one row per second.
    #[must_use]
    pub fn new(per_second: u32) -> Self {
        Self { per_second: per_second.max(1), due: Instant::now() }
    }

    /// Waits until the next rows may be processed, and then counts `rows` rows as processed.
    pub async fn wait(&mut self, rows: usize) {
        tokio::time::sleep(self.due.saturating_duration_since(Instant::now())).await;
        self.count(rows, Instant::now());
    }

    /// Counts `rows` rows as processed at the time `now`.
    fn count(&mut self, rows: usize, now: Instant) {
        let rows = u32::try_from(rows).unwrap_or(u32::MAX);
        let earliest = now.checked_sub(BURST).unwrap_or(now);
        self.due =
            self.due.max(earliest) + Duration::from_secs_f64(f64::from(rows) / f64::from(self.per_second));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn rows_are_paced_at_the_rate() {
        let mut rate = Rate::new(1_000_000);
        let begun = rate.due;
        rate.wait(500_000).await;
        assert_eq!(rate.due - begun, Duration::from_millis(500));
        assert_eq!(Rate::new(0).per_second, 1);
    }

    #[test]
    fn rows_that_were_missed_in_a_pause_are_not_made_up() {
        let mut rate = Rate::new(10);
        let mut now = rate.due;
        rate.count(10, now);
        now += Duration::from_secs(10 * 60);
        let resumed = now;
        for _ in 0..100 {
            now = now.max(rate.due);
            rate.count(10, now);
        }
        assert!(rate.due - resumed >= Duration::from_secs(99), "{:?}", rate.due - resumed);
    }
}
