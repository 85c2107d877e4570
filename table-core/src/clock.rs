//! Injectable clock.

use std::fmt;
use std::sync::Arc;

use chrono::{DateTime, Utc};

use crate::ticks;

/// Tells the present instant. Tests put their own in its place.
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
    /// A clock that asks this closure, for [`ticks`].
    pub fn new(now: impl Fn() -> u64 + Send + Sync + 'static) -> Self {
        Self(Arc::new(now))
    }

    /// A clock that asks this closure, for an instant. One before the year 1 is its beginning, one after 9999 its end.
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

    /// The present instant in [`ticks`].
    #[must_use]
    pub fn now(&self) -> u64 {
        (self.0)()
    }

    /// The present instant. The last one of the calendar where the clock returns later ticks.
    #[must_use]
    pub fn instant(&self) -> DateTime<Utc> {
        ticks::to_datetime(self.now()).unwrap_or(DateTime::<Utc>::MAX_UTC)
    }
}

impl Default for Clock {
    /// The system's.
    fn default() -> Self {
        Self::of_instants(Utc::now)
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Clock")
    }
}
