//! Measures how far a view lags behind its source.

use std::time::Duration;

use table_core::Result;
use table_core::key::PartitionKey;
use table_core::store::TableStore;

use crate::requests::{self, CONCURRENCY};
use crate::view::View;
use crate::view::poison::is_of_partition;
use crate::view::table::ViewTable;

/// The lag of a view behind its source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Freshness {
    /// The number of changes that have not been applied yet.
    pub pending: u64,
    /// The Timestamp of the oldest pending change, in [ticks](table_core::ticks).
    pub oldest: Option<u64>,
}

impl Freshness {
    /// Returns the age of the oldest pending change at the given time, in [ticks](table_core::ticks); zero if none is pending.
    #[must_use]
    pub fn lag(&self, now: u64) -> Duration {
        let waited = self.oldest.map_or(0, |oldest| now.saturating_sub(oldest));
        Duration::from_micros(waited / 10)
    }
}

impl<V: View, S: TableStore> ViewTable<V, S> {
    /// Measures how far the view lags behind its source in all partitions. For each partition, this reads the cursor, the head of the feed and, if changes are
    /// pending, one more row. A partition whose feed cannot be read is not counted, and a follower [sets it aside](Self::poison).
    ///
    /// # Errors
    /// Any error from the store.
    pub async fn freshness(&self) -> Result<Freshness> {
        let partitions = self.feed.partitions(self.source.name()?).await?;
        let lags = partitions.iter().map(|partition_key| self.freshness_of(partition_key));
        let lags = requests::in_order(lags, CONCURRENCY).await?.into_iter();
        Ok(lags.fold(Freshness::default(), |all, one| Freshness {
            pending: all.pending.saturating_add(one.pending),
            oldest: all.oldest.into_iter().chain(one.oldest).min(),
        }))
    }

    /// Measures how far the view lags behind one partition of its source.
    async fn freshness_of(&self, partition_key: &PartitionKey) -> Result<Freshness> {
        let table = self.source.name()?;
        let cursor = self.position(partition_key).await?;
        let head = match self.feed.head(table, partition_key).await {
            Err(error) if is_of_partition(&error) => None,
            head => head?,
        };
        let Some((head, _)) = head else { return Ok(Freshness::default()) };
        let pending = head.end().number().saturating_sub(head.passed(&cursor));
        let oldest = if pending > 0 {
            let (first, _) = self.feed.entries((table, partition_key), &head, &cursor, 1).await?;
            first.first().map(|entry| entry.timestamp)
        } else {
            None
        };
        Ok(Freshness { pending, oldest })
    }
}
