//! Timestamps: strictly increasing, whatever the clock does (ENG-8, CON-10, CON-12).

use crate::clock::Clock;
use crate::ticks;

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
