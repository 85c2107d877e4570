//! Defines the workloads of all clients, and the result of a round.

use std::time::Duration;

use crate::Outcome;
use crate::harness::Rate;

/// The maximum number of concurrent requests in pipelined inserts.
pub const AT_ONCE: usize = 32;
/// The table that all clients read. It has one partition with [`ENTITIES`] entities, which are inserted before the measurements.
pub const READ: &str = "ReadingsToRead";
/// The number of entities in the table [`READ`], which is ten pages.
pub const ENTITIES: u32 = 10_000;

/// A workload whose rate is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Sequential inserts of one entity each.
    Insert,
    /// Inserts with [`AT_ONCE`] concurrent requests.
    Pipelined,
    /// Transactions with 100 inserts each.
    Batch,
    /// Point reads.
    Get,
    /// Reads of a page of 1,000 entities, which are decoded.
    Page,
}

impl Work {
    /// All workloads.
    pub const ALL: [Self; 5] = [Self::Insert, Self::Pipelined, Self::Batch, Self::Get, Self::Page];

    /// Returns the name of the workload in the line-based protocol that clients in separate processes use.
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

    /// Returns the lowest acceptable ratio of `table-azure` to the other clients, by elapsed time and by CPU time.
    ///
    /// For a single request, Azurite uses most of the elapsed time, so the clients can differ only slightly.
    #[must_use]
    pub const fn least(self) -> f64 {
        match self {
            Self::Insert | Self::Pipelined | Self::Get => 1.0,
            Self::Batch => 1.3,
            Self::Page => 1.2,
        }
    }

    /// Returns the name of the workload as shown in the results table.
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

/// The result of one client's round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Done {
    /// The number of operations and their elapsed time.
    pub rate: Rate,
    /// The CPU time used by the client's process.
    pub busy: Duration,
}

/// Returns the CPU time used so far by this process's running threads.
pub fn busy() -> Outcome<Duration> {
    let mut nanos = 0;
    for task in std::fs::read_dir("/proc/self/task")? {
        // A thread may end while the list is being read.
        let text = std::fs::read_to_string(task?.path().join("schedstat")).unwrap_or_default();
        nanos += text.split(' ').next().and_then(|nanos| nanos.parse().ok()).unwrap_or(0);
    }
    Ok(Duration::from_nanos(nanos))
}
