//! Ranges of effective partition keys.

use std::fmt;

use crate::{Component, Epk};

/// Effective partition keys from one on, below another.
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
    /// The whole space (RT-3).
    pub const ALL: Self = Self { start: Epk::START, end: Epk::END };

    /// From one on, below another.
    #[must_use]
    pub const fn new(start: Epk, end: Epk) -> Self {
        Self { start, end }
    }

    /// The keys below a prefix: `[E, E‖FF)` (RT-2); the whole space for none.
    #[must_use]
    pub fn of_prefix(levels: &[Component<'_>]) -> Self {
        let start = Epk::of(levels);
        let end = start.end_of_prefix();
        Self { start, end }
    }

    /// One whole key: `[E, E+1)` at the width of its levels (RT-1, MAP-9).
    #[must_use]
    pub fn of_key(levels: &[Component<'_>]) -> Self {
        let start = Epk::of(levels);
        let end = start.successor(levels.len());
        Self { start, end }
    }

    /// The first key.
    #[must_use]
    pub const fn start(&self) -> &Epk {
        &self.start
    }

    /// The end, exclusive.
    #[must_use]
    pub const fn end(&self) -> &Epk {
        &self.end
    }

    /// Whether no key lies in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.start >= self.end
    }

    /// Whether a key lies in it.
    #[must_use]
    pub fn contains(&self, epk: &Epk) -> bool {
        self.start <= *epk && *epk < self.end
    }

    /// What lies in both; `None` if nothing does.
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
