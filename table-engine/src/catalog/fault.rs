//! Errors of the catalog: a table already exists, does not exist, or is being deleted.

use table_store::Fault;
use table_store::name::TableName;

/// An error from the catalog, such as a missing table.
#[derive(Debug, thiserror::Error, Fault)]
pub(super) enum CatalogFault {
    #[error("the table does not exist; create it first")]
    #[fault(TableNotFound, "OPT-6")]
    NotFound,
    #[error("the table is being deleted; retry later with back-off")]
    #[fault(TableBeingDeleted, "OPT-4")]
    BeingDeleted,
    #[error("the table already exists as `{0}`")]
    #[fault(TableAlreadyExists, "OPT-2")]
    Exists(TableName),
    #[error("the table does not exist")]
    #[fault(ResourceNotFound, "OPT-3")]
    NothingToDrop,
    #[error("the engine has no table ids left; copy the tables into a new folder")]
    #[fault(InternalError)]
    NoIds,
}
