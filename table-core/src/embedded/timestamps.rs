//! Timestamps: strictly increasing, whatever the clock does (ENG-8, CON-10, CON-12).

use std::fmt;
use std::sync::Arc;

use chrono::Utc;

use crate::ticks;

/// Tells the present instant in [ticks](crate::ticks). Tests put their own in its place.
///
/// ```
/// use table_core::embedded::Clock;
///
/// assert_eq!(Clock::new(|| 7).now(), 7);
/// ```
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> u64 + Send + Sync>);

impl Clock {
    /// A clock that asks this closure.
    pub fn new(now: impl Fn() -> u64 + Send + Sync + 'static) -> Self {
        Self(Arc::new(now))
    }

    /// The present instant.
    #[must_use]
    pub fn now(&self) -> u64 {
        (self.0)()
    }
}

impl Default for Clock {
    fn default() -> Self {
        Self::new(|| ticks::from_datetime(Utc::now()).unwrap_or_default())
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Clock")
    }
}

/// Gives out Timestamps: the clock's, or one tick more than the last where the clock has not moved on.
///
/// One counter serves all tables. It outlives a table and its name, so no key ever sees a Timestamp twice (CON-12).
#[derive(Debug)]
pub(crate) struct Timestamps {
    clock: Clock,
    last: u64,
    /// The largest reading of the clock so far.
    latest: u64,
}

impl Timestamps {
    /// Goes on above `last`.
    pub(crate) fn new(clock: Clock, last: u64) -> Self {
        Self { clock, last, latest: 0 }
    }

    /// The next one.
    pub(crate) fn next(&mut self) -> u64 {
        self.last = self.clock.now().max(self.last.saturating_add(1)).min(ticks::MAX);
        self.last
    }

    /// What the clock says.
    pub(crate) fn now(&self) -> u64 {
        self.clock.now()
    }

    /// What the clock says, or has said where it went back.
    pub(crate) fn latest(&mut self) -> u64 {
        self.latest = self.clock.now().max(self.latest).min(ticks::MAX);
        self.latest
    }

    /// The last one given out.
    pub(crate) fn last(&self) -> u64 {
        self.last
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eng_8_timestamps_increase_while_the_clock_stands_and_goes_back() {
        let readings = std::sync::Mutex::new(vec![10_u64, 10, 3, 30].into_iter());
        let clock = Clock::new(move || readings.lock().unwrap().next().unwrap());
        let mut timestamps = Timestamps::new(clock, 9);
        assert_eq!(
            [timestamps.next(), timestamps.next(), timestamps.next(), timestamps.next()],
            [10, 11, 12, 30]
        );
    }
}
