//! The report of a backfill of copies.

use std::time::Duration;

use table_core::Error;
use table_core::key::EntityKey;

/// The result of a backfill of copies.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct CopiesReport {
    /// The number of processed entities: sources with references, and holders.
    pub scanned: u64,
    /// The number of entities that were written.
    pub written: u64,
    /// The entities whose copies could not be updated, with their errors; at most 1,000. Fix the entities, then update their copies with
    /// [`settle_copies`](crate::Entities::settle_copies). Several reports may contain the same entity.
    pub failed: Vec<(EntityKey, Error)>,
    /// The number of rows that pages [omit](table_core::query::Page::skipped) and whose keys the store does not return, such as items that other programs wrote
    /// to Cosmos DB. Includes the pages that earlier runs of an unfinished pass have read. A row counts once for each relation. If the store returns the key of an
    /// entity that it cannot represent, the entity is one of the `failed` instead.
    pub skipped: u64,
    /// The delay before the next run, if the backfill is not complete. In this case, programs built from an older release may still have requests in flight,
    /// another pass has begun during this run, or the `failed` entities ended the run. The next run continues with the entities after them.
    pub retry_after: Option<Duration>,
}

impl CopiesReport {
    /// Records that another run is necessary after `delay`.
    pub(super) fn run_again(&mut self, delay: Duration) {
        self.retry_after = Some(self.retry_after.map_or(delay, |known| known.max(delay)));
    }
}
