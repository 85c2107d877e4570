//! The faults of blobs: those of their store, and contents that are not what was written.

use object_store::Error as StoreError;
use table_core::error::{ErrorCode, Fault};

/// A blob that cannot be read as it was written.
#[derive(Debug, thiserror::Error)]
pub(super) enum ReadFault {
    #[error("`{path}` is not the name of a blob")]
    Name { path: String, source: object_store::path::Error },
    #[error("blob `{blob}` is not what was written: it has {bytes} bytes")]
    Length { blob: String, bytes: u64 },
    #[error("blob `{blob}` is not what was written: it has {bytes} bytes of checksum {crc:08x}")]
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

/// A call of the store of blobs that failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum StoreFault {
    #[error("blob `{0}` is not there")]
    NotFound(String, #[source] StoreError),
    #[error("blob `{0}` has an illegal name")]
    Name(String, #[source] StoreError),
    #[error("blob `{0}` may not be used with this credential")]
    Forbidden(String, #[source] StoreError),
    #[error("blob `{0}` needs a valid credential")]
    Unauthenticated(String, #[source] StoreError),
    #[error("blob `{0}` needs what its store cannot do")]
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
