//! The blob store for the values or the lists of all tables: the names of blobs, uploads, and the grace period for unreferenced blobs.

use std::sync::Arc;
use std::time::Duration;

use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};
use table_core::key::EntityKey;
use table_core::name::TableName;
use table_core::runtime::ticks_of;
use table_core::{Error, Result};

use crate::blob::fault::UploadFault;
use crate::blob::name::{encode, encode_caseless, unescape};

/// The default grace period.
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// A kind of content, which has its own blobs.
#[derive(Debug)]
pub(crate) struct BlobKind {
    /// The name of the folder with the blobs.
    pub(crate) folder: &'static str,
    /// Reads the row that refers to a blob from the blob's content. `None` if the content does not contain it. The names of such blobs contain complete keys.
    /// In other names, a hash replaces the end of a long key.
    pub(crate) row_in: Option<RowIn>,
}

/// A function that reads the table and the key of a row from the content of a blob.
pub(crate) type RowIn = fn(&[u8]) -> Result<(TableName, EntityKey)>;

impl BlobKind {
    /// Encodes part of a key as a segment of a blob name.
    pub(crate) fn encode(&self, text: &str) -> String {
        if self.row_in.is_some() { encode_caseless(text) } else { encode(text) }
    }

    /// Decodes a segment. Returns `None` if it is truncated, or if [`encode`](Self::encode) cannot have produced it.
    pub(crate) fn decode(&self, segment: &str) -> Option<String> {
        unescape(segment).filter(|text| self.encode(text) == segment)
    }
}

/// The blobs of one kind in a blob store. Their names begin with the same prefix.
#[derive(Clone, Debug)]
pub(crate) struct BlobStore {
    pub(crate) blobs: Arc<dyn ObjectStore>,
    pub(crate) kind: &'static BlobKind,
    pub(super) prefix: String,
    /// The time for which a blob is kept after its last reference has been removed.
    pub(super) grace: Duration,
}

/// A blob that has been uploaded. No entity refers to it yet.
#[derive(Debug)]
pub(crate) struct Upload {
    pub(super) path: Path,
    /// The time, in ticks, at which the upload started.
    pub(super) born: u64,
}

impl BlobStore {
    /// Creates the configuration, with a grace period of one day.
    pub(crate) fn new(kind: &'static BlobKind, blobs: Arc<dyn ObjectStore>, prefix: &str) -> Self {
        Self { blobs, kind, prefix: prefix.trim_matches('/').to_owned(), grace: DAY }
    }

    /// Sets the grace period.
    pub(crate) fn with_grace(self, grace: Duration) -> Self {
        Self { grace, ..self }
    }

    /// Checks the duration of an upload. If it took too long, the collector could remove the blob before an entity refers to it.
    ///
    /// # Errors
    /// `InvalidInput` if the upload took more than half of the grace period.
    pub(crate) fn check_age(&self, upload: &Upload, now: u64) -> Result<()> {
        if now.saturating_sub(upload.born) <= ticks_of(self.grace) / 2 {
            return Ok(());
        }
        Err(Error::of(UploadFault::Slow(upload.path.to_string())))
    }

    /// Removes an uploaded blob to which no entity refers. If this fails, the collector removes the orphaned blob later.
    pub(crate) async fn discard(&self, upload: &Upload) {
        let _ = self.blobs.delete(&upload.path).await;
    }
}
