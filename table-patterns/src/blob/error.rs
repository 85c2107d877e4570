//! Converts errors from a blob store.

use object_store::Error as StoreError;
use table_core::{Error, Result};

use crate::blob::fault::StoreFault;

/// Converts the error of a failed request for the blob with this path.
pub(crate) fn blob_error(path: &str, error: StoreError) -> Error {
    Error::of(StoreFault::of(path, error))
}

/// An extension trait that converts errors in the results of a blob store.
pub(crate) trait InBlobs<T> {
    /// Converts an error from the blob store, and adds the blob's path.
    fn in_blob(self, path: impl AsRef<str>) -> Result<T>;
}

impl<T> InBlobs<T> for object_store::Result<T> {
    fn in_blob(self, path: impl AsRef<str>) -> Result<T> {
        self.map_err(|error| blob_error(path.as_ref(), error))
    }
}
