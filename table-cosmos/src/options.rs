//! Options for a Cosmos DB store.
//!
//! They set the levels, mapping and expiry of each table, the throughput of new containers, limits, and delays.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use azure_data_cosmos::options::{
    AvailabilityStrategy, OperationOptions, OperationOptionsBuilder, ReadConsistencyStrategy,
};
use table_core::retry::Retry;
use table_core::runtime::{Backoff, Runtime};
use table_core::{Entity, Result};
use table_hierarchy::level_names;

use crate::expiry::TimeToLive;
use crate::mapping::Mapping;
use crate::throughput::Throughput;

/// The default maximum number of physical partitions that one query may use.
pub(crate) const FAN_OUT: u32 = 100;

/// Options for a Cosmos DB store.
///
/// A table for which no options are set has one level, the PartitionKey.
///
/// ```
/// use table_cosmos::Options;
///
/// let options = Options::new().levels("Events", 3).throughput(4_000).fan_out(500);
/// assert_eq!((options.level_count("events"), options.level_count("Other")), (3, 1));
/// ```
#[derive(Clone, Debug)]
pub struct Options {
    mappings: HashMap<String, Arc<Mapping>>,
    expiry: HashMap<String, TimeToLive>,
    pub(crate) throughput: Option<Throughput>,
    pub(crate) fan_out: u32,
    pub(crate) exact: bool,
    reads: Option<ReadConsistencyStrategy>,
    pub(crate) refuses_foreign: bool,
    adopts_levels: bool,
    pub(crate) retry: Retry,
    pub(crate) splits: usize,
    pub(crate) split_backoff: Backoff,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            mappings: HashMap::new(),
            expiry: HashMap::new(),
            throughput: None,
            fan_out: FAN_OUT,
            exact: true,
            reads: None,
            refuses_foreign: false,
            adopts_levels: false,
            retry: Retry::default(),
            splits: 120,
            split_backoff: Backoff { initial: Duration::from_millis(20), max: Duration::from_secs(2) },
        }
    }
}

impl Options {
    /// Creates the default options.
    ///
    /// Each table has one level. The throughput of new containers is not set. A query may use at most 100 physical partitions.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the number of levels of a table, from 1 to 3. A number outside this range is clamped (HPK-42). This replaces the table's mapping, if any.
    #[must_use]
    pub fn levels(self, table: &str, levels: usize) -> Self {
        self.with_mapping(table, Mapping::standard(levels))
    }

    /// Sets whether a table without configured levels or mapping uses the levels of its existing container. This is intended for tools that do not know the
    /// entity types.
    ///
    /// By default, such a table has one level, and a container with several levels is an error. If `adopt` is `true`, the paths of the container must be `/l1`,
    /// `/l2` and `/l3`. New containers of these tables always have one level.
    ///
    /// ```
    /// use table_cosmos::Options;
    ///
    /// let options = Options::new().adopt_levels(true).levels("Events", 3); // `Events` must have 3 levels; other tables have their containers' levels
    /// # let _ = options;
    /// ```
    #[must_use]
    pub fn adopt_levels(self, adopt: bool) -> Self {
        Self { adopts_levels: adopt, ..self }
    }

    /// Gives an entity's table the levels that the entity declares.
    #[must_use]
    pub fn levels_of<E: Entity>(self) -> Self {
        self.levels(E::SCHEMA.table, level_names(E::SCHEMA).len())
    }

    /// Sets the mapping of a table whose items are not in the default format. Other programs may have written them. The mapping also determines the levels of
    /// the table.
    ///
    /// # Errors
    /// `InvalidInput` in these cases:
    /// - The number of levels is wrong.
    /// - A path is invalid or reserved.
    /// - Two paths overlap.
    /// - A name is invalid or repeated.
    pub fn mapping(self, table: &str, mapping: Mapping) -> Result<Self> {
        let mapping = mapping.checked()?;
        Ok(self.with_mapping(table, mapping))
    }

    /// Sets the mapping of an entity's table, after checking it against the entity's schema.
    ///
    /// # Errors
    /// - `InvalidInput` if the number of levels differs from the number that the entity declares.
    /// - `InvalidInput` if the entity lacks a mapped property, or declares it with a different type.
    /// - Any error listed for [`mapping`](Self::mapping).
    pub fn mapping_of<E: Entity>(self, mapping: Mapping) -> Result<Self> {
        let mapping = mapping.checked_for(E::SCHEMA)?;
        Ok(self.with_mapping(E::SCHEMA.table, mapping))
    }

    fn with_mapping(mut self, table: &str, mapping: Mapping) -> Self {
        self.mappings.insert(table.to_ascii_lowercase(), Arc::new(mapping));
        self
    }

    /// Sets the time to live of a table's items. By default, items never expire, and a container whose items can expire causes an error.
    ///
    /// The setting applies to new containers. If an existing container has a different time to live, it is used unchanged and a warning is logged. To set the
    /// time to live of a single item, map a property to it with [`Mapping::time_to_live`].
    ///
    /// Every item in the table expires relative to its own last write. This includes index rows, feed entries and outbox rows. Set a time to live only for
    /// tables that do not use patterns.
    #[must_use]
    pub fn time_to_live(mut self, table: &str, time: TimeToLive) -> Self {
        self.expiry.insert(table.to_ascii_lowercase(), time.clamped());
        self
    }

    /// Sets the throughput of new containers in request units per second. By default, the database or the service determines it.
    ///
    /// If an existing container has a different throughput, it is used unchanged and a warning is logged. See
    /// [`CosmosTables::differences`](crate::CosmosTables::differences).
    #[must_use]
    pub fn throughput(self, units: u64) -> Self {
        Self { throughput: Some(Throughput::Manual(units)), ..self }
    }

    /// Sets the maximum throughput of new containers in request units per second. The service scales the throughput automatically, from 10% of the maximum up
    /// to the maximum.
    #[must_use]
    pub fn autoscale(self, most: u64) -> Self {
        Self { throughput: Some(Throughput::Autoscale(most)), ..self }
    }

    /// Sets whether a query fails if it finds a foreign item. This is an item that another program wrote and that is not an entity.
    ///
    /// By default, such items are skipped, logged, and reported by [`CosmosTables::skipped_items`](crate::CosmosTables::skipped_items). If `refuse` is `true`,
    /// the query fails with `Corrupted`.
    ///
    /// Two kinds of request always fail: a query that finds an unreadable item written by this library, and a point read of an item that is not an entity.
    #[must_use]
    pub fn refuse_foreign_items(self, refuse: bool) -> Self {
        Self { refuses_foreign: refuse, ..self }
    }

    /// Sets the maximum number of physical partitions that one query may use. A query that needs more is rejected before it is sent (RUST-6).
    #[must_use]
    pub fn fan_out(self, partitions: u32) -> Self {
        Self { fan_out: partitions.max(1), ..self }
    }

    /// Enables or disables at-most-once writes. They are enabled by default.
    ///
    /// An at-most-once write takes effect at most once, even if the network delivers its request twice. An unconditional replace, delete or insert-or-replace
    /// therefore reads the entity first, and is conditional on its `ETag`. This costs one point read for a single operation, or one query for all operations of
    /// a transaction.
    ///
    /// If at-most-once writes are disabled, these operations are sent without a condition. After a lost response, errors are then ambiguous more often. A
    /// request that is delivered twice can undo a later change by a concurrent writer.
    ///
    /// Merges, and writes that specify an `ETag`, always take effect at most once.
    #[must_use]
    pub fn at_most_once_writes(self, enabled: bool) -> Self {
        Self { exact: enabled, ..self }
    }

    /// Sets whether every read returns the latest version that is committed in the region that serves it. By default, reads use the consistency level of the
    /// account.
    ///
    /// The default level of accounts is Session consistency. With it, a read in one process may miss a write completed by another process, even on a
    /// single-region account. Enable this option if several processes share a table on such an account, for example if separate workers process an outbox.
    ///
    /// A read with this option is a quorum read. It costs twice the request units of a read with Session consistency. On accounts with Strong or Bounded
    /// Staleness consistency, it costs the same as any other read. The option also affects the reads that precede writes, but not the writes themselves. While
    /// a read waits for a response, it is not hedged to another region.
    ///
    /// On a multi-region account, enable this option only if `region` is the write region. In any other region, a read may miss the client's own completed
    /// writes, because its requests contain no session token.
    ///
    /// ```
    /// use table_cosmos::Options;
    ///
    /// let options = Options::new().latest_committed_reads(true);
    /// # let _ = options;
    /// ```
    #[must_use]
    pub fn latest_committed_reads(self, enabled: bool) -> Self {
        Self { reads: enabled.then_some(ReadConsistencyStrategy::LatestCommitted), ..self }
    }

    /// Sets the retry policy for conflicts. A conflict occurs if a concurrent writer changes the entity between the read and the write of an operation.
    #[must_use]
    pub fn retry(self, retry: Retry) -> Self {
        Self { retry, ..self }
    }

    /// Sets the number of attempts during partition splits, and the delays between them.
    ///
    /// They apply to requests to a partition that is being split or moved (MAP-12). They also apply to a transaction if one of its operations is throttled or
    /// conflicts with a concurrent write.
    #[must_use]
    pub fn retry_during_splits(self, attempts: usize, backoff: Backoff) -> Self {
        Self { splits: attempts.max(1), split_backoff: backoff, ..self }
    }

    /// Returns the number of levels of a table.
    #[must_use]
    pub fn level_count(&self, table: &str) -> usize {
        self.mappings.get(&table.to_ascii_lowercase()).map_or(1, |mapping| mapping.depth())
    }

    /// Returns the configured mapping of a table, or the mapping for the standard format with one level.
    pub(crate) fn mapping_in(&self, table: &str) -> Arc<Mapping> {
        let found = self.mappings.get(&table.to_ascii_lowercase()).cloned();
        found.unwrap_or_else(|| Arc::new(Mapping::standard(1)))
    }

    /// Returns a table's mapping for an existing container. `standard_levels` is the container's number of levels. It is `None` if the container's paths are
    /// not the standard ones.
    pub(crate) fn mapping_for(&self, table: &str, standard_levels: Option<usize>) -> Arc<Mapping> {
        match standard_levels {
            Some(levels)
                if self.adopts_levels && !self.mappings.contains_key(&table.to_ascii_lowercase()) =>
            {
                Arc::new(Mapping::standard(levels))
            }
            _ => self.mapping_in(table),
        }
    }

    /// Returns the time to live of a table. If the mapping contains a time to live for items, the container must allow items to expire.
    pub(crate) fn time_to_live_in(&self, table: &str) -> TimeToLive {
        let table = table.to_ascii_lowercase();
        let per_item = self.mappings.get(&table).is_some_and(|mapping| mapping.expires());
        let default = if per_item { TimeToLive::PerItem } else { TimeToLive::Off };
        self.expiry.get(&table).copied().unwrap_or(default)
    }

    /// Returns the Azure SDK options for item reads.
    pub(crate) fn reading(&self) -> OperationOptions {
        let Some(strategy) = self.reads else { return OperationOptions::default() };
        // Reads are not hedged. They carry no session token, so a response from another region may miss this client's writes.
        OperationOptionsBuilder::new()
            .with_read_consistency_strategy(strategy)
            .with_availability_strategy(AvailabilityStrategy::Disabled)
            .build()
    }

    /// Returns the cost of a read relative to the cost of a read with Session consistency.
    pub(crate) const fn read_price(&self) -> f64 {
        if self.reads.is_some() { 2.0 } else { 1.0 }
    }

    pub(crate) fn runtime(&self) -> &Runtime {
        self.retry.runtime()
    }
}
