//! A tenant's blobs: the values of large entities, and index lists stored in blobs.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::TryStreamExt;
use object_store::path::Path;
use object_store::{GetOptions, ObjectStoreExt};
use table_core::key::PartitionKey;
use table_core::name::TableName;
use table_core::query::EntityRef;
use table_core::{Error, Result};

use crate::blob::{BlobFolder, BlobRef, BlobWriter, InBlobs, PART, begins_with, hashed_beginning};
use crate::tenant::Tenant;
use crate::tenant::fault::TenantFault;
use crate::tenant::partitions::Partitions;

/// The maximum number of blobs listed at a time for deletion.
const LISTED: usize = 1_000;

impl Tenant {
    /// Checks that the tenant's partitions have no blobs. This includes the folders of tables that do not exist in the table store, because their blobs may
    /// belong to the tenant in another table store.
    ///
    /// # Errors
    /// `EntityAlreadyExists` if blobs exist; any error from the blob store.
    pub(super) async fn check_no_blobs(&self) -> Result<()> {
        for place in &self.places {
            for folder in place.stored_folders().await? {
                if folder.count(&place.partitions).await?.blobs > 0 {
                    return Err(shared(&folder));
                }
            }
        }
        Ok(())
    }

    /// Checks that the other tenant's partitions with the same names have different blob folders.
    ///
    /// # Errors
    /// `EntityAlreadyExists` if two partitions have the same folder.
    pub(super) fn check_other_folders(&self, other: &Self) -> Result<()> {
        for (place, other) in self.places.iter().zip(&other.places) {
            if place.partitions != other.partitions {
                continue;
            }
            let others = other.folders(&other.name()?)?;
            for folder in place.folders(&place.name()?)? {
                if others.iter().any(|other| folder.is_same(other)) {
                    return Err(shared(&folder));
                }
            }
        }
        Ok(())
    }
}

fn shared(folder: &BlobFolder) -> Error {
    Error::of(TenantFault::SharedBlobs(folder.values.to_string()))
}

/// The number and the total size of blobs.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct BlobCount {
    pub(super) blobs: u64,
    pub(super) bytes: u64,
}

impl BlobFolder {
    /// Returns `true` if both values are the same folder of one blob store.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.store.blobs, &other.store.blobs) && self.values == other.values
    }

    /// Returns `true` if the blob's name contains the key of `row`. Index rows also contain the blob's address, but have different keys.
    pub(super) fn is_of(&self, blob: &BlobRef, row: EntityRef<'_>) -> bool {
        let [partition, row] = [row.partition_key, row.row_key].map(|text| self.store.kind.encode(text));
        self.name_in(blob.path()).is_some_and(|name| name.starts_with(&format!("{partition}/{row}/")))
    }

    /// Returns the segment of a blob's name that encodes the PartitionKey; `None` if the name has a different format.
    pub(super) fn segment_of<'b>(&self, blob: &'b str) -> Option<&'b str> {
        self.name_in(blob)?.split('/').next()
    }

    /// Returns the PartitionKey in a blob's name; `None` if the name has a different format, or contains only a hash of the PartitionKey.
    pub(super) fn partition_of(&self, blob: &str) -> Option<String> {
        self.store.kind.decode(self.segment_of(blob)?)
    }

    /// Returns the name of a blob after its partition has been renamed; `None` if the name has a different format.
    ///
    /// # Errors
    /// `InvalidInput` if the blob's content contains the partition's name.
    pub(super) fn moved(
        &self,
        blob: &str,
        (from, to): (&PartitionKey, &PartitionKey),
    ) -> Result<Option<String>> {
        if from == to {
            return Ok(Some(blob.to_owned()));
        }
        if self.store.kind.row_in.is_some() {
            return Err(Error::of(TenantFault::Bound(blob.to_owned())));
        }
        let segment = |partition_key: &PartitionKey| self.store.kind.encode(partition_key.as_str());
        let rest = self.name_in(blob).and_then(|name| name.strip_prefix(&format!("{}/", segment(from))));
        Ok(rest.map(|rest| format!("{}/{}/{rest}", self.values, segment(to))))
    }

    /// Returns the names of the tables that have a blob folder next to this one.
    pub(super) async fn tables(&self) -> Result<Vec<TableName>> {
        let parent = self.values.parent().unwrap_or_default();
        let found = self.store.blobs.list_with_delimiter(Some(&parent)).await.in_blob(&parent)?;
        let table = |folder: Path| self.table_of(folder.join("blob").as_ref());
        Ok(found.common_prefixes.into_iter().filter_map(table).collect())
    }

    /// Reads the given range of bytes from a blob. Returns `None` if the blob does not exist, or has fewer than `len` bytes.
    ///
    /// # Errors
    /// `InvalidInput` if the name is not a valid path; any error from the blob store.
    pub(super) async fn read(&self, name: &str, range: Range<u64>, len: u64) -> Result<Option<Bytes>> {
        let path = path(name)?;
        let found = if range.is_empty() {
            None
        } else {
            let options = GetOptions { range: Some(range.into()), ..GetOptions::default() };
            Some(self.store.blobs.get_opts(&path, options).await)
        };
        // A store may refuse a range that begins after the end of the blob.
        let size = match &found {
            Some(Ok(found)) => Some(found.meta.size),
            Some(Err(object_store::Error::NotFound { .. })) => None,
            Some(Err(_)) | None => self.size(&path).await?,
        };
        if size.is_none_or(|size| size < len) {
            return Ok(None);
        }
        match found {
            Some(found) => found.in_blob(&path)?.bytes().await.in_blob(&path).map(Some),
            None => Ok(Some(Bytes::new())),
        }
    }

    /// Returns the size of a blob in bytes; `None` if it does not exist.
    async fn size(&self, path: &Path) -> Result<Option<u64>> {
        match self.store.blobs.head(path).await {
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            meta => meta.in_blob(path).map(|meta| Some(meta.size)),
        }
    }

    /// Counts the blobs in the given partitions.
    pub(super) async fn count(&self, partitions: &[Partitions]) -> Result<BlobCount> {
        let mut count = BlobCount::default();
        for folder in self.folders(&self.values, partitions).await? {
            let mut listing = self.store.blobs.list(Some(&folder));
            while let Some(meta) = listing.try_next().await.in_blob(&folder)? {
                count.blobs += 1;
                count.bytes += meta.size;
            }
        }
        Ok(count)
    }

    /// Deletes the blobs in the given partitions, including blobs that no entity references. Returns the number of deleted blobs.
    pub(super) async fn erase(&self, partitions: &[Partitions]) -> Result<u64> {
        let mut erased = 0;
        // IMPORTANT: the marks are deleted first. Finding out whether a folder belongs to a partition may require the content of the folder's blobs, and marks
        // have no content.
        for folder in self.folders(&self.values, partitions).await? {
            if let Some(partition) = folder.filename() {
                self.delete_all(&self.marks.clone().join(partition)).await?;
            }
            erased += self.delete_all(&folder).await?;
        }
        for folder in self.folders(&self.marks, partitions).await? {
            self.delete_all(&folder).await?;
        }
        Ok(erased)
    }

    /// Deletes all blobs in a folder. Returns the number of deleted blobs.
    async fn delete_all(&self, folder: &Path) -> Result<u64> {
        let mut deleted = 0;
        loop {
            let mut some = Vec::new();
            let mut listing = self.store.blobs.list(Some(folder));
            while some.len() < LISTED {
                let Some(meta) = listing.try_next().await.in_blob(folder)? else { break };
                some.push(meta.location);
            }
            drop(listing);
            if some.is_empty() {
                return Ok(deleted);
            }
            for path in some {
                match self.store.blobs.delete(&path).await {
                    Err(object_store::Error::NotFound { .. }) => {}
                    deleted => deleted.in_blob(&path)?,
                }
                deleted += 1;
            }
        }
    }

    /// Returns the subfolders of `top` that belong to the given partitions.
    async fn folders(&self, top: &Path, partitions: &[Partitions]) -> Result<Vec<Path>> {
        let mut folders = Vec::new();
        for some in partitions {
            match some {
                Partitions::Is(text) => folders.push(top.clone().join(self.store.kind.encode(text))),
                Partitions::Begin(prefix) => {
                    let found = self.store.blobs.list_with_delimiter(Some(top)).await.in_blob(top)?;
                    for folder in found.common_prefixes {
                        if self.begins(&folder, prefix).await? {
                            folders.push(folder);
                        }
                    }
                }
            }
        }
        Ok(folders)
    }

    /// Returns `true` if the PartitionKey of a subfolder begins with `prefix`. If the subfolder's name contains only the beginning and a hash of the
    /// PartitionKey, and the beginning is too short to decide, reads the blobs until one contains the PartitionKey.
    ///
    /// # Errors
    /// `Corrupted` or `FormatTooNew` if none of the blobs can be read, because the folder may belong to the tenant.
    async fn begins(&self, folder: &Path, prefix: &str) -> Result<bool> {
        let segment = folder.filename().unwrap_or_default();
        let Some(beginning) = hashed_beginning(segment) else {
            return Ok(self.store.kind.decode(segment).is_some_and(|text| text.starts_with(prefix)));
        };
        if let Some(begins) = begins_with(beginning, prefix) {
            return Ok(begins);
        }
        let Some(row_in) = self.store.kind.row_in else { return Ok(false) };
        let (mut listing, mut unreadable) = (self.store.blobs.list(Some(folder)), None);
        while let Some(meta) = listing.try_next().await.in_blob(folder)? {
            let found = match self.store.blobs.get(&meta.location).await {
                Err(object_store::Error::NotFound { .. }) => continue,
                found => found.in_blob(&meta.location)?,
            };
            match row_in(&found.bytes().await.in_blob(&meta.location)?) {
                Ok((_, row)) => return Ok(row.partition_key.as_str().starts_with(prefix)),
                Err(error) => unreadable = Some(unknown_partition(&meta.location, error)),
            }
        }
        unreadable.map_or(Ok(false), Err)
    }
}

/// Returns the error for a blob whose partition cannot be determined, with the error code of `cause`.
fn unknown_partition(path: &Path, cause: Error) -> Error {
    let message = format!(
        "the partition of the blob `{path}` is unknown, so the blob may belong to the tenant; restore it, or read it with a newer program"
    );
    Error::new(cause.code(), message).with_source(cause)
}

/// Creates a writer that uploads a new blob in parts.
pub(super) fn begin(name: &str) -> Result<BlobWriter> {
    Ok(BlobWriter::new(path(name)?, PART))
}

fn path(name: &str) -> Result<Path> {
    Path::parse(name).map_err(|_| Error::of(TenantFault::UnknownBlob(name.to_owned())))
}
