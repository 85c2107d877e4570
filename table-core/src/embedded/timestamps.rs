//! Timestamps: strictly increasing, whatever the clock does (ENG-8, CON-10, CON-12); and a steady clock for waits and leases.

use std::sync::{Mutex, PoisonError};

use crate::clock::Clock;
use crate::embedded::fault::EngineFault;
use crate::embedded::mend::Mend;
use crate::error::{Error, Result};
use crate::ticks;

const SECOND: u64 = 10_000_000;

/// Gives out Timestamps: the clock's, or one tick more than the last where the clock has not moved on.
///
/// One counter serves all tables. It outlives a table and its name, so no key ever sees a Timestamp twice (CON-12).
#[derive(Debug)]
pub(crate) struct Timestamps {
    clock: Clock,
    last: u64,
}

impl Timestamps {
    /// Goes on above `last`.
    pub(crate) fn new(clock: Clock, last: u64) -> Self {
        Self { clock, last }
    }

    /// The next one.
    ///
    /// # Errors
    /// `InternalError` where the clock says that time is over, and where the last one was given out: none is given twice.
    pub(crate) fn next(&mut self) -> Result<u64> {
        self.next_from(0)
    }

    /// The next one that is not before an instant.
    pub(crate) fn next_from(&mut self, instant: u64) -> Result<u64> {
        let next = self.clock.now().max(instant).max(self.last.saturating_add(1));
        if next >= ticks::MAX && !Mend::RefuseEndOfTime.is_in() {
            self.last = ticks::MAX;
            return Ok(ticks::MAX);
        }
        if next >= ticks::MAX {
            return Err(Error::of(EngineFault::EndOfTime));
        }
        self.last = next;
        Ok(next)
    }

    /// The last one given out.
    pub(crate) fn last(&self) -> u64 {
        self.last
    }
}

/// A clock that never goes back and never stands while the other one moves on: from an instant on, or from the other's. After the
/// other has gone back this one goes at half its speed until it is caught up with: a lease given meanwhile lasts twice its time
/// at most, and not until the other one has come again to where it was.
pub(crate) fn steady(clock: Clock, from: u64) -> Clock {
    // A reading that says that time is over says nothing.
    let read = move || Some(clock.now()).filter(|reading| *reading < ticks::MAX);
    let first = read().unwrap_or_default();
    // Timestamps run some ticks ahead of a clock that stands.
    let begin = if from.saturating_sub(first) > SECOND { from } else { first };
    // The other's last reading, and the present instant of this one.
    let state = Mutex::new((first, begin));
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
    fn eng_8_timestamps_increase_while_the_clock_stands_and_goes_back() {
        let mut timestamps = Timestamps::new(clock_of([10, 10, 3, 30, 30]), 9);
        let given = [0, 0, 0, 0, 40].map(|from| timestamps.next_from(from).unwrap());
        assert_eq!(given, [10, 11, 12, 30, 40]);
    }

    #[test]
    fn con_12_at_the_end_of_time_no_timestamp_is_given_twice() {
        let mut timestamps = Timestamps::new(clock_of([u64::MAX, 5, ticks::MAX - 1, 6, 6]), 1);
        let given = [(); 5].map(|()| timestamps.next().map_err(|error| error.rule()));
        let refused = Err(Some("CON-12"));
        assert_eq!(given, [refused, Ok(5), Ok(ticks::MAX - 1), refused, refused]);
    }

    #[test]
    fn a_steady_clock_neither_goes_back_nor_stands() {
        // The first reading is that of its making.
        let steady = steady(clock_of([100, 100, 110, 5_110, 120, 140, u64::MAX, 4_140, 20_000]), 0);
        let seen: Vec<u64> = (0..8).map(|_| steady.now()).collect();
        assert_eq!(seen, [100, 110, 5_110, 5_110, 5_120, 5_120, 7_120, 20_000]);
    }

    #[test]
    fn a_steady_clock_goes_on_where_an_earlier_one_was() {
        let from = 100 + 2 * SECOND;
        let steady = steady(clock_of([100, 120, 3 * from]), from);
        assert_eq!([steady.now(), steady.now()], [from + 10, 3 * from]);
    }
}
