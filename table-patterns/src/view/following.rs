//! The memory of a follower between its calls.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use table_core::etag::ETag;
use table_core::key::PartitionKey;
use uuid::Uuid;

use crate::feed::Cursor;

/// The maximum number of partitions whose cursors a follower remembers.
const REMEMBERED: usize = 100_000;

/// The state of a follower between calls.
#[derive(Debug)]
pub(super) struct Following {
    /// The identifier of the follower in its leases.
    pub(super) id: String,
    /// The partition with which the next call begins. It rotates, which prevents a busy partition from starving the others.
    pub(super) turn: AtomicUsize,
    /// The state of each partition at the last call.
    found: Mutex<HashMap<PartitionKey, Found>>,
}

impl Default for Following {
    fn default() -> Self {
        let id = Uuid::new_v4().simple().to_string();
        Self { id, turn: AtomicUsize::default(), found: Mutex::default() }
    }
}

/// The state of a partition after the last call.
#[derive(Clone, Debug, Default)]
pub(super) struct Found {
    pub(super) cursor: Cursor,
    /// `true` if the last call found changes.
    pub(super) was_active: bool,
    /// The lease of another follower, the time at which it was first seen, and how often it has been seen since.
    pub(super) lease: Option<(ETag, u64, u32)>,
}

impl Following {
    /// Returns `true` after the first call. Before that, the follower remembers no lease.
    pub(super) fn has_called(&self) -> bool {
        self.turn.load(Ordering::Relaxed) > 1
    }

    /// Returns the state of a partition after the last call.
    pub(super) fn get(&self, partition_key: &PartitionKey) -> Found {
        let found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        found.get(partition_key).cloned().unwrap_or_default()
    }

    /// Remembers the state of a partition after a call.
    pub(super) fn set(&self, partition_key: &PartitionKey, found: Found) {
        let mut all = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= REMEMBERED && !all.contains_key(partition_key) {
            all.clear();
        }
        all.insert(partition_key.clone(), found);
    }
}
