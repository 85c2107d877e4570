//! The location of a table's blobs in the blob store.

use std::sync::Arc;

use object_store::ObjectStore;
use object_store::path::Path;
use table_core::Result;

/// The blobs of one table: a folder with a subfolder for each partition, and a folder of marks.
#[derive(Clone)]
pub(crate) struct BlobFolder {
    pub(crate) blobs: Arc<dyn ObjectStore>,
    /// The folder that contains the blobs.
    pub(crate) values: Path,
    /// The folder that contains the marks. Each mark identifies an orphaned blob.
    pub(crate) marks: Path,
    /// Encodes a PartitionKey as a segment of a blob name.
    pub(crate) encode: fn(&str) -> String,
    pub(crate) decode: fn(&str) -> Option<String>,
    /// Returns the PartitionKey that the content of a blob contains; `None` if this kind of blob contains none. For a blob whose name contains only a hash
    /// of the PartitionKey.
    pub(crate) partition_in: fn(&[u8]) -> Result<Option<String>>,
    /// `true` if the content of each blob contains the name of its partition.
    pub(crate) is_bound: bool,
}
