//! A table of large entities, with the store of its blobs.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use object_store::ObjectStore;
use object_store::path::Path;
use table_core::Table;
use table_core::clock::Clock;
use table_core::error::{Error, Result};

use crate::blob::encode;
use crate::entities::{Entities, NoOutbox};
use crate::large::Large;
use crate::large::fault::LargeFault;

/// Bytes of a part of an upload: over the least that every store takes, which is 5 MiB.
const PART: usize = 8 << 20;
const DAY: Duration = Duration::from_hours(24);

/// A table whose entities have values in blobs: how, see [the pattern](crate::large).
pub struct LargeTable<E, S, O = NoOutbox> {
    pub(super) table: Entities<E, S, O>,
    pub(super) blobs: Arc<dyn ObjectStore>,
    prefix: String,
    pub(super) clock: Clock,
    pub(super) grace: Duration,
    pub(super) part: usize,
}

impl<E: Large, S, O> LargeTable<E, S, O> {
    /// Entities, with their values below a prefix of a store of blobs. Nothing else may be below it. Taken by their
    /// [handle](crate::Entities) they keep whatever else they declare.
    #[must_use]
    pub fn new(entities: impl Into<Entities<E, S, O>>, blobs: Arc<dyn ObjectStore>, prefix: &str) -> Self {
        let prefix = prefix.trim_matches('/').to_owned();
        Self { table: entities.into(), blobs, prefix, clock: Clock::default(), grace: DAY, part: PART }
    }

    /// How long a blob that no entity names is kept; a day by default. It bounds how long an upload may take (half of it), and how
    /// long a reader may hold an entity before it opens its value.
    #[must_use]
    pub fn grace(self, grace: Duration) -> Self {
        Self { grace, ..self }
    }

    /// How many bytes are sent at once, and so held in memory: at least 1, by default 8 MiB. Some stores refuse less than 5.
    #[must_use]
    pub fn part_bytes(self, part: usize) -> Self {
        Self { part: part.max(1), ..self }
    }

    /// The same with another clock.
    #[must_use]
    pub fn with_clock(self, clock: Clock) -> Self {
        Self { clock, ..self }
    }

    /// The table, for reads.
    #[must_use]
    pub const fn table(&self) -> &Table<E, S> {
        self.table.table()
    }

    /// The handle, for every verb that leaves the blobs as they are: patches of other properties, deletes.
    #[must_use]
    pub const fn entities(&self) -> &Entities<E, S, O> {
        &self.table
    }

    /// The grace period in ticks.
    pub(super) fn grace_ticks(&self) -> u64 {
        u64::try_from(self.grace.as_nanos() / 100).unwrap_or(u64::MAX)
    }

    /// Where the blobs of the table are, or their marks.
    pub(super) fn folder(&self, kind: &str) -> Result<Path> {
        let table = encode(self.table().name()?.as_str());
        let folder = format!("{}/{kind}/{table}", self.prefix);
        Path::parse(&folder).map_err(|source| Error::of(LargeFault::Folder { folder, source }))
    }
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
