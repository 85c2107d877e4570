//! The workloads that every client runs, and the result of one round.

use std::time::Duration;

use crate::Outcome;
use crate::harness::Rate;

/// The maximum number of concurrent requests for pipelined inserts.
pub const AT_ONCE: usize = 32;
/// The table that all clients read. It has one partition with [`ENTITIES`] entities, which are inserted before the measurements.
pub const READ: &str = "ReadingsToRead";
/// The number of entities in the table [`READ`]. They fill ten pages.
pub const ENTITIES: u32 = 10_000;

/// A workload whose rate is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Inserts of single entities, one after another.
    Insert,
    /// Inserts of single entities with [`AT_ONCE`] concurrent requests.
    Pipelined,
    /// Transactions of 100 inserts each.
    Batch,
    /// Point reads.
    Get,
    /// Reads of pages of 1,000 entities, including decoding.
    Page,
}

impl Work {
    /// All workloads.
    pub const ALL: [Self; 5] = [Self::Insert, Self::Pipelined, Self::Batch, Self::Get, Self::Page];

    /// Returns the name of the workload in the line-based protocol used with clients in separate processes.
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

    /// Returns the lowest acceptable ratio of the rate of `table-azure` to the rate of another client. It applies both per elapsed time and per CPU time.
    ///
    /// For a single request, Azurite uses most of the elapsed time. The ratio between clients can therefore only be close to 1.
    #[must_use]
    pub const fn least(self) -> f64 {
        match self {
            Self::Insert | Self::Pipelined | Self::Get => 1.0,
            Self::Batch => 1.3,
            Self::Page => 1.2,
        }
    }

    /// Returns the name of the workload as shown in the table of results.
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

/// The result of one round of one client.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Done {
    /// The number of operations and the elapsed time.
    pub rate: Rate,
    /// The CPU time used by the client's process.
    pub busy: Duration,
}

/// Returns the CPU time used so far by the running threads of this process.
pub fn busy() -> Outcome<Duration> {
    let mut nanos = 0;
    for task in std::fs::read_dir("/proc/self/task")? {
        // A thread may end while the list of threads is being read.
        let text = std::fs::read_to_string(task?.path().join("schedstat")).unwrap_or_default();
        nanos += text.split(' ').next().and_then(|nanos| nanos.parse().ok()).unwrap_or(0);
    }
    Ok(Duration::from_nanos(nanos))
}
