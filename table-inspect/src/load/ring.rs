//! Counts for the `N` most recent time periods.

/// A ring buffer of counts for the `N` most recent periods. Period numbers increase with time.
#[derive(Clone, Debug)]
pub(super) struct Ring<const N: usize> {
    counts: [u32; N],
    /// The number of the most recent period with a count.
    newest: u64,
}

impl<const N: usize> Default for Ring<N> {
    fn default() -> Self {
        Self { counts: [0; N], newest: 0 }
    }
}

impl<const N: usize> Ring<N> {
    /// Increments the count of a period.
    ///
    /// If the clock was set back by fewer than `N` periods, the most recent period is counted instead. If it was set back further, all counts are cleared
    /// first, because they were recorded while the clock was ahead.
    pub(super) fn add(&mut self, period: u64) {
        if self.is_ahead_of(period) {
            *self = Self::default();
        }
        self.forget_before(period);
        if let Some(count) = self.counts.get_mut(slot::<N>(self.newest)) {
            *count = count.saturating_add(1);
        }
    }

    /// Returns the counts of the `N` periods ending with `period`, oldest first. If the clock was set back by fewer than `N` periods, returns the `N` most
    /// recent counts.
    pub(super) fn up_to(&self, period: u64) -> [u32; N] {
        if self.is_ahead_of(period) {
            return [0; N];
        }
        let period = period.max(self.newest);
        let oldest = period.saturating_sub(N as u64 - 1);
        std::array::from_fn(|at| {
            let asked = oldest + at as u64;
            let is_kept = asked <= self.newest && self.newest - asked < N as u64;
            self.counts.get(slot::<N>(asked)).copied().filter(|_| is_kept).unwrap_or_default()
        })
    }

    /// Returns `true` if the counts come from a clock that was `N` or more periods ahead.
    const fn is_ahead_of(&self, period: u64) -> bool {
        self.newest.saturating_sub(period) >= N as u64
    }

    /// Makes a later period the most recent one. Clears the counts up to this period.
    fn forget_before(&mut self, period: u64) {
        if period <= self.newest {
            return;
        }
        let passed = period - self.newest;
        if passed >= N as u64 {
            self.counts = [0; N];
        } else {
            for one in self.newest + 1..=period {
                if let Some(count) = self.counts.get_mut(slot::<N>(one)) {
                    *count = 0;
                }
            }
        }
        self.newest = period;
    }
}

/// Returns the index of the count for a period. It is less than `N`.
fn slot<const N: usize>(period: u64) -> usize {
    usize::try_from(period % N as u64).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_leave_with_their_period() {
        let mut ring = Ring::<4>::default();
        for period in [10, 10, 12] {
            ring.add(period);
        }
        assert_eq!(ring.up_to(12), [0, 2, 0, 1]);
        assert_eq!(ring.up_to(13), [2, 0, 1, 0]);
        assert_eq!(ring.up_to(15), [1, 0, 0, 0]);
        assert_eq!((ring.up_to(16), ring.up_to(u64::MAX)), ([0; 4], [0; 4]));
        ring.add(14);
        assert_eq!(ring.up_to(14), [0, 1, 0, 1]);
        ring.add(11);
        assert_eq!(ring.up_to(11), [0, 1, 0, 2], "a clock that was set back loses no request");
        ring.add(14 + 9);
        assert_eq!(ring.up_to(14 + 9), [0, 0, 0, 1]);
    }

    #[test]
    fn counts_begin_again_after_a_clock_that_was_ahead_is_corrected() {
        let mut ring = Ring::<4>::default();
        for period in [1_000, 1_001] {
            ring.add(period);
        }
        assert_eq!(ring.up_to(10), [0; 4]);
        for period in [10, 10, 12] {
            ring.add(period);
        }
        assert_eq!(ring.up_to(12), [0, 2, 0, 1]);
        assert_eq!(ring.up_to(16), [0; 4]);
        ring.add(9);
        assert_eq!(ring.up_to(9), [0, 2, 0, 2]);
    }
}
