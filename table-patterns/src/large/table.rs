//! A table of large entities: the blob first, then the entity that names it.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_core::Stream;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};
use table_core::Table;
use table_core::clock::Clock;
use table_core::entity::Versioned;
use table_core::error::{Error, ErrorCode, Result};
use table_core::etag::{ETag, IfMatch};
use table_core::key::EntityKey;
use table_core::store::TableStore;
use uuid::Uuid;

use crate::blob::encode;
use crate::large::upload::upload;
use crate::large::{BlobRef, Large, LargeReader};

/// Bytes of a part of an upload: over the least that every store takes, which is 5 MiB.
const PART: usize = 8 << 20;
const DAY: Duration = Duration::from_hours(24);

/// A table whose entities have a value in a blob each: how, see [the pattern](crate::large).
pub struct LargeTable<E, S> {
    pub(super) table: Table<E, S>,
    pub(super) blobs: Arc<dyn ObjectStore>,
    prefix: String,
    pub(super) clock: Clock,
    pub(super) grace: Duration,
    part: usize,
}

impl<E: Large, S> LargeTable<E, S> {
    /// The entities of a table, with their values below a prefix of a store of blobs. Nothing else may be below it.
    #[must_use]
    pub fn new(table: Table<E, S>, blobs: Arc<dyn ObjectStore>, prefix: &str) -> Self {
        let prefix = prefix.trim_matches('/').to_owned();
        Self { table, blobs, prefix, clock: Clock::default(), grace: DAY, part: PART }
    }

    /// How long a blob that nobody names is kept: a day unless told. It bounds how long an upload may take (half of it), and how
    /// long a reader may hold an entity before it opens its value.
    #[must_use]
    pub fn grace(self, grace: Duration) -> Self {
        Self { grace, ..self }
    }

    /// How many bytes are sent at once, and so held in memory: 8 MiB unless told, at least 1. Some stores refuse less than 5.
    #[must_use]
    pub fn part_bytes(self, part: usize) -> Self {
        Self { part: part.max(1), ..self }
    }

    /// The same with another clock.
    #[must_use]
    pub fn with_clock(self, clock: Clock) -> Self {
        Self { clock, ..self }
    }

    /// The table, for every verb that leaves the value as it is.
    #[must_use]
    pub const fn table(&self) -> &Table<E, S> {
        &self.table
    }

    /// The grace period in ticks.
    pub(super) fn grace_ticks(&self) -> u64 {
        u64::try_from(self.grace.as_nanos() / 100).unwrap_or(u64::MAX)
    }

    /// Where the blobs of the table are, or their marks.
    pub(super) fn folder(&self, kind: &str) -> Result<Path> {
        let table = encode(self.table.name()?.as_str());
        let folder = format!("{}/{kind}/{table}", self.prefix);
        Path::parse(&folder).map_err(|error| {
            let message = format!("`{folder}` cannot be in the name of a blob: {error}");
            Error::new(ErrorCode::InvalidInput, message).with_source(error)
        })
    }
}

impl<E: Large, S: TableStore> LargeTable<E, S> {
    /// Uploads a value and inserts the entity that names it.
    ///
    /// # Errors
    /// Those of [`Table::insert`], of the content and of the store of blobs; `InvalidInput` if the upload took more than half
    /// of the grace period. The table is then as it was, unless the error [is ambiguous](Error::is_ambiguous).
    pub async fn insert(
        &self,
        entity: E,
        content: impl Stream<Item = Result<Bytes>> + Send,
    ) -> Result<Versioned<E>> {
        self.write(entity, content, async |entity| self.table.insert(entity).await).await
    }

    /// Uploads a new value and replaces the entity by one that names it. Readers see the old value or the new one.
    ///
    /// # Errors
    /// Those of [`Table::replace`], and as [`insert`](Self::insert).
    pub async fn replace(
        &self,
        entity: E,
        if_match: impl Into<IfMatch>,
        content: impl Stream<Item = Result<Bytes>> + Send,
    ) -> Result<Versioned<E>> {
        let if_match = if_match.into();
        self.write(entity, content, async |entity| self.table.replace(entity, if_match).await).await
    }

    /// The value of an entity that was read: the second of two requests (PAT-LARGE-3). `None` if it has none.
    ///
    /// # Errors
    /// `BlobNotFound` if the entity was read so long ago that its value is gone: read it again; `Corrupted` if the blob is not
    /// of the length that was written; `Io`.
    pub async fn open(&self, entity: &E) -> Result<Option<LargeReader>> {
        match entity.blob() {
            Some(blob) => LargeReader::open(self.blobs.as_ref(), blob).await.map(Some),
            None => Ok(None),
        }
    }

    async fn write(
        &self,
        mut entity: E,
        content: impl Stream<Item = Result<Bytes>> + Send,
        commit: impl AsyncFnOnce(&E) -> Result<ETag>,
    ) -> Result<Versioned<E>> {
        let born = self.clock.now();
        let path = self.new_name(&entity.key_of()?, born)?;
        let blob = upload(self.blobs.as_ref(), path.clone(), self.part, content).await?;
        entity.set_blob(blob.clone());
        let written = match self.check(&entity, &blob, born) {
            Ok(()) => commit(&entity).await,
            Err(error) => Err(error),
        };
        match written {
            Ok(etag) => {
                let ticks = etag.ticks().unwrap_or_default();
                Ok(Versioned::new(entity, etag, ticks))
            }
            // An entity may name it, or will: only the collector can tell.
            Err(error) if error.is_ambiguous() => Err(error),
            Err(error) => {
                // Nobody names it. If this fails, too, it is an orphan, which the collector removes.
                let _ = self.blobs.delete(&path).await;
                Err(error)
            }
        }
    }

    /// The entity holds what it was given, and the collector will not have judged the blob before the entity is there.
    fn check(&self, entity: &E, blob: &BlobRef, born: u64) -> Result<()> {
        let refuse = |message: &str| {
            Err(Error::new(ErrorCode::InvalidInput, message)
                .with_rule("PAT-LARGE-2")
                .with_table(E::SCHEMA.table))
        };
        if entity.blob() != Some(blob) {
            return refuse(
                "the entity does not hold the address it was given: `set_blob` stores it, `blob` gives it",
            );
        }
        if self.clock.now().saturating_sub(born) > self.grace_ticks() / 2 {
            return refuse(
                "the upload took more than half of the grace period, and the blob could be taken for an orphan: \
                 set a longer one",
            );
        }
        Ok(())
    }

    /// A name that no blob has had.
    fn new_name(&self, key: &EntityKey, born: u64) -> Result<Path> {
        let [partition, row] = [key.partition_key.as_str(), key.row_key.as_str()].map(encode);
        let name = format!("{born:019}_{}", Uuid::new_v4().simple());
        Ok(self.folder("blobs")?.join(partition).join(row).join(name))
    }
}

impl<E, S: fmt::Debug> fmt::Debug for LargeTable<E, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LargeTable")
            .field("table", &self.table)
            .field("blobs", &self.blobs)
            .field("prefix", &self.prefix)
            .field("grace", &self.grace)
            .finish_non_exhaustive()
    }
}

impl<E, S: Clone> Clone for LargeTable<E, S> {
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
