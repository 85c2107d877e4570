//! Errors of a store of blobs.

use object_store::Error as StoreError;
use table_core::error::{Error, Result};

use crate::blob::fault::StoreFault;

/// The error of a blob.
pub(crate) fn blob_error(path: &str, error: StoreError) -> Error {
    Error::of(StoreFault::of(path, error))
}

/// Says which blob it was.
pub(crate) trait InBlobs<T> {
    /// The same with our error.
    fn in_blob(self, path: impl AsRef<str>) -> Result<T>;
}

impl<T> InBlobs<T> for object_store::Result<T> {
    fn in_blob(self, path: impl AsRef<str>) -> Result<T> {
        self.map_err(|error| blob_error(path.as_ref(), error))
    }
}
