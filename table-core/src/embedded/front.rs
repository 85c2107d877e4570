//! The front of a queue: the place before which no row is left to receive.

/// A place among rows that are ordered by an instant, then by the Timestamp of the transaction that put them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Front {
    pub(crate) instant: u64,
    pub(crate) ticks: u64,
}
