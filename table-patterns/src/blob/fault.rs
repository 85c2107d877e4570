//! Errors of blobs: failed requests, and content that differs from the uploaded content.

use object_store::Error as StoreError;
use table_core::error::{ErrorCode, Fault};

/// A blob that cannot be read, or whose content differs from the uploaded content.
#[derive(Debug, thiserror::Error)]
pub(super) enum ReadFault {
    #[error("`{path}` is not a valid blob name")]
    Name { path: String, source: object_store::path::Error },
    #[error("blob `{blob}` differs from the uploaded content: it has {bytes} bytes")]
    Length { blob: String, bytes: u64 },
    #[error("blob `{blob}` differs from the uploaded content: it has {bytes} bytes with checksum {crc:08x}")]
    Checksum { blob: String, bytes: u64, crc: u32 },
}

impl Fault for ReadFault {
    fn code_and_rule(&self) -> (ErrorCode, Option<&'static str>) {
        match self {
            Self::Name { .. } => (ErrorCode::EntityMismatch, None),
            Self::Length { .. } | Self::Checksum { .. } => (ErrorCode::Corrupted, Some("PAT-LARGE-2")),
        }
    }
}

/// A failed request of the blob store.
#[derive(Debug, thiserror::Error)]
pub(super) enum StoreFault {
    #[error("blob `{0}` does not exist")]
    NotFound(String, #[source] StoreError),
    #[error("blob `{0}` has an invalid name")]
    Name(String, #[source] StoreError),
    #[error("the credential does not permit access to blob `{0}`")]
    Forbidden(String, #[source] StoreError),
    #[error("access to blob `{0}` needs a valid credential")]
    Unauthenticated(String, #[source] StoreError),
    #[error("the blob store does not support this request for blob `{0}`")]
    Unsupported(String, #[source] StoreError),
    #[error("blob `{0}` could not be read or written")]
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

impl Fault for StoreFault {
    fn code_and_rule(&self) -> (ErrorCode, Option<&'static str>) {
        let code = match self {
            Self::NotFound(..) => ErrorCode::BlobNotFound,
            Self::Name(..) => ErrorCode::InvalidInput,
            Self::Forbidden(..) => ErrorCode::AuthorizationFailure,
            Self::Unauthenticated(..) => ErrorCode::AuthenticationFailed,
            Self::Unsupported(..) => ErrorCode::Unsupported,
            Self::Io(..) => ErrorCode::Io,
        };
        (code, None)
    }
}
