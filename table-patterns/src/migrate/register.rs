//! Registers copied partitions in the target. Followers and sweeps then find their feeds and pending intents.

use table_core::Result;
use table_core::clock::Clock;
use table_core::key::PartitionKey;
use table_core::name::TableName;
use table_core::store::TableStore;

use crate::feed::{FEED_PREFIX, Feed};
use crate::outbox::OUTBOX_PREFIX;
use crate::outbox::registry::{self, Registered};

/// A kind of row whose partition must be registered: a feed entry or an intent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Feed,
    Outbox,
}

impl Kind {
    /// Returns the kind of a row if its partition must be registered, or `None` for any other row.
    pub(crate) fn of(row_key: &str) -> Option<Self> {
        match () {
            () if row_key.starts_with(FEED_PREFIX) => Some(Self::Feed),
            () if row_key.starts_with(OUTBOX_PREFIX) => Some(Self::Outbox),
            () => None,
        }
    }

    /// Registers a partition in the target.
    ///
    /// IMPORTANT: call this function before the partition's first row is stored. A crash between the two then leaves a harmless registration; in the opposite
    /// order, it would leave rows that no follower or sweep finds.
    pub(crate) async fn register<S: TableStore + Clone>(
        self,
        store: &S,
        table: &TableName,
        partition_key: &PartitionKey,
    ) -> Result<()> {
        match self {
            Self::Feed => Feed::new(store.clone()).register(table, partition_key).await,
            Self::Outbox => {
                let now = Clock::default().now();
                registry::register(store, &Registered::default(), table, partition_key, now).await
            }
        }
    }
}
