//! A blob that is imported in parts.

use crate::blob::{BlobFolder, BlobWriter};

/// A blob whose last part has not been imported yet.
pub(super) struct OpenBlob {
    pub(super) name: String,
    pub(super) folder: BlobFolder,
    pub(super) writer: BlobWriter,
}
