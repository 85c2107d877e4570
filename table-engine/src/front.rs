//! Positions in a queue's table, such as its front: the position before which no message remains.

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

/// The positions in a queue's table at which decisions start to read. They are not stored on disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Positions {
    /// A position before which no message remains.
    pub(crate) front: Front,
    /// The position at which puts continue to search for expired messages, or the first position if they start again at the front.
    pub(crate) search: Front,
    /// The number of puts since the last search for expired messages, or 0 if the next put searches.
    pub(crate) puts: usize,
}

/// The position at which a search for the first message of a queue ended.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Searched {
    /// The position of the first message that was found.
    pub(crate) found: Front,
    /// The position before which no message remains. It is before `found` if the search skipped a part of the base that may be readable later.
    pub(crate) front: Front,
}
