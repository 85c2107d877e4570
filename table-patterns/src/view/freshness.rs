//! Measures how far a view lags behind its source.

use std::time::Duration;

use table_core::Result;
use table_core::store::TableStore;

use crate::failure::Failure;
use crate::view::View;
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
    /// Measures how far the view lags behind its source in all partitions. For each partition, reads the cursor, the head of the feed, and
    /// one more row if changes are pending. A partition whose feed cannot be read is not counted, and a follower [sets it aside](Self::poison).
    ///
    /// # Errors
    /// Any error from the store.
    pub async fn freshness(&self) -> Result<Freshness> {
        let table = self.source.name()?;
        let mut freshness = Freshness::default();
        for partition_key in &self.feed.partitions(table).await? {
            let cursor = self.position(partition_key).await?;
            let head = match self.feed.head(table, partition_key).await {
                Err(error) if Failure::of(&error) == Failure::Lasting => continue,
                head => head?,
            };
            let Some((head, _)) = head else { continue };
            let pending = head.end().number().saturating_sub(head.passed(&cursor));
            if pending > 0 {
                let (first, _) = self.feed.entries((table, partition_key), &head, &cursor, 1).await?;
                let oldest = first.first().map(|entry| entry.timestamp);
                freshness.oldest = freshness.oldest.into_iter().chain(oldest).min();
            }
            freshness.pending = freshness.pending.saturating_add(pending);
        }
        Ok(freshness)
    }
}
