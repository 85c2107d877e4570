//! A table of large entities: the blob first, then the entity that names it.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use object_store::ObjectStore;
use object_store::path::Path;
use table_core::Table;
use table_core::clock::Clock;
use table_core::column::Column;
use table_core::entity::Versioned;
use table_core::error::{Error, ErrorCode, Result};
use table_core::etag::{ETag, IfMatch};
use table_core::key::EntityKey;
use table_core::selection::{Point, Selection};
use table_core::store::TableStore;
use table_core::table::UpdateFrom;

use crate::blob::encode;
use crate::index::{Entities, IndexOutbox, NoOutbox};
use crate::large::uploads::{Uploads, is_of};
use crate::large::{Blob, BlobRef, Content, Large, LargeReader};

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
        Path::parse(&folder).map_err(|error| {
            let message = format!("`{folder}` cannot be in the name of a blob: {error}");
            Error::new(ErrorCode::InvalidInput, message).with_source(error)
        })
    }
}

impl<E: Large, S: TableStore, O: IndexOutbox> LargeTable<E, S, O> {
    /// Uploads contents, each for one of the entity's blobs, and inserts the entity that names them.
    ///
    /// # Errors
    /// Those of [`Table::insert`], of the contents and of the store of blobs; `InvalidInput` for two contents of one blob, for an
    /// entity that holds the address of a blob without new content, and if the upload took more than half of the grace period.
    /// The table is then as it was, unless the error [is ambiguous](table_core::Error::is_ambiguous).
    pub async fn insert(
        &self,
        entity: E,
        contents: impl IntoIterator<Item = Content<'_, E>>,
    ) -> Result<Versioned<E>> {
        self.write(entity, None, contents).await
    }

    /// Uploads contents and replaces the entity by one that names them; a blob without new content stays as the entity says.
    /// Readers see the old address of a blob or the new one.
    ///
    /// # Errors
    /// Those of [`Table::replace`], and as [`insert`](Self::insert). Under [`IfMatch::Any`] an entity that holds the address of a
    /// blob without new content is refused: the blob may have been replaced since, and be gone.
    pub async fn replace(
        &self,
        entity: E,
        if_match: impl Into<IfMatch>,
        contents: impl IntoIterator<Item = Content<'_, E>>,
    ) -> Result<Versioned<E>> {
        self.write(entity, Some(if_match.into()), contents).await
    }

    /// Uploads contents and merges their addresses into a stored entity, which is not read: its other blobs and properties
    /// stay. Last writer wins, for each blob.
    ///
    /// # Errors
    /// `ResourceNotFound` if there is no such entity; `InvalidInput` for no contents, and as [`insert`](Self::insert).
    pub async fn set(
        &self,
        key: Selection<E, Point>,
        contents: impl IntoIterator<Item = Content<'_, E>>,
    ) -> Result<ETag> {
        let patch = self.table.patch(key.clone());
        let uploads = self.upload(&key.into_key()?, contents).await?;
        if uploads.is_empty() {
            return Err(self.refuse("there is no content to set: give at least one blob one"));
        }
        let patch = uploads.addresses().fold(patch, |patch, (blob, address)| {
            patch.set(Column::<E, Option<BlobRef>>::new(blob.property()), address.clone())
        });
        let written = match self.in_time(&uploads) {
            Ok(()) => patch.send().await,
            Err(error) => Err(error),
        };
        self.settle(&uploads, written).await
    }

    /// Takes a blob away from an entity, which is read and replaced as [`Table::update`] does; the blob is an orphan then, and
    /// readers have the grace period to open it. Nothing, if the entity has none.
    ///
    /// # Errors
    /// Those of [`Table::update`].
    pub async fn remove(&self, from: impl Into<UpdateFrom<E>>, blob: Blob<E>) -> Result<Versioned<E>> {
        self.table.update(from, |entity| blob.put(entity, None)).await
    }

    /// A blob of an entity that was read: the second of two requests (PAT-LARGE-3). `None` if the entity has none.
    ///
    /// # Errors
    /// `BlobNotFound` if the entity was read so long ago that its value is gone: read it again; `Corrupted` if the blob is not
    /// of the length that was written; `Io`.
    pub async fn open(&self, entity: &E, blob: Blob<E>) -> Result<Option<LargeReader>> {
        match blob.address_in(entity) {
            Some(address) => LargeReader::open(self.blobs.as_ref(), address).await.map(Some),
            None => Ok(None),
        }
    }

    /// Inserts without a condition, replaces under one.
    async fn write(
        &self,
        mut entity: E,
        if_match: Option<IfMatch>,
        contents: impl IntoIterator<Item = Content<'_, E>>,
    ) -> Result<Versioned<E>> {
        let key = entity.key_of()?;
        let uploads = self.upload(&key, contents).await?;
        for (blob, address) in uploads.addresses() {
            blob.put(&mut entity, Some(address.clone()));
        }
        let written = match self.check(&entity, &key, if_match.as_ref(), &uploads) {
            Ok(()) => match if_match {
                None => self.table.insert(&entity).await,
                Some(if_match) => self.table.replace(&entity, if_match).await,
            },
            Err(error) => Err(error),
        };
        let etag = self.settle(&uploads, written).await?;
        let ticks = etag.ticks().unwrap_or_default();
        Ok(Versioned::new(entity, etag, ticks))
    }

    /// The entity names blobs that are there, and will be for as long as it names them.
    fn check(
        &self,
        entity: &E,
        key: &EntityKey,
        if_match: Option<&IfMatch>,
        uploads: &Uploads<E>,
    ) -> Result<()> {
        for (blob, address) in uploads.addresses() {
            if blob.address_in(entity) != Some(address) {
                let message = "the entity does not hold the address it was given: the functions of its `Blob` are not of one field";
                return Err(self.refuse(message).with_property(blob.property()));
            }
        }
        for blob in E::BLOBS.iter().filter(|blob| !uploads.has(**blob)) {
            let Some(address) = blob.address_in(entity) else { continue };
            if !is_of(address, key) {
                let message = "the entity names the blob of another one, which may remove it: upload the content for this one";
                return Err(self.refuse(message).with_property(blob.property()));
            }
            if !matches!(if_match, Some(IfMatch::ETag(_))) {
                let message = "the entity names a blob that may have been removed since: replace it under its ETag, or upload \
                               the content again, or set the field to `None`";
                return Err(self.refuse(message).with_property(blob.property()));
            }
        }
        self.in_time(uploads)
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
