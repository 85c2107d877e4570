//! Limits the rate of rows per second.

use std::time::{Duration, Instant};

/// A limit on rows per second, counted from the first row.
#[derive(Debug)]
pub struct Rate {
    per_second: u32,
    begun: Instant,
    rows: u32,
}

impl Rate {
    /// Creates a limit of at least one row per second.
    #[must_use]
    pub fn new(per_second: u32) -> Self {
        Self { per_second: per_second.max(1), begun: Instant::now(), rows: 0 }
    }

    /// Waits until all rows counted so far are due, and then counts `rows` more.
    pub async fn wait(&mut self, rows: usize) {
        let due = self.due();
        tokio::time::sleep(due.saturating_sub(self.begun.elapsed())).await;
        self.rows = self.rows.saturating_add(u32::try_from(rows).unwrap_or(u32::MAX));
    }

    /// Returns how long after the first row the counted rows are due.
    fn due(&self) -> Duration {
        Duration::from_secs_f64(f64::from(self.rows) / f64::from(self.per_second))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn rows_are_paced_at_the_rate() {
        let mut rate = Rate::new(1_000_000);
        rate.wait(500_000).await;
        assert_eq!(rate.due(), Duration::from_millis(500));
        assert_eq!(Rate::new(0).per_second, 1);
    }
}
