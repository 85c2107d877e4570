//! The front of a queue: a position in its table before which no message remains.

/// A position among a queue's messages, which are ordered by the time when they become visible, then by the Timestamp of their transaction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Front {
    pub(crate) instant: u64,
    pub(crate) ticks: u64,
}

impl Front {
    /// The position after all messages.
    pub(crate) const LAST: Self = Self { instant: u64::MAX, ticks: u64::MAX };
}

/// The position at which a search for the first message of a queue ended.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Searched {
    /// The position of the first message that was found.
    pub(crate) found: Front,
    /// The position before which no message remains. It is before `found` if the search skipped a part of the base that may be readable later.
    pub(crate) front: Front,
}
