//! The registration of copied partitions, by which followers and sweeps of the target find their feeds and pending intents.

use table_core::Result;
use table_core::clock::Clock;
use table_core::key::PartitionKey;
use table_core::name::TableName;
use table_core::store::TableStore;

use crate::feed::{FEED_PREFIX, Feed};
use crate::outbox::OUTBOX_PREFIX;
use crate::outbox::registry::{self, Registered};

/// The kinds of registered rows: entries of a feed, or intents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Feed,
    Outbox,
}

impl Kind {
    /// Returns the kind of a row that is found through a registry; `None` for any other row.
    pub(crate) fn of(row_key: &str) -> Option<Self> {
        match () {
            () if row_key.starts_with(FEED_PREFIX) => Some(Self::Feed),
            () if row_key.starts_with(OUTBOX_PREFIX) => Some(Self::Outbox),
            () => None,
        }
    }

    /// Registers a partition. IMPORTANT: call this function before the first row of the partition is stored.
    /// A crash between the two leaves a harmless entry; the opposite order would leave rows that no reader
    /// finds.
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
