//! What a store is opened with: the levels of its tables, throughput of new containers, bounds, waits.

use std::collections::HashMap;
use std::time::Duration;

use table_core::Entity;
use table_core::hierarchy::level_names;
use table_core::retry::Retry;
use table_core::runtime::{Backoff, Runtime};

/// The most levels of a key (HPK-42).
const MOST: usize = 3;

/// How a store is opened.
///
/// A table is made and read with the levels that are said here; one of which nothing is said has one level, its whole PartitionKey.
///
/// ```
/// use table_cosmos::Options;
///
/// let options = Options::new().levels("Events", 3).throughput(4_000).fan_out(500);
/// assert_eq!((options.levels_in("events"), options.levels_in("Other")), (3, 1));
/// ```
#[derive(Clone, Debug)]
pub struct Options {
    levels: HashMap<String, usize>,
    pub(crate) throughput: Option<u64>,
    pub(crate) fan_out: u32,
    pub(crate) retry: Retry,
    pub(crate) splits: usize,
    pub(crate) split_backoff: Backoff,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            levels: HashMap::new(),
            throughput: None,
            fan_out: 100,
            retry: Retry::default(),
            splits: 120,
            split_backoff: Backoff { first: Duration::from_millis(20), most: Duration::from_secs(2) },
        }
    }
}

impl Options {
    /// One level a table, the throughput of the database, scans of at most 100 physical partitions.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The levels of a table: 1 to 3. More are taken for 3 and fewer for 1 (HPK-42).
    #[must_use]
    pub fn levels(mut self, table: &str, levels: usize) -> Self {
        self.levels.insert(table.to_ascii_lowercase(), levels.clamp(1, MOST));
        self
    }

    /// The levels of an entity's table, as they are declared.
    #[must_use]
    pub fn levels_of<E: Entity>(self) -> Self {
        self.levels(E::SCHEMA.table, level_names(E::SCHEMA).len())
    }

    /// Request units a second of containers that are created here; without, that of the database, or the service's default. A container that has
    /// another throughput is used as it is, with a warning: [`CosmosTables::differences`](crate::CosmosTables::differences).
    #[must_use]
    pub fn throughput(self, units: u64) -> Self {
        Self { throughput: Some(units), ..self }
    }

    /// The most physical partitions that one query may ask: more is refused before anything is sent (RUST-6).
    #[must_use]
    pub fn fan_out(self, partitions: u32) -> Self {
        Self { fan_out: partitions.max(1), ..self }
    }

    /// How often a merge that lost a race is made again.
    #[must_use]
    pub fn retry(self, retry: Retry) -> Self {
        Self { retry, ..self }
    }

    /// How often, and after which waits, a request is sent again while its partition is split or moved (MAP-12).
    #[must_use]
    pub fn splits(self, attempts: usize, backoff: Backoff) -> Self {
        Self { splits: attempts.max(1), split_backoff: backoff, ..self }
    }

    /// How many levels a table has.
    #[must_use]
    pub fn levels_in(&self, table: &str) -> usize {
        self.levels.get(&table.to_ascii_lowercase()).copied().unwrap_or(1)
    }

    pub(crate) fn runtime(&self) -> &Runtime {
        self.retry.runtime()
    }
}
