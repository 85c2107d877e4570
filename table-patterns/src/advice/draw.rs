//! Deterministic draws of the values of one operation.

use chrono::{DateTime, TimeDelta, Utc};

use crate::advice::distribution::{Distribution, real};

/// `SplitMix64`. Written out, so that no other version of a dependency gives other reports.
#[derive(Clone, Debug)]
pub(super) struct Random(u64);

impl Random {
    /// A sequence of its own for each pattern.
    pub(super) const fn new(seed: u64, pattern: &str) -> Self {
        let (bytes, mut hash) = (pattern.as_bytes(), 0xCBF2_9CE4_8422_2325_u64);
        let mut rest = bytes;
        while let [byte, behind @ ..] = rest {
            hash = (hash ^ *byte as u64).wrapping_mul(0x0100_0000_01B3);
            rest = behind;
        }
        Self(seed ^ hash)
    }

    const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// From 0 on, below 1.
    pub(super) fn unit(&mut self) -> f64 {
        real(self.next() >> 11) / real(1 << 53)
    }

    /// From 0 on, below this, which is not 0.
    pub(super) fn below(&mut self, values: u64) -> u64 {
        let wide = u128::from(self.next()) * u128::from(values);
        u64::try_from(wide >> 64).unwrap_or_default()
    }
}

/// Where one operation gets its values from.
#[derive(Debug)]
pub struct Draw<'a> {
    pub(super) random: &'a mut Random,
    pub(super) number: u64,
    pub(super) seconds: f64,
    pub(super) start: DateTime<Utc>,
}

impl Draw<'_> {
    /// A value of a distribution.
    #[must_use = "each draw is another value"]
    pub fn of(&mut self, distribution: &Distribution) -> u64 {
        distribution.draw(self.random, self.number)
    }

    /// The number of the operation in its pattern, from 0 on.
    #[must_use]
    pub const fn number(&self) -> u64 {
        self.number
    }

    /// The moment of the operation, by the workload's clock.
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
