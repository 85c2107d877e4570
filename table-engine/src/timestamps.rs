//! Timestamps that strictly increase whatever the clock does (ENG-8, CON-10, CON-12), and a steady clock for leases and waiting times.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use table_store::clock::Clock;
use table_store::{Error, Result, ticks};

use crate::fault::EngineFault;

/// A source of Timestamps. A Timestamp is the clock's time. If the clock has not advanced, it is one tick more than the last Timestamp.
///
/// One source serves all tables. It outlives each of them, so no key ever gets the same Timestamp twice (CON-12).
#[derive(Debug)]
pub(crate) struct Timestamps {
    last: u64,
}

impl Timestamps {
    /// Creates a source of Timestamps greater than `last`.
    pub(crate) fn new(last: u64) -> Self {
        Self { last }
    }

    /// Returns the next Timestamp.
    ///
    /// # Errors
    /// `InternalError` if the clock or the last Timestamp has reached the maximum, because no Timestamp may be issued twice.
    pub(crate) fn next(&mut self, reading: Reading) -> Result<u64> {
        self.next_from(reading, 0)
    }

    /// Returns the next Timestamp that is not earlier than `instant`.
    pub(crate) fn next_from(&mut self, reading: Reading, instant: u64) -> Result<u64> {
        let next = reading.instant.unwrap_or(ticks::MAX).max(instant).max(self.last.saturating_add(1));
        if next >= ticks::MAX {
            return Err(Error::of(EngineFault::EndOfTime));
        }
        self.last = next;
        Ok(next)
    }

    /// Returns the last issued Timestamp.
    pub(crate) fn last(&self) -> u64 {
        self.last
    }
}

/// The maximum number of ticks of one clock step that count as elapsed time. A longer step may be the correction of a wrong time. This limit is used only if
/// the clock does not measure elapsed time.
const LONGEST_STEP: u64 = 10 * 60 * 10_000_000;

/// A clock that never goes backwards. It starts at a given time, or at the time of the engine's clock if that is later. It shows the time of the engine's
/// clock, unless the steady clock is ahead.
///
/// When the engine's clock has been set back, the steady clock advances with the [elapsed](Clock::elapsed) time, but a sixteenth slower. This continues until
/// the engine's clock has caught up. The correction of a wrong time does not count as elapsed time.
///
/// The engine's clock may not measure elapsed time, for example because it is advanced by hand. In that case, the steady clock advances by half of each step of
/// the engine's clock, and at most ten minutes of a step count.
#[derive(Clone, Debug)]
pub(crate) struct SteadyClock {
    clock: Clock,
    progress: Arc<Progress>,
}

/// The progress of a steady clock.
#[derive(Debug)]
struct Progress {
    /// The number of counted readings. Changed only while `advance` is locked.
    counted: AtomicU64,
    advance: Mutex<Advance>,
}

#[derive(Debug)]
struct Advance {
    now: u64,
    /// The last counted reading. While the clock shows the maximum time, `instant` keeps the value of an earlier reading.
    last: Reading,
}

impl SteadyClock {
    /// Creates a steady clock that starts at `from` or later.
    pub(crate) fn new(clock: Clock, from: u64) -> Self {
        let last = Reading::of(&clock, 0);
        let now = last.instant.unwrap_or_default().max(from);
        let progress = Progress { counted: AtomicU64::new(0), advance: Mutex::new(Advance { now, last }) };
        Self { clock, progress: Arc::new(progress) }
    }

    /// Reads the engine's clock. No lock is held during the call, because the clock is application code.
    pub(crate) fn read(&self) -> Reading {
        Reading::of(&self.clock, self.progress.counted.load(Ordering::Acquire))
    }

    /// Advances the clock to a reading, and returns the current time.
    pub(crate) fn at(&self, reading: Reading) -> u64 {
        let Progress { counted, advance } = &*self.progress;
        let advance = &mut *advance.lock().unwrap_or_else(PoisonError::into_inner);
        // If another thread has counted a reading since this reading began, the order of the two is unknown, so this one is not counted. Otherwise, an earlier
        // reading could replace a later one, and the time between them would be counted twice.
        if reading.earlier == counted.load(Ordering::Relaxed) {
            advance.now = advance.now.saturating_add(reading.since(advance.last));
            advance.last = Reading { instant: reading.instant.or(advance.last.instant), ..reading };
            counted.store(reading.earlier + 1, Ordering::Release);
        }
        advance.now = advance.now.max(reading.instant.unwrap_or_default()).min(ticks::MAX - 1);
        advance.now
    }

    /// Returns the current time.
    pub(crate) fn now(&self) -> u64 {
        self.at(self.read())
    }
}

/// A reading of the engine's clock: the current time and the elapsed time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reading {
    /// The current time, or `None` if the clock shows the maximum time.
    instant: Option<u64>,
    elapsed: Option<Duration>,
    /// The number of counted readings when this reading began.
    earlier: u64,
}

impl Reading {
    fn of(clock: &Clock, earlier: u64) -> Self {
        Self { instant: Some(clock.now()).filter(|now| *now < ticks::MAX), elapsed: clock.elapsed(), earlier }
    }

    /// Returns how far a steady clock advances between an earlier reading and this one, in ticks. The steady clock must be ahead of the engine's clock.
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
    use std::sync::OnceLock;

    use proptest::prelude::*;

    use super::*;

    fn clock_of(readings: impl IntoIterator<Item = u64, IntoIter: Send + 'static>) -> Clock {
        let readings = Mutex::new(readings.into_iter());
        Clock::new(move || readings.lock().unwrap().next().unwrap())
    }

    #[test]
    fn eng_8_timestamps_increase_while_the_clock_stops_or_goes_back() {
        let clock = clock_of([10, 10, 3, 30, 30]);
        let mut timestamps = Timestamps::new(9);
        let given = [0, 0, 0, 0, 40].map(|from| timestamps.next_from(Reading::of(&clock, 0), from).unwrap());
        assert_eq!(given, [10, 11, 12, 30, 40]);
    }

    #[test]
    fn con_12_no_timestamp_is_issued_twice_at_the_end_of_time() {
        let clock = clock_of([u64::MAX, 5, ticks::MAX - 1, 6, 6]);
        let mut timestamps = Timestamps::new(1);
        let given = [(); 5].map(|()| timestamps.next(Reading::of(&clock, 0)).map_err(|error| error.rule()));
        let refused = Err(Some("CON-12"));
        assert_eq!(given, [refused, Ok(5), Ok(ticks::MAX - 1), refused, refused]);
    }

    #[test]
    fn a_steady_clock_neither_goes_back_nor_stops() {
        // The first reading is taken when the clock is created.
        let steady = SteadyClock::new(clock_of([100, 100, 110, 5_110, 120, 140, u64::MAX, 4_140, 20_000]), 0);
        let seen: Vec<u64> = (0..8).map(|_| steady.now()).collect();
        assert_eq!(seen, [100, 110, 5_110, 5_110, 5_120, 5_120, 7_120, 20_000]);
    }

    #[test]
    fn a_steady_clock_continues_from_an_earlier_one() {
        let from = 150;
        let steady = SteadyClock::new(clock_of([100, 120, 3 * from]), from);
        assert_eq!([steady.now(), steady.now()], [from + 10, 3 * from]);
    }

    #[test]
    fn a_steady_clock_measures_elapsed_time_after_a_clock_is_set_back() {
        const SECOND: u64 = 10_000_000;
        let elapsed = Mutex::new([0, 0, 16, 16, 32, 48].into_iter());
        let elapsed = move || Duration::from_secs(elapsed.lock().unwrap().next().unwrap());
        let readings = [1_000, 1_000, 500, 900, 1_020, 1_100].map(|seconds| seconds * SECOND);
        let steady = SteadyClock::new(clock_of(readings).with_elapsed(elapsed), 0);
        let seen: Vec<u64> = (0..5).map(|_| steady.now() / SECOND).collect();
        assert_eq!(seen, [1_000, 1_015, 1_015, 1_030, 1_100]);
    }

    #[test]
    fn the_correction_of_a_wrong_time_is_not_passed_time() {
        const DAY: u64 = 86_400 * 10_000_000;
        for first in [40 * DAY, ticks::MAX] {
            let steady = SteadyClock::new(clock_of([first, 40 * DAY, 100 * DAY, 100 * DAY]), 100 * DAY);
            let seen = [steady.now(), steady.now(), steady.now()];
            let at_most = 100 * DAY + LONGEST_STEP / 2;
            assert!(seen.is_sorted() && seen[2] <= at_most, "{first}: {seen:?}");
        }
    }

    /// A source of elapsed time that advances while the clock is being read.
    struct Overlapping {
        /// The elapsed seconds.
        now: u64,
        /// The seconds that pass during each of the next readings.
        passes: Vec<u64>,
    }

    proptest! {
        /// Tests that time is counted only once, even if a thread is suspended while it is reading the clock.
        #[test]
        fn overlapping_readings_count_no_time_twice(passes in prop::collection::vec(0_u64..1_000, 1..40)) {
            const SECOND: u64 = 10_000_000;
            const FROM: u64 = 1_000_000;
            let all: u64 = passes.iter().sum();
            let time = Arc::new(Mutex::new(Overlapping { now: 0, passes }));
            let steady = Arc::new(OnceLock::<SteadyClock>::new());
            let (seen, other) = (Arc::clone(&time), Arc::clone(&steady));
            let elapsed = move || {
                let now = seen.lock().unwrap().now;
                if let Some(other) = other.get() {
                    let pass = seen.lock().unwrap().passes.pop();
                    if let Some(pass) = pass {
                        seen.lock().unwrap().now += pass;
                        other.now();
                    }
                }
                Duration::from_secs(now)
            };
            let clock = Clock::new(|| 0).with_elapsed(elapsed);
            let steady = steady.get_or_init(|| SteadyClock::new(clock, FROM * SECOND));
            while !time.lock().unwrap().passes.is_empty() {
                steady.now();
            }
            let counted = all * SECOND - all * SECOND / 16;
            prop_assert_eq!(steady.now(), FROM * SECOND + counted);
        }
    }
}
