//! The memory of a follower between its calls.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use table_core::etag::ETag;
use table_core::key::PartitionKey;
use uuid::Uuid;

use crate::feed::Cursor;

/// The maximum number of partitions whose cursors a follower remembers.
const REMEMBERED: usize = 100_000;

/// The number of calls for which a follower leaves a feed unmarked after a writer has announced a commit.
/// A mark in the meantime would refuse the commit, so a writer that is slower than the calls would never commit.
const COMMIT_POLLS: u32 = 100;

/// The last lease of another follower that this follower saw.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    pub(super) etag: ETag,
    /// The time at which the lease was first seen.
    pub(super) since: u64,
    /// The number of calls that have seen the lease.
    pub(super) times: u32,
}

/// The state of a follower between calls.
#[derive(Debug)]
pub(super) struct Following {
    /// The identifier of the follower in its leases.
    pub(super) id: String,
    /// The partition with which the next call begins. It rotates, which prevents a busy partition from starving the other partitions.
    pub(super) turn: AtomicUsize,
    /// `true` while a clone of the follower applies changes.
    pub(super) working: Arc<AtomicBool>,
    /// The last lease of another follower that this follower saw.
    lease: Mutex<Option<Seen>>,
    /// The state of each partition at the last call.
    found: Mutex<HashMap<PartitionKey, Found>>,
}

impl Default for Following {
    fn default() -> Self {
        let id = Uuid::new_v4().simple().to_string();
        Self {
            id,
            turn: AtomicUsize::default(),
            working: Arc::default(),
            lease: Mutex::default(),
            found: Mutex::default(),
        }
    }
}

/// The state of a partition after the last call.
#[derive(Clone, Debug, Default)]
pub(super) struct Found {
    pub(super) cursor: Cursor,
    /// `true` if the last call found changes.
    pub(super) was_active: bool,
    /// The registry version in which a writer announced a commit, and the number of calls that have seen this version without the commit.
    pub(super) announced: Option<(ETag, u32)>,
}

impl Found {
    /// Notes that a writer has announced a commit in this version of the registry.
    pub(super) fn announce(&mut self, listed: &ETag) {
        let known = self.announced.take().filter(|(etag, _)| etag == listed);
        self.announced = Some((listed.clone(), known.map_or(0, |(_, times)| times.saturating_add(1))));
    }

    /// Returns `true` if a writer may still be committing.
    pub(super) fn awaits_commit(&self) -> bool {
        self.announced.as_ref().is_some_and(|(_, times)| *times < COMMIT_POLLS)
    }
}

impl Following {
    /// Returns `true` after the first call. Before that, the follower remembers no lease.
    pub(super) fn has_called(&self) -> bool {
        self.turn.load(Ordering::Relaxed) > 1
    }

    /// Returns the last lease of another follower that this follower saw.
    pub(super) fn lease(&self) -> MutexGuard<'_, Option<Seen>> {
        self.lease.lock().unwrap_or_else(PoisonError::into_inner)
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
