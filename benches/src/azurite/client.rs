//! What every client is asked to do, and what it tells afterwards.

use std::time::Duration;

use crate::Outcome;
use crate::harness::Rate;

/// Requests that are under way at once where they are pipelined.
pub const AT_ONCE: usize = 32;
/// The table that every client reads: one partition of so many entities, written before.
pub const READ: &str = "ReadingsToRead";
/// The entities of that table: ten pages.
pub const ENTITIES: u32 = 10_000;

/// One kind of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Inserts of one entity each, one after another.
    Insert,
    /// The same with [`AT_ONCE`] under way.
    Pipelined,
    /// Transactions of 100 inserts.
    Batch,
    /// Point reads.
    Get,
    /// A page of 1,000 entities, decoded.
    Page,
}

impl Work {
    /// Every kind.
    pub const ALL: [Self; 5] = [Self::Insert, Self::Pipelined, Self::Batch, Self::Get, Self::Page];

    /// Its word on the line to a client in a process of its own.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Insert => "insert",
            Self::Pipelined => "pipelined",
            Self::Batch => "batch",
            Self::Get => "get",
            Self::Page => "page",
        }
    }

    /// How many times as fast as the other clients ours is at least, by the clock and by processor time.
    ///
    /// Azurite takes most of the clock's time of a single request, which leaves little to differ in.
    #[must_use]
    pub const fn least(self) -> f64 {
        match self {
            Self::Insert | Self::Pipelined | Self::Get => 1.0,
            Self::Batch => 1.3,
            Self::Page => 1.2,
        }
    }

    /// What it is in the table of ratios.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Insert => "insert, one after another",
            Self::Pipelined => "insert, 32 at once",
            Self::Batch => "transaction of 100 inserts",
            Self::Get => "point get",
            Self::Page => "page of 1,000, decoded",
        }
    }
}

/// A round of a client.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Done {
    /// Operations and the time they took.
    pub rate: Rate,
    /// How long the threads of the client's process were running.
    pub busy: Duration,
}

/// How long the threads of this process were running since they began.
pub fn busy() -> Outcome<Duration> {
    let mut nanos = 0;
    for task in std::fs::read_dir("/proc/self/task")? {
        // A thread may end while the list is read.
        let text = std::fs::read_to_string(task?.path().join("schedstat")).unwrap_or_default();
        nanos += text.split(' ').next().and_then(|nanos| nanos.parse().ok()).unwrap_or(0);
    }
    Ok(Duration::from_nanos(nanos))
}
