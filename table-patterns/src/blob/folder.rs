//! The folder that contains the blobs of a table.

use std::sync::Arc;

use object_store::ObjectStore;
use object_store::path::Path;

/// The blobs of one table, below a folder with a subfolder for each partition.
#[derive(Clone)]
pub(crate) struct BlobFolder {
    pub(crate) blobs: Arc<dyn ObjectStore>,
    /// The folder of the blobs.
    pub(crate) values: Path,
    /// The folder of the marks that identify orphans.
    pub(crate) marks: Path,
    /// Encodes a PartitionKey as a segment of a name.
    pub(crate) encode: fn(&str) -> String,
    pub(crate) decode: fn(&str) -> Option<String>,
    /// `true` if the content of a blob names its partition.
    pub(crate) is_bound: bool,
}
