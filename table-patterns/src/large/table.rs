//! The handle to a table of large entities, and to the blob store that contains their values.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use object_store::ObjectStore;
use object_store::path::Path;
use table_core::clock::Clock;
use table_core::name::TableName;
use table_core::{Error, Result, Table};

use crate::blob::{BlobFolder, decode, encode};
use crate::entities::{Entities, NoOutbox};
use crate::large::Large;
use crate::large::fault::LargeFault;
use crate::large::own::OwnBlobs;

/// The default size of an upload part in bytes. It exceeds 5 MiB, the largest minimum part size of any blob store.
const PART: usize = 8 << 20;
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// A handle to a table whose entities store values in blobs. See [the pattern](crate::large).
pub struct LargeTable<E, S, O = NoOutbox> {
    pub(super) table: Entities<E, S, O>,
    pub(super) blobs: Arc<dyn ObjectStore>,
    prefix: String,
    pub(super) clock: Clock,
    pub(super) grace: Duration,
    pub(super) part: usize,
}

impl<E: Large, S, O> LargeTable<E, S, O> {
    /// Creates a handle to a table of large entities. Their values are stored in a blob store under names that begin with `prefix`. No other blobs may have
    /// this prefix, not even those of the same table in another table store: its collector would remove the blobs of this table. The [handle](crate::Entities) maintains everything else that the entity type declares.
    #[must_use]
    pub fn new(entities: impl Into<Entities<E, S, O>>, blobs: Arc<dyn ObjectStore>, prefix: &str) -> Self {
        let prefix = prefix.trim_matches('/').to_owned();
        let clock = Clock::default();
        let table = entities.into().with_contributor(OwnBlobs { clock: clock.clone() });
        Self { table, blobs, prefix, clock, grace: DAY, part: PART }
    }

    /// Sets the grace period: how long a blob is kept after the last entity has stopped referring to it. The default is one day. An upload may take at most
    /// half of the grace period. A reader may keep an entity for this time before it opens the value. The names of this handle's blobs contain the grace
    /// period. A collector with a shorter grace period keeps these blobs equally long.
    #[must_use]
    pub fn grace(self, grace: Duration) -> Self {
        Self { grace, ..self }
    }

    /// Sets the size in bytes of each part of an upload, at least 1. The default is 8 MiB. An upload buffers one part in memory. Some stores require at least
    /// 5 MiB.
    #[must_use]
    pub fn part_bytes(self, part: usize) -> Self {
        Self { part: part.max(1), ..self }
    }

    /// Sets the clock that determines the blobs' ages.
    #[must_use]
    pub fn with_clock(self, clock: Clock) -> Self {
        let table = self.table.with_contributor(OwnBlobs { clock: clock.clone() });
        Self { table, clock, ..self }
    }

    /// Returns the table, for reading entities.
    #[must_use]
    pub const fn table(&self) -> &Table<E, S> {
        self.table.table()
    }

    /// Returns the underlying [`Entities`] handle, for deletes and for writes that leave the blobs unchanged. An entity with blobs can be updated, or replaced
    /// under its [`ETag`](table_core::ETag). A write without a condition is refused (`InvalidInput`) if it contains an address that may be stale.
    #[must_use]
    pub const fn entities(&self) -> &Entities<E, S, O> {
        &self.table
    }

    /// Returns a function that returns the folder with a table's blobs.
    pub(crate) fn blob_folders(
        &self,
    ) -> impl Fn(&TableName) -> Result<BlobFolder> + Send + Sync + use<E, S, O> {
        let (blobs, prefix) = (Arc::clone(&self.blobs), self.prefix.clone());
        move |table| {
            let (values, marks) = (folder(&prefix, "blobs", table)?, folder(&prefix, "orphans", table)?);
            Ok(BlobFolder {
                blobs: Arc::clone(&blobs),
                values,
                marks,
                encode,
                decode,
                // The names of these blobs contain complete keys, so their content does not have to.
                partition_in: |_| Ok(None),
                is_bound: false,
            })
        }
    }

    /// Returns the grace period in ticks.
    pub(super) fn grace_ticks(&self) -> u64 {
        u64::try_from(self.grace.as_nanos() / 100).unwrap_or(u64::MAX)
    }

    /// Returns the folder for the table's blobs (`blobs`), or for the markers of its orphans (`orphans`).
    pub(super) fn folder(&self, kind: &str) -> Result<Path> {
        folder(&self.prefix, kind, self.table().name()?)
    }
}

/// Returns the folder for a table's blobs (`blobs`), or for the markers of its orphans (`orphans`).
fn folder(prefix: &str, kind: &str, table: &TableName) -> Result<Path> {
    let folder = format!("{prefix}/{kind}/{}", encode(table.as_str()));
    Path::parse(&folder).map_err(|source| Error::of(LargeFault::Folder { folder, source }))
}

impl<E, S: fmt::Debug, O: fmt::Debug> fmt::Debug for LargeTable<E, S, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LargeTable")
            .field("table", &self.table)
            .field("blobs", &self.blobs)
            .field("prefix", &self.prefix)
            .field("grace", &self.grace)
            .finish_non_exhaustive()
    }
}

impl<E, S: Clone, O: Clone> Clone for LargeTable<E, S, O> {
    fn clone(&self) -> Self {
        Self {
            table: self.table.clone(),
            blobs: Arc::clone(&self.blobs),
            prefix: self.prefix.clone(),
            clock: self.clock.clone(),
            grace: self.grace,
            part: self.part,
        }
    }
}
