//! A clock that tests can replace.

use std::fmt;
use std::sync::Arc;

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
pub struct Clock(Arc<dyn Fn() -> u64 + Send + Sync>);

impl Clock {
    /// Creates a clock from a closure that returns [`ticks`].
    pub fn new(now: impl Fn() -> u64 + Send + Sync + 'static) -> Self {
        Self(Arc::new(now))
    }

    /// Creates a clock from a closure that returns `DateTime`s. Times before the year 1 or after the year 9999 are clamped.
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
        (self.0)()
    }

    /// Returns the current time as a `DateTime`. Ticks after the year 9999 are clamped.
    #[must_use]
    pub fn instant(&self) -> DateTime<Utc> {
        ticks::to_datetime(self.now()).unwrap_or(DateTime::<Utc>::MAX_UTC)
    }
}

impl Default for Clock {
    /// Returns the system clock.
    fn default() -> Self {
        Self::of_instants(Utc::now)
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Clock")
    }
}
