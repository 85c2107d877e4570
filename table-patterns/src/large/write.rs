//! Writes large entities. Uploads the blobs, and then writes the entity with the blobs' addresses.

use table_core::Result;
use table_core::column::Column;
use table_core::entity::Versioned;
use table_core::etag::{ETag, IfMatch, IntoIfMatch};
use table_core::key::EntityKey;
use table_core::selection::{Point, Selection};
use table_core::store::TableStore;
use table_core::table::IntoUpdateFrom;

use crate::entities::StepRecorder;
use crate::large::fault::LargeFault;
use crate::large::own::is_of;
use crate::large::uploads::Uploads;
use crate::large::{Blob, BlobRef, Content, Large, LargeReader, LargeTable};

impl<E: Large + Send + Sync, S: TableStore, O: StepRecorder> LargeTable<E, S, O> {
    /// Uploads contents for an entity's blobs, and inserts the entity with the addresses of these blobs.
    ///
    /// # Errors
    /// - `InvalidInput` if content is given twice for one blob, if the entity already contains an address for a blob without new content, or if the upload took
    ///   more than half of the grace period.
    /// - Any error from [`Table::insert`](table_core::Table::insert), the content streams or the blob store.
    ///
    /// Unless the error [is ambiguous](table_core::Error::is_ambiguous), nothing has been written to the table.
    pub async fn insert(
        &self,
        entity: E,
        contents: impl IntoIterator<Item = Content<'_, E>>,
    ) -> Result<Versioned<E>> {
        self.write(entity, None, contents).await
    }

    /// Uploads contents, and replaces the stored entity with `entity` and the new addresses. A blob without new content keeps the address that it has in
    /// `entity`. Readers see either the old or the new address of a blob.
    ///
    /// # Errors
    /// - With [`IfMatch::Any`]: `InvalidInput` if the entity contains an address for a blob without new content. That blob may have been replaced and removed.
    /// - With an [`ETag`]: `InvalidInput` if the entity contains an address that the stored entity does not contain.
    /// - Any error from [`Table::replace`](table_core::Table::replace) or [`insert`](Self::insert).
    pub async fn replace(
        &self,
        entity: E,
        if_match: impl IntoIfMatch,
        contents: impl IntoIterator<Item = Content<'_, E>>,
    ) -> Result<Versioned<E>> {
        self.write(entity, Some(if_match.into()), contents).await
    }

    /// Uploads contents, and merges the blobs' addresses into a stored entity without reading it. The other blobs and properties of the entity stay unchanged.
    /// For each blob, the last writer wins.
    ///
    /// # Errors
    /// - `ResourceNotFound` if the entity does not exist.
    /// - `InvalidInput` if `contents` is empty.
    /// - Any error from [`insert`](Self::insert).
    pub async fn set(
        &self,
        key: Selection<E, Point>,
        contents: impl IntoIterator<Item = Content<'_, E>>,
    ) -> Result<ETag> {
        let patch = self.table.patch(key.clone());
        let uploads = self.upload(&key.into_key()?, contents).await?;
        if uploads.is_empty() {
            return Err(self.refuse(LargeFault::NoContent));
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

    /// Removes a blob's address from an entity with [`Table::update`](table_core::Table::update). The blob becomes an orphan. Within the grace period, readers
    /// can still open it. Does nothing if the entity has no such blob.
    ///
    /// # Errors
    /// Any error from [`Table::update`](table_core::Table::update).
    pub async fn remove(&self, from: impl IntoUpdateFrom<E>, blob: Blob<E>) -> Result<Versioned<E>> {
        self.table.update(from, |entity| blob.put(entity, None)).await
    }

    /// Opens a blob of an entity that has been read. This takes a second request (PAT-LARGE-3). Returns `None` if the entity has no such blob.
    ///
    /// # Errors
    /// - `EntityMismatch` if the entity contains the address of another entity's blob.
    /// - `BlobNotFound` if the entity was read so long ago that the blob has been removed. Read the entity again.
    /// - `Corrupted` if the blob's length differs from the uploaded length.
    /// - Any other error from the blob store, such as `Io`.
    pub async fn open(&self, entity: &E, blob: Blob<E>) -> Result<Option<LargeReader>> {
        let Some(address) = blob.address_in(entity) else { return Ok(None) };
        // IMPORTANT: without this check, another program that writes the entity could make this program return the content of any blob in the store.
        if !is_of(address, &entity.key_of()?) {
            return Err(self.refuse(LargeFault::ReadsOthersBlob).with_property(blob.property()));
        }
        LargeReader::open(self.store.blobs.as_ref(), address).await.map(Some)
    }

    /// Uploads contents, and then writes the entity. If `if_match` is `None`, inserts the entity; otherwise, replaces it.
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
        let checked = match self.stored(&entity, &key, &uploads).await {
            Ok(stored) => self.check(&entity, (&key, stored), if_match.as_ref(), &uploads),
            Err(error) => Err(error),
        };
        let written = match checked {
            Ok(()) => match if_match {
                None => self.table.insert(&entity).await,
                Some(if_match) => self.table.replace(&entity, if_match).await,
            },
            Err(error) => Err(error),
        };
        let etag = self.settle(&uploads, written).await?;
        let ticks = etag.ticks().unwrap_or_else(|| self.table.retry().runtime().now());
        Ok(Versioned::new(entity, etag, ticks))
    }

    /// Returns the stored entity if the new entity contains the address of a blob without new content. Otherwise, returns `None`.
    async fn stored(
        &self,
        entity: &E,
        key: &EntityKey,
        uploads: &Uploads<E>,
    ) -> Result<Option<Versioned<E>>> {
        let is_kept = |blob: &Blob<E>| !uploads.has(*blob) && blob.address_in(entity).is_some();
        if E::BLOBS.iter().any(is_kept) { self.table.primary(key).await } else { Ok(None) }
    }

    /// Checks the entity's addresses. Each must be the address of a new upload, or of one of this entity's blobs that cannot have been removed. Also checks the
    /// duration of the upload.
    fn check(
        &self,
        entity: &E,
        (key, stored): (&EntityKey, Option<Versioned<E>>),
        if_match: Option<&IfMatch>,
        uploads: &Uploads<E>,
    ) -> Result<()> {
        for (blob, address) in uploads.addresses() {
            if blob.address_in(entity) != Some(address) {
                return Err(self.refuse(LargeFault::OtherAddress).with_property(blob.property()));
            }
        }
        for blob in E::BLOBS.iter().filter(|blob| !uploads.has(**blob)) {
            let Some(address) = blob.address_in(entity) else { continue };
            if !is_of(address, key) {
                return Err(self.refuse(LargeFault::OthersBlob).with_property(blob.property()));
            }
            // The collector may have removed any blob to which the stored version does not refer. If the write requires a different version, it fails anyway.
            let names = |stored: &Versioned<E>| blob.address_in(stored) == Some(address);
            let is_moved = |stored: &Versioned<E>| if_match.is_some_and(|etag| !etag.accepts(stored.etag()));
            let is_kept = stored.as_ref().is_none_or(|stored| names(stored) || is_moved(stored));
            if !is_kept || !matches!(if_match, Some(IfMatch::ETag(_))) {
                return Err(self.refuse(LargeFault::MayBeRemoved).with_property(blob.property()));
            }
        }
        self.in_time(uploads)
    }
}
