//! The state that a follower (a process that applies changes to a view) keeps between its calls.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use table_core::etag::ETag;
use table_core::key::PartitionKey;
use uuid::Uuid;

use crate::feed::Listed;
use crate::view::turns::Turns;

/// After a writer has announced a commit, a follower does not mark the feed as quiet for this many calls, because the mark would make the announced commit
/// fail. Without this delay, a writer that is slower than the interval between two calls could never commit.
const COMMIT_POLLS: u32 = 100;

/// Another follower's lease, as seen by this follower.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    pub(super) etag: ETag,
    /// The time in ticks at which this follower first saw the lease.
    pub(super) since: u64,
    /// The latest time in ticks at which this follower saw the lease.
    pub(super) latest: u64,
    /// The number of calls that have seen the lease since the follower's clock last advanced.
    pub(super) times: u32,
}

/// The state that a follower keeps between calls and shares with its clones.
#[derive(Debug)]
pub(super) struct Follower {
    /// The follower's identifier, as stored in leases.
    pub(super) id: String,
    /// The number of calls so far.
    calls: AtomicUsize,
    /// The order in which a call processes the partitions.
    turns: Mutex<Turns>,
    /// `true` while one of the clones applies changes.
    pub(super) working: Arc<AtomicBool>,
    /// The last lease of another follower that this follower has seen.
    lease: Mutex<Option<Seen>>,
    /// The result of the last call for each partition.
    found: Mutex<HashMap<PartitionKey, Found>>,
}

impl Default for Follower {
    fn default() -> Self {
        let id = Uuid::new_v4();
        Self {
            id: id.simple().to_string(),
            calls: AtomicUsize::default(),
            turns: Turns::new(usize::try_from(id.as_u64_pair().1 & 0xFFFF_FFFF).unwrap_or_default()).into(),
            working: Arc::default(),
            lease: Mutex::default(),
            found: Mutex::default(),
        }
    }
}

/// The result of the last call for one partition.
#[derive(Clone, Debug, Default)]
pub(super) struct Found {
    /// The version of the registry row when both the row and the feed's head were marked as quiet at the view's cursor. While the row has this version, calls
    /// skip the partition. A restore changes the version. `None` if the head must be read.
    pub(super) quiet: Option<ETag>,
    /// `true` if the last call found changes in the partition's feed.
    pub(super) was_active: bool,
    /// The version of the registry row in which a writer has announced a commit, and the number of later calls that have seen this version.
    pub(super) announced: Option<(ETag, u32)>,
}

impl Found {
    /// Records the version of a registry row in which a writer has announced a commit.
    pub(super) fn announce(&mut self, listed: &ETag) {
        let known = self.announced.take().filter(|(etag, _)| etag == listed);
        self.announced = Some((listed.clone(), known.map_or(0, |(_, times)| times.saturating_add(1))));
    }

    /// Returns `true` if a writer that has announced a commit may still be about to commit.
    pub(super) fn awaits_commit(&self) -> bool {
        self.announced.as_ref().is_some_and(|(_, times)| *times < COMMIT_POLLS)
    }
}

impl Follower {
    /// Counts a call.
    pub(super) fn begin_call(&self) {
        self.calls.fetch_add(1, Ordering::Relaxed);
    }

    /// Locks and returns the order in which a call processes the partitions.
    pub(super) fn turns(&self) -> MutexGuard<'_, Turns> {
        self.turns.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns `true` if this is not the follower's first call. During the first call, a follower cannot know for how long a lease has been unchanged.
    pub(super) fn has_called(&self) -> bool {
        self.calls.load(Ordering::Relaxed) > 1
    }

    /// Locks and returns the last lease of another follower that this follower has seen.
    pub(super) fn lease(&self) -> MutexGuard<'_, Option<Seen>> {
        self.lease.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the result of the last call for a partition; the default result if the partition has not been processed yet.
    pub(super) fn get(&self, partition_key: &PartitionKey) -> Found {
        self.found().get(partition_key).cloned().unwrap_or_default()
    }

    /// Records the result of this call for a partition.
    pub(super) fn set(&self, partition_key: &PartitionKey, found: Found) {
        self.found().insert(partition_key.clone(), found);
    }

    /// Forgets the partitions that are no longer listed. This limits memory use to the number of listed partitions.
    pub(super) fn keep_listed(&self, listed: &[Listed]) {
        self.turns().keep_listed(listed);
        let mut found = self.found();
        if found.len() > listed.len() {
            let listed: HashSet<_> = listed.iter().map(|listed| &listed.partition_key).collect();
            found.retain(|partition_key, _| listed.contains(partition_key));
        }
    }

    fn found(&self) -> MutexGuard<'_, HashMap<PartitionKey, Found>> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
