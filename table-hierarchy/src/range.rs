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

    /// Returns the range of the keys that start with a prefix: `[E, E‖FF)` (RT-2). An empty prefix returns the complete space.
    #[must_use]
    pub fn of_prefix(levels: &[Component<'_>]) -> Self {
        let start = Epk::of(levels);
        let end = start.end_of_prefix();
        Self { start, end }
    }

    /// Returns the range of a single key: `[E, E+1)` at the width of its levels (RT-1, MAP-9).
    #[must_use]
    pub fn of_key(levels: &[Component<'_>]) -> Self {
        let start = Epk::of(levels);
        let end = start.successor(levels.len());
        Self { start, end }
    }

    /// Returns the start of the range, which is inclusive.
    #[must_use]
    pub const fn start(&self) -> &Epk {
        &self.start
    }

    /// Returns the end of the range, which is exclusive.
    #[must_use]
    pub const fn end(&self) -> &Epk {
        &self.end
    }

    /// Returns `true` if the range contains no key.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.start >= self.end
    }

    /// Returns `true` if the range contains the key.
    #[must_use]
    pub fn contains(&self, epk: &Epk) -> bool {
        self.start <= *epk && *epk < self.end
    }

    /// Returns the intersection of two ranges, or `None` if it is empty.
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
