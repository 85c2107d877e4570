//! The partitions of a view that a rebuild has already recounted, on a store without key order.
//!
//! Such a store may return one partition's records at many points of a scan, so the rebuild remembers the partitions it has recounted. They are kept only in
//! memory, because the rebuild's resume position must be small enough to be stored. As a result, a process that resumes the rebuild recounts them.

use std::collections::HashSet;

use table_core::key::PartitionKey;

use crate::view::record;

/// The maximum number of remembered partitions. Each needs about 32 bytes. Partitions beyond this limit may be recounted several times.
const MOST: usize = 1_000_000;

/// The hashes of recounted partitions.
#[derive(Debug, Default)]
pub(super) struct Counted(HashSet<u128>);

impl Counted {
    /// Returns `true` if the partition has been recounted.
    pub(super) fn contains(&self, place: &PartitionKey) -> bool {
        self.0.contains(&record::place_hash(place))
    }

    /// Remembers a recounted partition.
    pub(super) fn insert(&mut self, place: &PartitionKey) {
        if self.0.len() < MOST {
            self.0.insert(record::place_hash(place));
        }
    }
}
