//! Simulated time. It advances only when a test advances it, or when the code under test waits.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rand::{Rng, RngExt};
use table_core::Engine;
use table_core::embedded::{Clock, EngineOptions};
use table_patterns::work::Runtime;

/// The number of ticks in a day.
const DAY: i64 = 864_000_000_000;

/// The difference between the clock of a process and the simulated time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Skew {
    /// The clock shows the simulated time.
    #[default]
    None,
    /// The clock is ahead by the given number of days. It is behind if the number is negative.
    Days(i64),
    /// The clock is stopped: it always shows the time of its creation.
    Stopped,
    /// The clock goes backwards from the time of its creation.
    Backwards,
    /// The clock alternates between the simulated time and a time that differs by the given number of days. It jumps after one to eight readings, depending on
    /// that number.
    Jumping(i64),
}

impl Skew {
    /// One skew of each kind.
    pub const ALL: [Self; 6] =
        [Self::None, Self::Days(9), Self::Days(-9), Self::Stopped, Self::Backwards, Self::Jumping(9)];

    /// Returns a random skew. Half of the results are [`Skew::None`].
    #[must_use]
    pub fn random(rng: &mut impl Rng) -> Self {
        let days = rng.random_range(1..40) * [1, -1][rng.random_range(0..2)];
        match rng.random_range(0..8) {
            0..=3 => Self::None,
            4 => Self::Days(days),
            5 => Self::Stopped,
            6 => Self::Backwards,
            _ => Self::Jumping(days),
        }
    }
}

/// Returns the number of readings between two jumps. It differs between clocks. In a test, a jump can therefore occur between any two readings.
const fn jumps_after(days: i64) -> u64 {
    days.unsigned_abs() % 8 + 1
}

/// The simulated time in ticks. All clones share it.
#[derive(Clone, Debug)]
pub struct Time(Arc<AtomicU64>);

impl Default for Time {
    fn default() -> Self {
        Self(Arc::new(AtomicU64::new(639_307_584_000_000_000)))
    }
}

impl Time {
    /// Advances the simulated time.
    pub fn pass(&self, time: Duration) {
        let ticks = u64::try_from(time.as_nanos() / 100).unwrap_or(u64::MAX);
        self.0.fetch_add(ticks, Ordering::SeqCst);
    }

    /// Returns a clock that reads the simulated time.
    #[must_use]
    pub fn clock(&self) -> Clock {
        let time = Arc::clone(&self.0);
        Clock::new(move || time.load(Ordering::SeqCst))
    }

    /// Returns a clock with the given skew.
    #[must_use]
    pub fn skewed(&self, skew: Skew) -> Clock {
        let (time, readings) = (Arc::clone(&self.0), AtomicU64::new(0));
        let start = time.load(Ordering::SeqCst);
        // The monotonic clock of a machine is correct even if its wall clock is wrong.
        let monotonic = Arc::clone(&self.0);
        let elapsed = move || Duration::from_nanos((monotonic.load(Ordering::SeqCst) - start) * 100);
        Clock::new(move || {
            let now = time.load(Ordering::SeqCst);
            let by = |days: i64| now.saturating_add_signed(days * DAY);
            match skew {
                Skew::None => now,
                Skew::Days(days) => by(days),
                Skew::Stopped => start,
                Skew::Backwards => start - (now - start),
                Skew::Jumping(days) => {
                    match readings.fetch_add(1, Ordering::SeqCst) / jumps_after(days) % 2 {
                        0 => now,
                        _ => by(days),
                    }
                }
            }
        })
        .with_elapsed(elapsed)
    }

    /// Returns a runtime that uses the simulated time. Instead of sleeping, it advances the time.
    #[must_use]
    pub fn runtime(&self) -> Runtime {
        self.runtime_of(Skew::None)
    }

    /// Returns the same runtime as [`Self::runtime`], but with a skewed clock.
    #[must_use]
    pub fn runtime_of(&self, skew: Skew) -> Runtime {
        let time = self.clone();
        Runtime::new().seed(7).clock(self.skewed(skew)).sleep_by(move |length| {
            time.pass(length);
            Box::pin(async {})
        })
    }

    /// Returns an in-memory engine that uses the simulated time.
    #[must_use]
    pub fn engine(&self) -> Engine {
        EngineOptions::new().clock(self.clock()).in_memory()
    }
}
