//! A cache of feed heads. Each writer starts from the head that the previous writer in the same process left.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use table_core::etag::ETag;
use table_core::key::PartitionKey;
use table_core::name::TableName;

use crate::feed::Head;

/// The maximum number of partitions whose heads are remembered.
const REMEMBERED: usize = 100_000;

/// The last known head of each partition's feed.
#[derive(Debug, Default)]
pub(super) struct Heads(Mutex<HashMap<(String, PartitionKey), (Head, ETag)>>);

impl Heads {
    /// Takes the head of a partition out of the cache. If the writer does not [put back](Self::leave) a head, the next writer reads the head from the store.
    pub(super) fn take(&self, table: &TableName, partition_key: &PartitionKey) -> Option<(Head, ETag)> {
        let id = (table.folded().to_owned(), partition_key.clone());
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&id)
    }

    /// Puts the head of a partition into the cache for the next writer.
    pub(super) fn leave(&self, table: &TableName, partition_key: &PartitionKey, head: (Head, ETag)) {
        let id = (table.folded().to_owned(), partition_key.clone());
        let mut heads = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if heads.len() >= REMEMBERED {
            heads.clear();
        }
        heads.insert(id, head);
    }
}
