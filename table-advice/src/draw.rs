//! Deterministic pseudo-random values for one operation.

use chrono::{DateTime, TimeDelta, Utc};

use crate::distribution::Distribution;
use crate::random::Random;

/// A source of pseudo-random values for one operation.
///
/// ```
/// use table_advice::{Distribution, Draw};
///
/// /// Returns the customer of an operation. A few customers are very frequent.
/// fn customer(draw: &mut Draw<'_>, customers: &Distribution) -> String {
///     format!("customer{:05}", draw.of(customers))
/// }
/// ```
#[derive(Debug)]
pub struct Draw<'a> {
    pub(super) random: &'a mut Random,
    pub(super) number: u64,
    pub(super) seconds: f64,
    pub(super) start: DateTime<Utc>,
}

impl Draw<'_> {
    /// Draws a random value from a distribution.
    #[must_use = "each draw returns another value"]
    pub fn of(&mut self, distribution: &Distribution) -> u64 {
        distribution.draw(self.random, self.number)
    }

    /// Returns the index of the operation within its pattern, starting at 0.
    #[must_use]
    pub const fn number(&self) -> u64 {
        self.number
    }

    /// Returns the time of the operation on the workload's clock.
    #[must_use]
    pub fn instant(&self) -> DateTime<Utc> {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "a run has few seconds; a cast of a float saturates"
        )]
        let micros = (self.seconds * 1e6) as i64;
        self.start.checked_add_signed(TimeDelta::microseconds(micros)).unwrap_or(self.start)
    }
}
