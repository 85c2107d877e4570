//! The load of partitions: request counts per partition, in limited memory.

mod ring;
mod sketch;
mod store;

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use table_core::Clock;

use sketch::Sketch;

pub use sketch::{BusyPartition, COUNTED, HOUR, MINUTE};
pub use store::CountingStore;

/// Request counts of a store's busiest partitions. Clones share the counts.
///
/// At most [`COUNTED`] partitions are counted. The "Space-Saving" algorithm selects them, with weights that are halved every ten minutes. A partition is always
/// counted if it receives more than one in [`COUNTED`] of the recent requests. The counts of a partition start when it is selected, and are exact from then on.
/// They are therefore never too high.
///
/// ```
/// use table_inspect::load::PartitionLoad;
///
/// let load = PartitionLoad::default();
/// for _ in 0..3 {
///     load.record("company", "Sales");
/// }
/// load.record("company", "Support");
/// let busiest = load.busiest();
/// assert_eq!((busiest[0].partition_key.as_str(), busiest[0].last_minute()), ("Sales", 3));
/// assert_eq!(load.last_minute(), 4);
/// ```
#[derive(Clone)]
pub struct PartitionLoad {
    clock: Clock,
    sketch: Arc<Mutex<Sketch>>,
}

impl PartitionLoad {
    /// Creates empty counts that use the given clock.
    #[must_use]
    pub fn new(clock: Clock) -> Self {
        Self { clock, sketch: Arc::default() }
    }

    /// Counts one request to a partition. Table names are case-sensitive here, so pass them in lower case.
    pub fn record(&self, table: &str, partition_key: &str) {
        let now = self.clock.now();
        self.sketch.lock().unwrap_or_else(PoisonError::into_inner).record(table, partition_key, now);
    }

    /// Returns the counted partitions with requests in the last hour, in descending order of recent load.
    #[must_use]
    pub fn busiest(&self) -> Vec<BusyPartition> {
        let now = self.clock.now();
        self.sketch.lock().unwrap_or_else(PoisonError::into_inner).read(now)
    }

    /// Returns the counts of one partition, or `None` if the partition is not counted.
    #[must_use]
    pub fn of(&self, table: &str, partition_key: &str) -> Option<BusyPartition> {
        let now = self.clock.now();
        self.sketch.lock().unwrap_or_else(PoisonError::into_inner).of(table, partition_key, now)
    }

    /// Returns the number of requests to all partitions in the last minute. It includes partitions that are not counted individually.
    #[must_use]
    pub fn last_minute(&self) -> u64 {
        let now = self.clock.now();
        self.sketch.lock().unwrap_or_else(PoisonError::into_inner).last_minute(now)
    }
}

impl Default for PartitionLoad {
    fn default() -> Self {
        Self::new(Clock::default())
    }
}

impl fmt::Debug for PartitionLoad {
    /// Omits the counts and the keys, because keys are user data.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PartitionLoad").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
