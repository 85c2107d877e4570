//! Pseudo-random numbers generated from a seed.

/// The `SplitMix64` generator. It is implemented here, because a new version of a dependency could change the reports.
#[derive(Clone, Debug)]
pub(super) struct Random(u64);

impl Random {
    /// Creates the random sequence for a pattern. The sequence depends only on the seed and on the pattern's name.
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

    /// Returns a random number from 0 (inclusive) to 1 (exclusive).
    pub(super) fn unit(&mut self) -> f64 {
        real(self.next() >> 11) / real(1 << 53)
    }

    /// Returns a random number from 0 (inclusive) to `values` (exclusive). `values` must not be 0.
    pub(super) fn below(&mut self, values: u64) -> u64 {
        let wide = u128::from(self.next()) * u128::from(values);
        u64::try_from(wide >> 64).unwrap_or_default()
    }
}

/// Converts a count to a float.
#[expect(clippy::cast_precision_loss, reason = "an estimate needs no more digits than a float has")]
pub(super) const fn real(count: u64) -> f64 {
    count as f64
}
