//! Errors of a store of blobs.

use object_store::Error as StoreError;
use table_core::error::{Error, ErrorCode, Result};

/// The error of a blob.
pub(crate) fn blob_error(path: &str, error: StoreError) -> Error {
    let (code, what) = match &error {
        StoreError::NotFound { .. } => (ErrorCode::BlobNotFound, "is not there"),
        StoreError::InvalidPath { .. } => (ErrorCode::InvalidInput, "has an illegal name"),
        StoreError::PermissionDenied { .. } => {
            (ErrorCode::AuthorizationFailure, "may not be used with this credential")
        }
        StoreError::Unauthenticated { .. } => (ErrorCode::AuthenticationFailed, "needs a valid credential"),
        StoreError::NotSupported { .. } | StoreError::NotImplemented { .. } => {
            (ErrorCode::Unsupported, "needs what its store cannot do")
        }
        _ => (ErrorCode::Io, "could not be read or written"),
    };
    Error::new(code, format!("blob `{path}` {what}: {error}")).with_source(error)
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
