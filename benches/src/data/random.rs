//! Generates reproducible pseudo-random numbers (`SplitMix64`).

/// A random number generator.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Creates a generator. Generators with equal seeds produce equal numbers.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns the next 64 random bits.
    pub const fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Returns a random number below `bound`, which must not be 0.
    pub fn below(&mut self, bound: u32) -> u32 {
        let scaled = (u128::from(self.bits()) * u128::from(bound)) >> 64;
        u32::try_from(scaled).unwrap_or_default()
    }

    /// Returns a randomly chosen word.
    pub fn pick<'a>(&mut self, words: &[&'a str]) -> &'a str {
        let index = self.below(u32::try_from(words.len()).unwrap_or(u32::MAX));
        words.get(index as usize).copied().unwrap_or_default()
    }
}
