//! Errors for missing, existing and incompatible containers.

use azure_data_cosmos::models::{PartitionKeyKind, PartitionKeyVersion};
use table_core::{Fault, TableName};

/// An error for a container.
#[derive(Debug, thiserror::Error, Fault)]
pub(super) enum ContainerFault {
    #[error(
        "the container has the paths {found}, but the store expects {expected}; paths cannot change, so open it with its own \
         levels or copy it into a new container"
    )]
    #[fault(SchemaMismatch, "HPK-43")]
    Paths { found: String, expected: String },
    #[error(
        "the container has kind {kind:?} in version {version:?}, but {expected:?} in version V2 is required; copy it into a new container"
    )]
    #[fault(SchemaMismatch, "EPK-9")]
    Hash { kind: PartitionKeyKind, version: PartitionKeyVersion, expected: PartitionKeyKind },
    #[error(
        "the container was replaced by one with another number of levels during the request; read the entities, and send the request again"
    )]
    #[fault(SchemaMismatch, "HPK-43")]
    Replaced,
    #[error(
        "items of the container expire; request it by `Options::time_to_live`, or turn off the time to live of the container"
    )]
    #[fault(SchemaMismatch, "HPK-43")]
    TimeToLive,
    #[error(
        "the names of the containers `{0}` and `{1}` differ only in case; write the name of the table as one of them"
    )]
    #[fault(SchemaMismatch, "TBL-2")]
    Spellings(TableName, TableName),
    #[error("no container has this name")]
    #[fault(TableNotFound, "OPT-6")]
    NoTable,
    #[error("the database `{0}` does not exist; create it, or correct its name")]
    #[fault(InvalidInput, "OPT-6")]
    NoDatabase(String),
    #[error("no container to delete has this name")]
    #[fault(ResourceNotFound, "OPT-3")]
    NothingToDelete,
    #[error("a container with this name already exists")]
    #[fault(TableAlreadyExists, "OPT-2")]
    Exists,
    #[error("a page of {0} tables was requested, at most {1} are allowed")]
    #[fault(InvalidInput, "TOP-2")]
    Page(usize, usize),
}
