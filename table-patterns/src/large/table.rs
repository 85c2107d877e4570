//! The handle to a table of large entities and the blob store with their values.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use object_store::ObjectStore;
use table_core::Table;
use table_core::clock::Clock;

use crate::blob::{BlobKind, BlobStore, PART};
use crate::entities::{Entities, NoOutbox};
use crate::large::Large;
use crate::large::own::OwnBlobs;

/// The blobs of entities.
static VALUES: BlobKind = BlobKind { folder: "blobs", row_in: None };

/// A handle to a table whose entities store values in blobs. See [the pattern](crate::large).
pub struct LargeTable<E, S, O = NoOutbox> {
    pub(super) table: Entities<E, S, O>,
    pub(crate) store: BlobStore,
    pub(super) clock: Clock,
    pub(super) part: usize,
}

impl<E: Large, S, O> LargeTable<E, S, O> {
    /// Creates a handle to a table of large entities. The [handle](crate::Entities) maintains all other patterns that the entity type declares.
    ///
    /// The values are stored in a blob store under names that begin with `prefix`. No other blobs may have this prefix. This includes the blobs of the same
    /// table in another table store, whose collector would remove this table's blobs.
    #[must_use]
    pub fn new(entities: impl Into<Entities<E, S, O>>, blobs: Arc<dyn ObjectStore>, prefix: &str) -> Self {
        let clock = Clock::default();
        let table = entities.into().with_contributor(OwnBlobs { clock: clock.clone() });
        Self { table, store: BlobStore::new(&VALUES, blobs, prefix), clock, part: PART }
    }

    /// Sets the grace period, for which a blob is kept after its last reference has been removed. The default is one day. An upload may take at most half of
    /// the grace period. A reader may keep an entity for the whole period before it opens the value.
    ///
    /// The names of this handle's blobs contain the grace period. A collector with a shorter period therefore keeps these blobs for the full period.
    #[must_use]
    pub fn grace(self, grace: Duration) -> Self {
        Self { store: self.store.with_grace(grace), ..self }
    }

    /// Sets the size of each upload part in bytes, at least 1. The default is 8 MiB. An upload holds one part in memory. Some stores require parts of at least
    /// 5 MiB.
    #[must_use]
    pub fn part_bytes(self, part: usize) -> Self {
        Self { part: part.max(1), ..self }
    }

    /// Sets the clock that determines the age of blobs.
    #[must_use]
    pub fn with_clock(self, clock: Clock) -> Self {
        let table = self.table.with_contributor(OwnBlobs { clock: clock.clone() });
        Self { table, clock, ..self }
    }

    /// Returns the table. Use it to read entities.
    #[must_use]
    pub const fn table(&self) -> &Table<E, S> {
        self.table.table()
    }

    /// Returns the underlying [`Entities`] handle, for deletions and for writes that do not change blobs. An entity with blobs can be updated, or replaced
    /// under its [`ETag`](table_core::ETag). An unconditional write is refused (`InvalidInput`) if it contains an address that may be stale.
    #[must_use]
    pub const fn entities(&self) -> &Entities<E, S, O> {
        &self.table
    }
}

debug_fields!([E, S: fmt::Debug, O: fmt::Debug] LargeTable[E, S, O] { table, store, .. });

clone_fields!([E, S: Clone, O: Clone] LargeTable[E, S, O] { table, store, clock, part });
