//! How often something is tried that others were faster with, and how long one waits in between.

use std::time::Duration;

use crate::pace::{Backoff, Pace};

/// How often an attempt that lost a race is made again, and how long it waits before (RTY-1).
///
/// ```
/// use std::time::Duration;
/// use table_patterns::retry::Retry;
///
/// let retry = Retry::new(3, Duration::from_millis(1), Duration::from_millis(4));
/// assert_eq!(retry.attempts(), 3);
/// pollster::block_on(retry.wait(0));
/// ```
#[derive(Clone, Debug)]
pub struct Retry {
    attempts: usize,
    backoff: Backoff,
    pace: Pace,
}

impl Retry {
    /// So many attempts, at least one; waits of at most `first` after the first of them, and never more than `most`.
    #[must_use]
    pub fn new(attempts: usize, first: Duration, most: Duration) -> Self {
        Self { attempts: attempts.max(1), backoff: Backoff { first, most }, pace: Pace::new() }
    }

    /// The same with another way to wait.
    #[must_use]
    pub fn with_pace(self, pace: Pace) -> Self {
        Self { pace, ..self }
    }

    /// How many attempts are made.
    #[must_use]
    pub const fn attempts(&self) -> usize {
        self.attempts
    }

    /// Waits after an attempt, counted from 0: half of the time by chance, so that those who collided part.
    pub async fn wait(&self, attempt: usize) {
        let attempt = u32::try_from(attempt).unwrap_or(u32::MAX);
        self.pace.sleep(self.backoff.delay(attempt, self.pace.random())).await;
    }
}

/// 32 attempts, the first wait up to a millisecond, none above a quarter of a second.
impl Default for Retry {
    fn default() -> Self {
        Self::new(32, Duration::from_millis(1), Duration::from_millis(250))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    #[test]
    fn rty_1_waits_stay_below_a_bound_that_doubles() {
        let waits = Arc::new(Mutex::new(Vec::new()));
        let recorder = Arc::clone(&waits);
        let pace = Pace::new().sleep_by(move |time| {
            recorder.lock().unwrap().push(time);
            Box::pin(async {})
        });
        let retry = Retry::new(0, Duration::from_millis(1), Duration::from_millis(5)).with_pace(pace);
        assert_eq!(retry.attempts(), 1);
        for attempt in [0, 1, 2, 3, usize::MAX] {
            pollster::block_on(retry.wait(attempt));
        }
        let bounds = [1, 2, 4, 5, 5].map(Duration::from_millis);
        let waits = waits.lock().unwrap();
        assert_eq!(waits.len(), bounds.len());
        assert!(
            waits.iter().zip(bounds).all(|(wait, bound)| bound / 2 <= *wait && *wait <= bound),
            "{waits:?}"
        );
    }
}
