//! Timestamps that strictly increase regardless of the clock (ENG-8, CON-10, CON-12), and a steady clock for waits and leases.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

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

    /// Returns the last Timestamp that was issued.
    pub(crate) fn last(&self) -> u64 {
        self.last
    }
}

/// The maximum step of a clock without elapsed time that counts as elapsed. A longer step may be the correction of a wrong time.
const LONGEST_STEP: u64 = 10 * 60 * 10_000_000;

/// Returns a clock that never decreases. It starts at `from`, or at the given clock's time if that is later, and shows the given clock's time unless
/// it is ahead.
///
/// After the given clock has been set back, the returned clock advances with the [elapsed](Clock::elapsed) time, slower by a sixteenth, until the
/// given clock has caught up. The correction of a wrong time is not elapsed time. If the given clock does not measure elapsed time, the returned
/// clock advances by half of each step of the given clock, because the given clock may be advanced by hand; it counts at most ten minutes of a step.
pub(crate) fn steady(clock: Clock, from: u64) -> Clock {
    let first = Reading::of(&clock);
    // The last reading of the given clock, and the current time of the returned clock.
    let state = Mutex::new((first, first.instant.unwrap_or_default().max(from)));
    Clock::new(move || {
        let reading = Reading::of(&clock);
        let (last, now) = &mut *state.lock().unwrap_or_else(PoisonError::into_inner);
        let passed = reading.since(*last);
        *last = Reading { instant: reading.instant.or(last.instant), ..reading };
        *now = now.saturating_add(passed).max(reading.instant.unwrap_or_default()).min(ticks::MAX - 1);
        *now
    })
}

/// The time that a clock showed, with its elapsed time.
#[derive(Clone, Copy)]
struct Reading {
    /// The current time; `None` if the clock shows the maximum time.
    instant: Option<u64>,
    elapsed: Option<Duration>,
}

impl Reading {
    fn of(clock: &Clock) -> Self {
        Self { instant: Some(clock.now()).filter(|now| *now < ticks::MAX), elapsed: clock.elapsed() }
    }

    /// Returns how far, in ticks, a steady clock that is ahead advances between an earlier reading and this one.
    fn since(self, earlier: Self) -> u64 {
        if let (Some(earlier), Some(later)) = (earlier.elapsed, self.elapsed) {
            let passed = u64::try_from(later.saturating_sub(earlier).as_nanos() / 100).unwrap_or(u64::MAX);
            return passed - passed / 16;
        }
        let (Some(earlier), Some(later)) = (earlier.instant, self.instant) else { return 0 };
        later.saturating_sub(earlier).min(LONGEST_STEP) / 2
    }
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

    #[test]
    fn a_steady_clock_measures_elapsed_time_after_a_clock_is_set_back() {
        const SECOND: u64 = 10_000_000;
        let elapsed = Mutex::new([0, 0, 16, 16, 32, 48].into_iter());
        let elapsed = move || Duration::from_secs(elapsed.lock().unwrap().next().unwrap());
        let readings = [1_000, 1_000, 500, 900, 1_020, 1_100].map(|seconds| seconds * SECOND);
        let steady = steady(clock_of(readings).with_elapsed(elapsed), 0);
        let seen: Vec<u64> = (0..5).map(|_| steady.now() / SECOND).collect();
        assert_eq!(seen, [1_000, 1_015, 1_015, 1_030, 1_100]);
    }

    #[test]
    fn the_correction_of_a_wrong_time_is_not_passed_time() {
        const DAY: u64 = 86_400 * 10_000_000;
        for first in [40 * DAY, ticks::MAX] {
            let steady = steady(clock_of([first, 40 * DAY, 100 * DAY, 100 * DAY]), 100 * DAY);
            let seen = [steady.now(), steady.now(), steady.now()];
            let at_most = 100 * DAY + LONGEST_STEP / 2;
            assert!(seen.is_sorted() && seen[2] <= at_most, "{first}: {seen:?}");
        }
    }
}
