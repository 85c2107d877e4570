//! Positions in a queue's table. An example is the queue's head, before which no message remains.

/// A position in a queue. Messages are sorted by the time at which they become visible, and then by the Timestamp of their transaction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Front {
    pub(crate) instant: u64,
    pub(crate) ticks: u64,
}

impl Front {
    /// A position past all messages.
    pub(crate) const LAST: Self = Self { instant: u64::MAX, ticks: u64::MAX };
}

/// The positions in a queue's table where decisions start reading. They are not stored on disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Positions {
    /// The queue's head: no message remains before this position.
    pub(crate) front: Front,
    /// The position at which the next search for expired messages starts. If that search starts at the head, this is the first position.
    pub(crate) search: Front,
    /// The number of put operations since the last search for expired messages. If it is 0, the next put operation searches.
    pub(crate) puts: usize,
}

/// The result of a search for the first message of a queue.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Searched {
    /// The position of the first message found, or the end of the search range.
    pub(crate) found: Front,
    /// The queue's new head. No message remains before this position. The head is before `found` if the search skipped a part of the base that may become
    /// readable later.
    pub(crate) front: Front,
}
