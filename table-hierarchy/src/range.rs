//! Ranges of effective partition keys.

use std::fmt;

use crate::{Component, Epk};

/// A range of effective partition keys with an inclusive start and an exclusive end.
///
/// ```
/// use table_hierarchy::{Component, Epk, EpkRange};
///
/// let tenant = EpkRange::of_prefix(&[Component::text("Microsoft")]);
/// assert!(tenant.contains(&Epk::of(&["Microsoft", "u1"].map(Component::text))));
/// assert!(!tenant.contains(&Epk::of(&["Micro", "u1"].map(Component::text))));
/// assert!(EpkRange::ALL.contains(tenant.start()));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EpkRange {
    start: Epk,
    end: Epk,
}

impl EpkRange {
    /// The range of all effective partition keys (RT-3).
    pub const ALL: Self = Self { start: Epk::START, end: Epk::END };

    /// Creates a range with an inclusive start and an exclusive end.
    #[must_use]
    pub const fn new(start: Epk, end: Epk) -> Self {
        Self { start, end }
    }

    /// Returns the range of the keys that start with a prefix: `[E, E‖FF)` (RT-2). For an empty prefix, returns the range of all keys.
    #[must_use]
    pub fn of_prefix(levels: &[Component<'_>]) -> Self {
        let start = Epk::of(levels);
        let end = start.end_of_prefix();
        Self { start, end }
    }

    /// Returns the range of a single key: `[E, E+1)`, where 1 is added at the width of its levels (RT-1, MAP-9).
    #[must_use]
    pub fn of_key(levels: &[Component<'_>]) -> Self {
        let start = Epk::of(levels);
        let end = start.successor(levels.len());
        Self { start, end }
    }

    /// Returns the inclusive start of the range.
    #[must_use]
    pub const fn start(&self) -> &Epk {
        &self.start
    }

    /// Returns the exclusive end of the range.
    #[must_use]
    pub const fn end(&self) -> &Epk {
        &self.end
    }

    /// Returns `true` if the range contains no keys.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.start >= self.end
    }

    /// Returns `true` if the range contains the key.
    #[must_use]
    pub fn contains(&self, epk: &Epk) -> bool {
        self.start <= *epk && *epk < self.end
    }

    /// Returns the width of the range as a fraction of the range of all keys.
    pub(crate) fn width(&self) -> f64 {
        let position = |bound: &Epk| {
            let digits = bound.inside().iter().take(8).rev();
            digits.fold(0.0, |rest, byte| (rest + f64::from(*byte)) / 256.0) * 4.0
        };
        position(&self.end) - position(&self.start)
    }

    /// Returns the bound that divides the range into two ranges of equal width. The range must not be empty.
    pub(crate) fn middle(&self) -> Epk {
        let (start, end) = (self.start.inside(), self.end.inside());
        let digit = |bytes: &[u8], at: usize| u16::from(bytes.get(at).copied().unwrap_or_default());
        // Halving can move the last bit into an additional byte. The result is therefore one byte longer than the longer bound.
        let length = start.len().max(end.len()) + 1;
        let mut sum: Vec<u16> = (0..length).map(|at| digit(start, at) + digit(end, at)).collect();
        for at in (1..length).rev() {
            sum[at - 1] += sum[at] >> 8;
            sum[at] &= 0xFF;
        }
        let mut above = 0;
        let halves = sum.into_iter().map(|digit| {
            let whole = above << 8 | digit;
            above = whole & 1;
            u8::try_from(whole >> 1).unwrap_or(u8::MAX)
        });
        Epk::from_bytes(halves.collect::<Vec<_>>())
    }

    /// Returns the intersection of two ranges, or `None` if they do not overlap.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Option<Self> {
        let both = Self {
            start: Epk::clone((&self.start).max(&other.start)),
            end: Epk::clone((&self.end).min(&other.end)),
        };
        (!both.is_empty()).then_some(both)
    }
}

impl fmt::Display for EpkRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}, {})", self.start, self.end)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn halves_of_the_space_are_those_of_an_even_map() {
        let middle = EpkRange::ALL.middle();
        assert_eq!(middle, Epk::from_bytes([0x20]));
        assert_eq!(EpkRange::new(Epk::START, middle.clone()).middle(), Epk::from_bytes([0x10]));
        assert!((EpkRange::new(middle, Epk::END).width() - 0.5).abs() < 1e-12);
        assert!((EpkRange::ALL.width() - 1.0).abs() < 1e-12);
    }

    proptest! {
        #[test]
        fn the_middle_is_inside_and_both_halves_have_half_of_the_width(
            one in prop::collection::vec(0..0x40_u8, 1..20),
            other in prop::collection::vec(0..0x40_u8, 1..20),
            is_end in any::<bool>(),
        ) {
            let other = if is_end { Epk::END } else { Epk::from_bytes(other) };
            let (one, other) = (Epk::from_bytes(one.clone()).min(other.clone()), Epk::from_bytes(one).max(other));
            prop_assume!(one < other);
            let range = EpkRange::new(one, other);
            let middle = range.middle();
            prop_assert!(*range.start() < middle && middle < *range.end());
            let (left, right) = (EpkRange::new(range.start().clone(), middle.clone()), EpkRange::new(middle, range.end().clone()));
            prop_assert!((left.width() - right.width()).abs() < 1e-12);
        }
    }
}
