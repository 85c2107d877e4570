//! Timestamps that strictly increase regardless of the clock (ENG-8, CON-10, CON-12), and a steady clock for waits and leases.

use std::sync::{Mutex, PoisonError};

use table_store::clock::Clock;
use table_store::{Error, Result, ticks};

use crate::fault::EngineFault;

/// A source of Timestamps: the clock's time, or one tick more than the last Timestamp if the clock has not advanced.
///
/// One source serves all tables. It outlives each table, so no key ever gets the same Timestamp twice (CON-12).
#[derive(Debug)]
pub(crate) struct Timestamps {
    clock: Clock,
    last: u64,
}

impl Timestamps {
    /// Creates a source of Timestamps greater than `last`.
    pub(crate) fn new(clock: Clock, last: u64) -> Self {
        Self { clock, last }
    }

    /// Returns the next Timestamp.
    ///
    /// # Errors
    /// `InternalError` if the clock or the last Timestamp has reached the maximum, because no Timestamp may be issued twice.
    pub(crate) fn next(&mut self) -> Result<u64> {
        self.next_from(0)
    }

    /// Returns the next Timestamp that is not before `instant`.
    pub(crate) fn next_from(&mut self, instant: u64) -> Result<u64> {
        let next = self.clock.now().max(instant).max(self.last.saturating_add(1));
        if next >= ticks::MAX {
            return Err(Error::of(EngineFault::EndOfTime));
        }
        self.last = next;
        Ok(next)
    }

    /// Returns the last Timestamp.
    pub(crate) fn last(&self) -> u64 {
        self.last
    }
}

/// Returns a clock that never decreases, and that advances whenever the given clock does. It starts at the instant `from`, or at the given clock's
/// time if that is later. After the given clock has been set back, the returned clock runs at half its speed until the given clock has caught up. A
/// lease granted meanwhile therefore lasts at most twice its time.
pub(crate) fn steady(clock: Clock, from: u64) -> Clock {
    // A reading of the maximum instant is ignored.
    let read = move || Some(clock.now()).filter(|reading| *reading < ticks::MAX);
    let first = read().unwrap_or_default();
    // The last reading of the given clock, and the current instant of the returned clock.
    let state = Mutex::new((first, first.max(from)));
    Clock::new(move || {
        let reading = read();
        let (last, now) = &mut *state.lock().unwrap_or_else(PoisonError::into_inner);
        let reading = reading.unwrap_or(*last);
        let passed = reading.saturating_sub(std::mem::replace(last, reading));
        *now = now.saturating_add(passed / 2).max(reading).min(ticks::MAX - 1);
        *now
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock_of(readings: impl IntoIterator<Item = u64, IntoIter: Send + 'static>) -> Clock {
        let readings = Mutex::new(readings.into_iter());
        Clock::new(move || readings.lock().unwrap().next().unwrap())
    }

    #[test]
    fn eng_8_timestamps_increase_while_the_clock_stops_or_goes_back() {
        let mut timestamps = Timestamps::new(clock_of([10, 10, 3, 30, 30]), 9);
        let given = [0, 0, 0, 0, 40].map(|from| timestamps.next_from(from).unwrap());
        assert_eq!(given, [10, 11, 12, 30, 40]);
    }

    #[test]
    fn con_12_no_timestamp_is_issued_twice_at_the_end_of_time() {
        let mut timestamps = Timestamps::new(clock_of([u64::MAX, 5, ticks::MAX - 1, 6, 6]), 1);
        let given = [(); 5].map(|()| timestamps.next().map_err(|error| error.rule()));
        let refused = Err(Some("CON-12"));
        assert_eq!(given, [refused, Ok(5), Ok(ticks::MAX - 1), refused, refused]);
    }

    #[test]
    fn a_steady_clock_neither_goes_back_nor_stops() {
        // The first reading is taken when the clock is created.
        let steady = steady(clock_of([100, 100, 110, 5_110, 120, 140, u64::MAX, 4_140, 20_000]), 0);
        let seen: Vec<u64> = (0..8).map(|_| steady.now()).collect();
        assert_eq!(seen, [100, 110, 5_110, 5_110, 5_120, 5_120, 7_120, 20_000]);
    }

    #[test]
    fn a_steady_clock_continues_from_an_earlier_one() {
        let from = 150;
        let steady = steady(clock_of([100, 120, 3 * from]), from);
        assert_eq!([steady.now(), steady.now()], [from + 10, 3 * from]);
    }
}
