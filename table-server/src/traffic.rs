//! What an account's partitions are asked: which are hot, and whether they are asked more than the targets of the service.

mod hot;
mod throttle;

use table_core::query::KeyRange;

use crate::refusal::Refusal;
use hot::Hot;

pub use throttle::Throttle;

/// What an account's partitions are asked.
#[derive(Debug, Default)]
pub(crate) struct Traffic {
    hot: Hot,
    pub(crate) throttle: Option<Throttle>,
}

impl Traffic {
    /// A request of the account, whatever for (SCL-1).
    ///
    /// # Errors
    /// `ServerBusy` beyond the account's target (SCL-3).
    pub(crate) fn request(&self) -> Result<(), Refusal> {
        self.throttle.as_ref().map_or(Ok(()), Throttle::request)
    }

    /// So many entities of a partition are to be written or read (SCL-2).
    ///
    /// # Errors
    /// `ServerBusy` beyond the partition's target (SCL-3).
    pub(crate) fn entities(&self, table: &str, partition: &str, entities: usize) -> Result<(), Refusal> {
        self.hot.note(table, partition);
        self.throttle.as_ref().map_or(Ok(()), |throttle| throttle.entities(table, partition, entities))
    }

    /// A page of a range of keys is to be read: of one partition, or of several, which are on servers of their own.
    ///
    /// # Errors
    /// As [`entities`](Self::entities).
    pub(crate) fn page(&self, table: &str, keys: &KeyRange) -> Result<(), Refusal> {
        keys.partition_key.single().map_or(Ok(()), |partition| self.entities(table, partition, 1))
    }

    /// What a page held beyond its first entity.
    pub(crate) fn returned(&self, table: &str, keys: &KeyRange, entities: usize) {
        if let (Some(throttle), Some(partition)) = (&self.throttle, keys.partition_key.single()) {
            throttle.charge(table, partition, entities.saturating_sub(1));
        }
    }

    /// Table, key and requests of the partitions that have most.
    pub(crate) fn hottest(&self) -> Vec<(String, String, u64)> {
        self.hot.read()
    }
}
