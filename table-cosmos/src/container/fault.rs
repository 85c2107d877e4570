//! The faults of containers: one that is missing or there, and one that these options do not go with.

use azure_data_cosmos::models::{PartitionKeyKind, PartitionKeyVersion};
use table_core::error::{ErrorCode, Fault};

/// A container that cannot be used as it was asked for.
#[derive(Debug, thiserror::Error)]
pub(super) enum ContainerFault {
    #[error(
        "the container has the paths {found}, and the store was opened for {expected}: paths cannot be changed, open it with its own \
         levels or copy it into a new container"
    )]
    Paths { found: String, expected: String },
    #[error(
        "the container is of kind {kind:?} in version {version:?}, which other programs made: {expected:?} in version V2 is needed"
    )]
    Hash { kind: PartitionKeyKind, version: PartitionKeyVersion, expected: PartitionKeyKind },
    #[error("the container lets items expire, and tables keep them: turn its time to live off")]
    TimeToLive,
    #[error("there is no container of this name")]
    NoTable,
    #[error("there is no container of this name to delete")]
    NothingToDelete,
    #[error("a container of this name is there")]
    Exists,
    #[error("a page of {0} tables was requested, at most {1} are allowed")]
    Page(usize, usize),
}

impl Fault for ContainerFault {
    fn code_and_rule(&self) -> (ErrorCode, Option<&'static str>) {
        match self {
            Self::Paths { .. } | Self::TimeToLive => (ErrorCode::LayoutMismatch, Some("HPK-43")),
            // A version that is missing is the first one (WIRE-7).
            Self::Hash { .. } => (ErrorCode::LayoutMismatch, Some("EPK-9")),
            Self::NoTable => (ErrorCode::TableNotFound, Some("OPT-6")),
            Self::NothingToDelete => (ErrorCode::ResourceNotFound, Some("OPT-3")),
            Self::Exists => (ErrorCode::TableAlreadyExists, Some("OPT-2")),
            Self::Page(..) => (ErrorCode::InvalidInput, Some("TOP-2")),
        }
    }
}
