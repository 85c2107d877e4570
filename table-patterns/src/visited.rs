//! The items that a job has already processed, if the store may return rows without key order.
//!
//! Such a store may return the rows of one item at many points of a scan. The items are kept only in memory, because a resume position must be small enough to
//! be stored. As a result, a process that resumes the job processes some items a second time.

use std::collections::HashSet;

/// The maximum number of remembered items. Each needs about 32 bytes. Items beyond this limit may be processed several times.
const MOST: usize = 1_000_000;

/// The hashes of processed items; see [`key_hash`](crate::key_hash).
#[derive(Debug, Default)]
pub(crate) struct Visited(HashSet<u128>);

impl Visited {
    /// Returns `true` if the item has been processed.
    pub(crate) fn contains(&self, item: u128) -> bool {
        self.0.contains(&item)
    }

    /// Remembers a processed item.
    pub(crate) fn insert(&mut self, item: u128) {
        if self.0.len() < MOST {
            self.0.insert(item);
        }
    }

    /// Forgets all items.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}
