//! The library's clock, sleep function and random number generator. Each of them can be replaced.

mod timer;

use std::fmt;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, ready};

use crate::clock::Clock;
use crate::runtime::timer::Sleep;
use crate::store::WriteLease;

type SleepFunction = Arc<dyn Fn(Duration) -> BoxFuture<'static, ()> + Send + Sync>;

/// The clock, sleep function and random number generator for code that waits, such as workers, retries and backfills.
///
/// By default, a runtime uses the system clock, and one thread per process wakes all sleeping tasks. This requires no async runtime and does not block an
/// executor. If the thread cannot be started, the sleeping tasks are polled repeatedly instead. They then block the executor for up to a millisecond at a time.
///
/// In a program with an async runtime, pass that runtime's timer: `Runtime::new().sleep_by(|time| Box::pin(tokio::time::sleep(time)))`.
///
/// ```
/// use std::time::Duration;
/// use table_core::Clock;
/// use table_core::runtime::Runtime;
///
/// let pace = Runtime::new().clock(Clock::new(|| 7)).sleep_by(|_| Box::pin(async {})).seed(1);
/// assert_eq!(pace.now(), 7);
/// ```
#[derive(Clone)]
pub struct Runtime {
    clock: Clock,
    sleep: SleepFunction,
    random: Arc<AtomicU64>,
}

impl Default for Runtime {
    fn default() -> Self {
        Self::new()
    }
}

impl Runtime {
    /// Creates the default runtime, with the system clock, the timer of the process and a random seed.
    #[must_use]
    pub fn new() -> Self {
        let seed = RandomState::new().build_hasher().finish();
        Self {
            clock: Clock::default(),
            sleep: Arc::new(sleep_by_timer),
            random: Arc::new(AtomicU64::new(seed)),
        }
    }

    /// Sets the clock that determines the current time.
    #[must_use]
    pub fn clock(mut self, clock: Clock) -> Self {
        self.clock = clock;
        self
    }

    /// Sets the function that sleeps for a duration.
    ///
    /// The future that the function returns should stay pending until the time has passed. If it blocks the thread instead, no other task on the thread makes
    /// progress, and workers do not extend their leases during a step.
    #[must_use]
    pub fn sleep_by(
        mut self,
        sleep: impl Fn(Duration) -> BoxFuture<'static, ()> + Send + Sync + 'static,
    ) -> Self {
        self.sleep = Arc::new(sleep);
        self
    }

    /// Sets the seed, which makes the random numbers reproducible.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.random = Arc::new(AtomicU64::new(seed));
        self
    }

    /// Returns a lease that begins now and is measured by this runtime's clock.
    ///
    /// ```
    /// use std::time::Duration;
    /// use table_core::runtime::Runtime;
    ///
    /// let lease = Runtime::new().lease(Duration::from_secs(5));
    /// assert!(lease.remaining().is_some());
    /// ```
    #[must_use]
    pub fn lease(&self, length: Duration) -> WriteLease {
        WriteLease::new(&self.clock, length)
    }

    /// Returns the current time in [`ticks`](crate::ticks).
    #[must_use]
    pub fn now(&self) -> u64 {
        self.clock.now()
    }

    /// Sleeps for a duration. The returned future may be dropped before it completes.
    pub async fn sleep(&self, time: Duration) {
        (self.sleep)(time).await;
    }

    /// Returns a random number (`SplitMix64`).
    #[must_use]
    pub fn random(&self) -> u64 {
        const STEP: u64 = 0x9E37_79B9_7F4A_7C15;
        let mut number = self.random.fetch_add(STEP, Ordering::Relaxed).wrapping_add(STEP);
        number = (number ^ (number >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        number = (number ^ (number >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        number ^ (number >> 31)
    }
}

impl fmt::Debug for Runtime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Runtime")
    }
}

/// Sleeps without an async runtime. One thread per process wakes all sleeping tasks.
fn sleep_by_timer(time: Duration) -> BoxFuture<'static, ()> {
    if time.is_zero() { ready(()).boxed() } else { Sleep::new(time).boxed() }
}

/// Converts a duration to [`ticks`](crate::ticks).
///
/// ```
/// use std::time::Duration;
///
/// assert_eq!(table_core::runtime::ticks_of(Duration::from_secs(1)), 10_000_000);
/// ```
#[must_use]
pub fn ticks_of(time: Duration) -> u64 {
    u64::try_from(time.as_nanos() / 100).unwrap_or(u64::MAX)
}

/// Exponential backoff with jitter.
///
/// The upper bound doubles with each attempt, up to a maximum. Each delay is a random time between half the bound and the bound.
///
/// ```
/// use std::time::Duration;
/// use table_core::runtime::Backoff;
///
/// let backoff = Backoff { initial: Duration::from_millis(100), max: Duration::from_secs(1) };
/// assert_eq!(backoff.delay(0, u64::MAX), Duration::from_millis(100));
/// assert_eq!(backoff.delay(2, 0), Duration::from_millis(200)); // at least half of 400 ms
/// assert_eq!(backoff.delay(60, u64::MAX), Duration::from_secs(1));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backoff {
    /// The maximum delay before the second attempt.
    pub initial: Duration,
    /// The maximum delay before any attempt.
    pub max: Duration,
}

impl Backoff {
    /// Returns the delay after attempt number `attempt`, counted from zero. `random` determines the jitter.
    #[must_use]
    pub fn delay(&self, attempt: u32, random: u64) -> Duration {
        let most = self.initial.saturating_mul(1_u32.checked_shl(attempt).unwrap_or(u32::MAX)).min(self.max);
        let half = most / 2;
        // Millionths are precise enough and avoid floating-point arithmetic.
        let millionths = u32::try_from(random % 1_000_001).unwrap_or_default();
        let by_chance = if random == u64::MAX { half } else { half.saturating_mul(millionths) / 1_000_000 };
        half + by_chance
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_sleep_wakes_any_executor() {
        pollster::block_on(sleep_by_timer(Duration::from_millis(1)));
        pollster::block_on(sleep_by_timer(Duration::ZERO));
    }

    #[test]
    fn a_dropped_wait_wakes_no_task() {
        let waits = sleep_by_timer(Duration::from_millis(1));
        drop(waits);
        pollster::block_on(sleep_by_timer(Duration::from_millis(2)));
    }

    #[test]
    fn pat_ec_5_waits_grow_and_vary_within_their_bounds() {
        let pace = Runtime::new().seed(7);
        let backoff = Backoff { initial: Duration::from_secs(1), max: Duration::from_secs(60) };
        let mut seen = std::collections::BTreeSet::new();
        for attempt in 0..40 {
            let delay = backoff.delay(attempt, pace.random());
            let most = Duration::from_secs(1 << attempt.min(10)).min(backoff.max);
            assert!(delay >= most / 2 && delay <= most, "{attempt}: {delay:?}");
            seen.insert(delay);
        }
        assert!(seen.len() > 30);
    }
}
