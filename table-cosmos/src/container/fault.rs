//! Faults of containers: missing, existing, or incompatible with the options.

use azure_data_cosmos::models::{PartitionKeyKind, PartitionKeyVersion};
use table_core::error::{ErrorCode, Fault};

/// A fault of a container.
#[derive(Debug, thiserror::Error)]
pub(super) enum ContainerFault {
    #[error(
        "the container has the paths {found}, but the store expects {expected}; paths cannot change, so open it with its own \
         levels or copy it into a new container"
    )]
    Paths { found: String, expected: String },
    #[error(
        "the container has kind {kind:?} in version {version:?}, but {expected:?} in version V2 is required; copy it into a new container"
    )]
    Hash { kind: PartitionKeyKind, version: PartitionKeyVersion, expected: PartitionKeyKind },
    #[error("items of the container expire, but entities must not; turn off its time to live")]
    TimeToLive,
    #[error("no container has this name")]
    NoTable,
    #[error("the database `{0}` does not exist; create it, or correct its name")]
    NoDatabase(String),
    #[error("no container to delete has this name")]
    NothingToDelete,
    #[error("a container with this name already exists")]
    Exists,
    #[error("a page of {0} tables was requested, at most {1} are allowed")]
    Page(usize, usize),
}

impl Fault for ContainerFault {
    fn code_and_rule(&self) -> (ErrorCode, Option<&'static str>) {
        match self {
            Self::Paths { .. } | Self::TimeToLive => (ErrorCode::LayoutMismatch, Some("HPK-43")),
            // A missing version means version 1 (WIRE-7).
            Self::Hash { .. } => (ErrorCode::LayoutMismatch, Some("EPK-9")),
            // Not a missing table, which a caller may create, and not a missing entity.
            Self::NoDatabase(_) => (ErrorCode::InvalidInput, Some("OPT-6")),
            Self::NoTable => (ErrorCode::TableNotFound, Some("OPT-6")),
            Self::NothingToDelete => (ErrorCode::ResourceNotFound, Some("OPT-3")),
            Self::Exists => (ErrorCode::TableAlreadyExists, Some("OPT-2")),
            Self::Page(..) => (ErrorCode::InvalidInput, Some("TOP-2")),
        }
    }
}
