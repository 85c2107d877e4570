//! The sources whose holders have been updated by a backfill.
//!
//! The references of one source can fill many pages, and a store without key order scatters them over many pages. The backfill updates all holders of a source
//! when it finds the first reference, so it must recognise the source on later pages. The recorded position must be small, so it does not contain the completed
//! sources. A process that continues the backfill updates the holders of some sources a second time.

use std::collections::BTreeSet;

use table_core::key::EntityKey;

use crate::key_hash;
use crate::visited::Visited;

/// The sources whose holders have been updated, or could not be updated and have been reported.
#[derive(Debug)]
pub(super) struct Completed {
    /// `true` if the store returns rows in key order. The references of one source are then on consecutive pages.
    is_ordered: bool,
    sources: Visited,
    /// The number of rows that pages of the pass omit and whose keys the store does not return.
    pub(super) skipped: u64,
}

impl Completed {
    /// Returns the state of a pass in which earlier runs have found `skipped` such rows.
    pub(super) fn new(is_ordered: bool, skipped: u64) -> Self {
        Self { is_ordered, sources: Visited::default(), skipped }
    }

    /// Forgets all sources and omitted rows, because the pass starts again.
    pub(super) fn clear(&mut self) {
        self.sources.clear();
        self.skipped = 0;
    }

    /// Removes sources already seen on earlier pages from `page`, and remembers all sources on it.
    pub(super) fn take_from(&mut self, page: &mut BTreeSet<EntityKey>) {
        let on_page: Vec<_> = page.iter().map(key_hash::of_key).collect();
        page.retain(|source| !self.sources.contains(key_hash::of_key(source)));
        if self.is_ordered {
            self.sources.clear();
        }
        for source in on_page {
            self.sources.insert(source);
        }
    }
}
