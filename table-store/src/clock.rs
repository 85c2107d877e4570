//! `Clock`: the source of time, replaceable in tests.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use chrono::{DateTime, Utc};

use crate::ticks;

/// A source of the current time, which tests can replace.
///
/// ```
/// use table_core::{Clock, ticks};
///
/// let clock = Clock::new(|| ticks::UNIX_EPOCH);
/// assert_eq!(clock.now(), ticks::UNIX_EPOCH);
/// assert_eq!(clock.instant(), chrono::DateTime::UNIX_EPOCH);
/// ```
#[derive(Clone)]
pub struct Clock {
    now: Arc<dyn Fn() -> u64 + Send + Sync>,
    elapsed: Option<Arc<dyn Fn() -> Duration + Send + Sync>>,
}

impl Clock {
    /// Creates a clock from a closure that returns [`ticks`]. The clock does not provide [elapsed](Self::elapsed) time.
    pub fn new(now: impl Fn() -> u64 + Send + Sync + 'static) -> Self {
        Self { now: Arc::new(now), elapsed: None }
    }

    /// Adds a source of elapsed time, such as a monotonic clock. Elapsed time must not jump when the wall clock is adjusted.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use table_core::{Clock, ticks};
    ///
    /// let clock = Clock::new(|| ticks::UNIX_EPOCH).with_elapsed(|| Duration::from_secs(1));
    /// assert_eq!(clock.elapsed(), Some(Duration::from_secs(1)));
    /// ```
    #[must_use]
    pub fn with_elapsed(mut self, elapsed: impl Fn() -> Duration + Send + Sync + 'static) -> Self {
        self.elapsed = Some(Arc::new(elapsed));
        self
    }

    /// Returns the time elapsed since a fixed starting point, or `None` if the clock does not provide elapsed time. Unlike the current time, elapsed time never
    /// jumps.
    #[must_use]
    pub fn elapsed(&self) -> Option<Duration> {
        self.elapsed.as_ref().map(|elapsed| elapsed())
    }

    /// Creates a clock from a closure that returns `DateTime`s. A time before the year 1 or after the year 9999 is clamped to that range.
    ///
    /// ```
    /// use chrono::DateTime;
    /// use table_core::Clock;
    ///
    /// assert_eq!(Clock::of_instants(|| DateTime::UNIX_EPOCH).instant(), DateTime::UNIX_EPOCH);
    /// assert_eq!(Clock::of_instants(|| DateTime::<chrono::Utc>::MAX_UTC).now(), table_core::ticks::MAX);
    /// ```
    pub fn of_instants(now: impl Fn() -> DateTime<Utc> + Send + Sync + 'static) -> Self {
        Self::new(move || {
            let now = now();
            let outside = if now > DateTime::UNIX_EPOCH { ticks::MAX } else { 0 };
            ticks::from_datetime(now).unwrap_or(outside)
        })
    }

    /// Returns the current time in [`ticks`].
    #[must_use]
    pub fn now(&self) -> u64 {
        (self.now)()
    }

    /// Returns the current time as a `DateTime`. Ticks after the year 9999 are clamped.
    #[must_use]
    pub fn instant(&self) -> DateTime<Utc> {
        ticks::to_datetime(self.now()).unwrap_or(DateTime::<Utc>::MAX_UTC)
    }
}

impl Default for Clock {
    /// Returns the system clock, with elapsed time from a monotonic clock.
    fn default() -> Self {
        let start = Instant::now();
        Self::of_instants(Utc::now).with_elapsed(move || start.elapsed())
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Clock")
    }
}
