//! Retry policy of requests (RTY rules).

mod after;
mod budget;

use std::time::Duration;

pub(crate) use after::retry_after;
pub(crate) use budget::Budget;

/// Exponential back-off with jitter, bounded in number and in time (RTY-2).
///
/// The rules say what is repeated: 408, 429, 500, 502, 503, 504, broken connections and time limits (RTY-1).
/// The outcomes of a repeated write are listed in `docs/lost-answers.md` (CON-11).
///
/// A call that is dropped before its end sends nothing more. What it sent may have been applied.
///
/// ```
/// use std::time::Duration;
/// use table_azure::RetryPolicy;
///
/// let policy = RetryPolicy { retries: 5, ..RetryPolicy::default() };
/// assert_eq!(policy.attempt, Duration::from_secs(35));
/// assert_eq!(RetryPolicy::NONE.retries, 0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Repetitions after the first attempt.
    pub retries: u32,
    /// The delay before the first repetition; each further one is twice as long, give or take a fifth (RTY-2).
    pub base: Duration,
    /// The longest delay. A service that asks for a longer one is heeded nevertheless (RTY-3).
    pub cap: Duration,
    /// The time limit of one attempt. The service's own is 30 s (REQ-6).
    pub attempt: Duration,
    /// The time limit of the whole operation: attempts, the delays between them, the look-up of a lost write's outcome.
    pub total: Duration,
    /// Repetitions that all calls of a client may make while hardly any request ends well; ten that do earn one. When it is used up, as
    /// in an outage, requests are sent once. `tracing` reports its beginning and end (target `table_azure::circuit`).
    pub budget: u32,
    /// How long a `create_table` waits for the deletion of a table of that name to end (RTY-6); zero returns
    /// `TableBeingDeleted` at once.
    pub being_deleted: Duration,
}

impl RetryPolicy {
    /// One attempt and no more.
    pub const NONE: Self = Self {
        retries: 0,
        base: Duration::from_millis(800),
        cap: Duration::from_mins(1),
        attempt: Duration::from_secs(35),
        total: Duration::from_mins(3),
        budget: 100,
        being_deleted: Duration::ZERO,
    };

    /// The delay before a repetition, from 0 on; `random` is from 0 to 1.
    pub(crate) fn delay(&self, retry: u32, random: f64) -> Duration {
        let doubled = 2_u32.checked_pow(retry).and_then(|factor| self.base.checked_mul(factor));
        doubled.unwrap_or(self.cap).min(self.cap).mul_f64(0.8 + 0.4 * random)
    }
}

impl Default for RetryPolicy {
    /// Three repetitions from 0.8 s on, at most 60 s apart, for at most 3 minutes; 5 minutes for a table that is being
    /// deleted.
    fn default() -> Self {
        Self { retries: 3, being_deleted: Duration::from_mins(5), ..Self::NONE }
    }
}

/// A number from 0 to 1 of one by chance, so that callers do not come back together.
pub(crate) fn fraction(random: u64) -> f64 {
    // 32 bits are fine enough, and a float holds them exactly.
    f64::from(u32::try_from(random >> 32).unwrap_or_default()) / f64::from(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rty_2_delays_double_up_to_the_cap_with_a_fifth_of_jitter() {
        let policy = RetryPolicy::default();
        for (retry, middle) in [(0, 800), (1, 1_600), (2, 3_200), (6, 51_200), (7, 60_000), (90, 60_000)] {
            let middle = Duration::from_millis(middle);
            assert_eq!(policy.delay(retry, 0.5), middle, "{retry}");
            assert_eq!(policy.delay(retry, 0.0), middle.mul_f64(0.8), "{retry}");
            assert_eq!(policy.delay(retry, 1.0), middle.mul_f64(1.2), "{retry}");
        }
    }

    #[test]
    fn jitter_is_from_0_to_1_and_differs() {
        let pace = table_core::runtime::Runtime::new();
        let many: Vec<f64> = (0..64).map(|_| fraction(pace.random())).collect();
        assert!(many.iter().all(|value| (0.0..=1.0).contains(value)));
        assert!(many.iter().any(|value| (value - many[0]).abs() > f64::EPSILON));
        assert!(fraction(0) < f64::EPSILON && fraction(u64::MAX) > 1.0 - f64::EPSILON);
    }
}
