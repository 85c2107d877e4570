//! The faults of the catalog: a table that already exists, does not exist, or is being deleted.

use crate::error::{ErrorCode, Fault};
use crate::name::TableName;

/// A table in an unsuitable state for a request.
#[derive(Debug, thiserror::Error)]
pub(super) enum CatalogFault {
    #[error("the table does not exist; create it first")]
    NotFound,
    #[error("the table is being deleted; retry later with back-off")]
    BeingDeleted,
    #[error("the table already exists as `{0}`")]
    Exists(TableName),
    #[error("the table does not exist")]
    NothingToDrop,
    #[error("the engine has no table ids left; copy the tables into a new folder")]
    NoIds,
}

impl Fault for CatalogFault {
    fn code_and_rule(&self) -> (ErrorCode, Option<&'static str>) {
        match self {
            Self::NotFound => (ErrorCode::TableNotFound, Some("OPT-6")),
            Self::BeingDeleted => (ErrorCode::TableBeingDeleted, Some("OPT-4")),
            Self::Exists(_) => (ErrorCode::TableAlreadyExists, Some("OPT-2")),
            Self::NothingToDrop => (ErrorCode::ResourceNotFound, Some("OPT-3")),
            Self::NoIds => (ErrorCode::InternalError, None),
        }
    }
}
