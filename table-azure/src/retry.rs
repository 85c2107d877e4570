//! The policy for retrying requests (RTY rules).

mod after;
mod budget;

use std::time::Duration;

pub(crate) use after::retry_after;
pub(crate) use budget::Budget;

/// Exponential backoff with jitter. The number of retries and the total time are limited (RTY-2).
///
/// The client retries after the status codes 408, 429, 500, 502, 503 and 504, broken connections, and timeouts (RTY-1). `docs/lost-answers.md` lists the
/// outcomes of a retried write (CON-11).
///
/// Dropping a call prevents further attempts, but earlier attempts may have been applied.
///
/// ```
/// use std::time::Duration;
/// use table_azure::RetryPolicy;
///
/// let policy = RetryPolicy { max_retries: 5, ..RetryPolicy::default() };
/// assert_eq!(policy.attempt_timeout, Duration::from_secs(35));
/// assert_eq!(RetryPolicy::NONE.max_retries, 0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryPolicy {
    /// The maximum number of retries after the first attempt.
    pub max_retries: u32,
    /// The delay before the first retry. Each subsequent delay is twice as long. Every delay varies randomly by up to 20% (RTY-2).
    pub initial_delay: Duration,
    /// The maximum delay before the random variation. If the service requests a longer delay, that delay is used (RTY-3).
    pub max_delay: Duration,
    /// The time limit for one attempt. The service itself has a limit of 30 s (REQ-6).
    pub attempt_timeout: Duration,
    /// The time limit for an entire operation. It includes all attempts, the delays between them, and any lookup that determines an unknown outcome.
    pub operation_timeout: Duration,
    /// The retry budget: the maximum number of retries while almost every request fails. All calls of a client share it, and ten successes add one retry.
    ///
    /// While the budget is exhausted, as in an outage, each request is sent only once. The client logs the start and the end of this state with `tracing`
    /// (target `table_azure::circuit`).
    pub budget: u32,
    /// The maximum time that `create_table` waits while a table with the same name is being deleted (RTY-6). If the time is zero, `create_table` fails
    /// immediately with `TableBeingDeleted`.
    pub table_deletion_wait: Duration,
}

impl RetryPolicy {
    /// A policy that never retries.
    pub const NONE: Self = Self {
        max_retries: 0,
        initial_delay: Duration::from_millis(800),
        max_delay: Duration::from_secs(60),
        attempt_timeout: Duration::from_secs(35),
        operation_timeout: Duration::from_secs(3 * 60),
        budget: 100,
        table_deletion_wait: Duration::ZERO,
    };

    /// Returns the delay before retry number `retry`, counted from 0. `random` is between 0 and 1.
    pub(crate) fn delay(&self, retry: u32, random: f64) -> Duration {
        let factor = 2_u32.saturating_pow(retry);
        let middle = self.initial_delay.saturating_mul(factor).min(self.max_delay);
        // For the longest delays, rounding to a float can make the product too large for a `Duration`.
        Duration::try_from_secs_f64(middle.as_secs_f64() * (0.8 + 0.4 * random)).unwrap_or(Duration::MAX)
    }
}

impl Default for RetryPolicy {
    /// Returns a policy with three retries and delays from 0.8 s to 60 s. An operation may take 3 minutes. `create_table` waits up to 5 minutes for a table
    /// that is being deleted.
    fn default() -> Self {
        Self { max_retries: 3, table_deletion_wait: Duration::from_secs(5 * 60), ..Self::NONE }
    }
}

/// Converts a random number to a fraction between 0 and 1. The fraction varies the delay of a retry.
pub(crate) fn fraction(random: u64) -> f64 {
    // 32 bits are precise enough, and an `f64` represents them exactly.
    f64::from(u32::try_from(random >> 32).unwrap_or_default()) / f64::from(u32::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

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

    proptest! {
        // RTY-2
        #[test]
        fn delays_of_any_policy_are_finite_and_never_shrink(
            initial in duration(),
            max in duration(),
            retry in prop_oneof![0..70_u32, any::<u32>()],
            random in 0.0..=1.0,
        ) {
            let policy = RetryPolicy { initial_delay: initial, max_delay: max, ..RetryPolicy::default() };
            let delay = policy.delay(retry, random);
            let most = max.saturating_add(max / 5).saturating_add(max / 1_000_000_000 + Duration::from_nanos(1));
            prop_assert!(delay <= most, "{delay:?} > {most:?}");
            prop_assert!(policy.delay(retry.saturating_add(1), random) >= delay);
            prop_assert!(delay.is_zero() || !initial.is_zero() && !max.is_zero());
        }
    }

    /// Returns durations of any length. The shortest and the longest ones occur often.
    fn duration() -> impl Strategy<Value = Duration> {
        prop_oneof![
            Just(Duration::ZERO),
            Just(Duration::MAX),
            (0..100_000_u64).prop_map(Duration::from_millis),
            (any::<u64>(), 0..1_000_000_000_u32).prop_map(|(seconds, nanos)| Duration::new(seconds, nanos)),
        ]
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
