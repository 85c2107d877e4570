//! Counts requests per partition of an account, and optionally throttles them at the service's targets.

mod throttle;

use table_core::query::KeyRange;
use table_inspect::load::PartitionLoad;

use crate::refusal::Refusal;

pub use throttle::Throttle;

/// An account's load, and its throttling limits, if any.
#[derive(Debug, Default)]
pub(crate) struct Traffic {
    pub(crate) load: PartitionLoad,
    pub(crate) throttle: Option<Throttle>,
}

impl Traffic {
    /// Counts any request to the account (SCL-1).
    ///
    /// # Errors
    /// `ServerBusy` if the account exceeds its target (SCL-3).
    pub(crate) fn request(&self) -> Result<(), Refusal> {
        self.throttle.as_ref().map_or(Ok(()), Throttle::request)
    }

    /// Counts entities in a partition before they are written or read (SCL-2).
    ///
    /// # Errors
    /// `ServerBusy` if the partition exceeds its target (SCL-3).
    pub(crate) fn entities(&self, table: &str, partition: &str, entities: usize) -> Result<(), Refusal> {
        self.load.record(table, partition);
        self.throttle.as_ref().map_or(Ok(()), |throttle| throttle.entities(table, partition, entities))
    }

    /// Counts a page of a query before it is read. A page is not counted if the query's key range covers several partitions, which are assumed to be on
    /// separate servers.
    ///
    /// # Errors
    /// `ServerBusy` if the partition exceeds its target (SCL-3).
    pub(crate) fn page(&self, table: &str, keys: &KeyRange) -> Result<(), Refusal> {
        keys.partition_key.single().map_or(Ok(()), |partition| self.entities(table, partition, 1))
    }

    /// Counts the entities returned on a page, except the first one, which was counted before the page was read.
    pub(crate) fn returned(&self, table: &str, keys: &KeyRange, entities: usize) {
        if let (Some(throttle), Some(partition)) = (&self.throttle, keys.partition_key.single()) {
            throttle.charge(table, partition, entities.saturating_sub(1));
        }
    }

    /// Counts the messages returned by a receive or peek operation, except the first one, which was counted before the queue was read.
    pub(crate) fn messages(&self, queue: &str, messages: usize) {
        if let Some(throttle) = &self.throttle {
            throttle.charge("", queue, messages.saturating_sub(1));
        }
    }
}
