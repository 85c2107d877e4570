//! The front of a queue: a position in its table before which no message remains.

/// A position among a queue's messages, which are ordered by the time when they become visible, then by the Timestamp of their transaction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Front {
    pub(crate) instant: u64,
    pub(crate) ticks: u64,
}
