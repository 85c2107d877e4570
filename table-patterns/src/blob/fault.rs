//! Blob errors: failed requests, slow uploads, and content that differs from the uploaded content.

use object_store::Error as StoreError;
use table_core::Fault;

/// An error from reading a blob, including content that differs from the uploaded content.
#[derive(Debug, thiserror::Error, Fault)]
pub(super) enum ReadFault {
    #[error("`{path}` is not a valid blob name")]
    #[fault(EntityMismatch)]
    Name { path: String, source: object_store::path::Error },
    #[error("blob `{blob}` differs from the uploaded content: it has {bytes} bytes")]
    #[fault(Corrupted, "PAT-LARGE-2")]
    Length { blob: String, bytes: u64 },
    #[error("blob `{blob}` differs from the uploaded content: it has {bytes} bytes with checksum {crc:08x}")]
    #[fault(Corrupted, "PAT-LARGE-2")]
    Checksum { blob: String, bytes: u64, crc: u32 },
}

/// An error from uploading a blob.
#[derive(Debug, thiserror::Error, Fault)]
pub(super) enum UploadFault {
    #[error("`{folder}` is not a valid part of a blob name")]
    #[fault(InvalidInput)]
    Folder { folder: String, source: object_store::path::Error },
    #[error(
        "the upload of blob `{0}` took more than half of the grace period, and the collector could remove the blob; set a longer grace period"
    )]
    #[fault(InvalidInput, "PAT-LARGE-2")]
    Slow(String),
}

/// An error from a request to the blob store.
#[derive(Debug, thiserror::Error, Fault)]
pub(super) enum StoreFault {
    #[error("blob `{0}` does not exist")]
    #[fault(BlobNotFound)]
    NotFound(String, #[source] StoreError),
    #[error("blob `{0}` has an invalid name")]
    #[fault(InvalidInput)]
    Name(String, #[source] StoreError),
    #[error("the credential does not permit access to blob `{0}`")]
    #[fault(AuthorizationFailure)]
    Forbidden(String, #[source] StoreError),
    #[error("access to blob `{0}` needs a valid credential")]
    #[fault(AuthenticationFailed)]
    Unauthenticated(String, #[source] StoreError),
    #[error("the blob store does not support this request for blob `{0}`")]
    #[fault(Unsupported)]
    Unsupported(String, #[source] StoreError),
    #[error("blob `{0}` could not be read or written")]
    #[fault(Io)]
    Io(String, #[source] StoreError),
}

impl StoreFault {
    pub(super) fn of(path: &str, error: StoreError) -> Self {
        let fault = match &error {
            StoreError::NotFound { .. } => Self::NotFound,
            StoreError::InvalidPath { .. } => Self::Name,
            StoreError::PermissionDenied { .. } => Self::Forbidden,
            StoreError::Unauthenticated { .. } => Self::Unauthenticated,
            StoreError::NotSupported { .. } | StoreError::NotImplemented { .. } => Self::Unsupported,
            _ => Self::Io,
        };
        fault(path.to_owned(), error)
    }
}
