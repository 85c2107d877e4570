//! The location of a table's blobs in the blob store.

use bytes::Bytes;
use futures_core::Stream;
use object_store::path::Path;
use table_core::key::EntityKey;
use table_core::name::TableName;
use table_core::runtime::ticks_of;
use table_core::{Error, Result};
use uuid::Uuid;

use crate::blob::fault::UploadFault;
use crate::blob::{BlobRef, BlobStore, Upload, upload};

/// The blobs of one table: a folder with a subfolder for each partition, and a folder with the marks of orphaned blobs.
#[derive(Clone, Debug)]
pub(crate) struct BlobFolder {
    pub(crate) store: BlobStore,
    pub(crate) table: TableName,
    /// The folder that contains the blobs.
    pub(crate) values: Path,
    /// The folder that contains the marks. Each mark identifies an orphaned blob. Each kind of blob has its own folder, because a collector removes all marks
    /// for which it finds no blob.
    pub(crate) marks: Path,
}

impl BlobStore {
    /// Returns the blobs of one table.
    ///
    /// # Errors
    /// `InvalidInput` if the prefix is not a valid path.
    pub(crate) fn folder(&self, table: &TableName) -> Result<BlobFolder> {
        let folder = |parent: &str| {
            // Table names consist of letters and digits and are case-insensitive (TBL-2, TBL-4).
            let folder = format!("{}/{parent}{}/{}", self.prefix, self.kind.folder, table.folded());
            Path::parse(folder.trim_start_matches('/'))
                .map_err(|source| Error::of(UploadFault::Folder { folder, source }))
        };
        let (values, marks) = (folder("")?, folder("orphans/")?);
        Ok(BlobFolder { store: self.clone(), table: table.clone(), values, marks })
    }
}

impl BlobFolder {
    /// Uploads a new blob for a row, in parts of `part` bytes. `born` is the start time of the write, in ticks.
    ///
    /// The blob has a unique name: `indexes/lists/lastnames/=4Aones/all/0635338512000000000_864000000000_5f0c…`. The name contains the grace period of this
    /// program, so collectors with a shorter period also wait for the full period.
    ///
    /// # Errors
    /// Any error from `content` or the blob store.
    pub(crate) async fn upload(
        &self,
        key: &EntityKey,
        born: u64,
        part: usize,
        content: impl Stream<Item = Result<Bytes>> + Send,
    ) -> Result<(BlobRef, Upload)> {
        let [partition, row] =
            [key.partition_key.as_str(), key.row_key.as_str()].map(|text| self.store.kind.encode(text));
        let name = format!("{born:019}_{}_{}", ticks_of(self.store.grace), Uuid::new_v4().simple());
        let path = self.values.clone().join(partition).join(row).join(name);
        let blob = upload(self.store.blobs.as_ref(), path.clone(), part, content).await?;
        Ok((blob, Upload { path, born }))
    }

    /// Returns the name of a blob within the folder. Returns `None` if the blob is not in the folder.
    pub(crate) fn name_in<'b>(&self, blob: &'b str) -> Option<&'b str> {
        blob.strip_prefix(self.values.as_ref())?.strip_prefix('/')
    }

    /// Returns the name of the table whose folder contains the blob `name`. The folder may be this one, or the folder of another table next to it. Returns
    /// `None` for any other blob.
    pub(crate) fn table_of(&self, name: &str) -> Option<TableName> {
        let parent = self.values.parent()?;
        let (table, _) = name.strip_prefix(parent.as_ref())?.strip_prefix('/')?.split_once('/')?;
        TableName::new(table).ok().filter(|name| name.folded() == table)
    }
}
