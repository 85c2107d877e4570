//! Errors of parents and their parts: mismatched keys, and too many parts.

use table_core::error::{ErrorCode, Fault};

/// An invalid write of a parent or a part.
#[derive(Debug, thiserror::Error)]
pub(super) enum RelationFault {
    #[error("the parent to delete does not exist")]
    NoOwner,
    #[error(
        "the parent and its parts are {rows} rows, but a transaction deletes at most {most}; delete parts in batches first"
    )]
    TooMany { rows: usize, most: usize },
    #[error("the part's schema names another table than the parent's; a transaction writes one table")]
    OtherTable,
    #[error(
        "the part's key does not begin with its parent's key; use the same partition, and a RowKey that begins with the parent's"
    )]
    OtherKey,
}

impl Fault for RelationFault {
    fn code_and_rule(&self) -> (ErrorCode, Option<&'static str>) {
        let (code, rule) = match self {
            Self::NoOwner => (ErrorCode::ResourceNotFound, "DEL-3"),
            Self::TooMany { .. } => (ErrorCode::InvalidInput, "EGT-2"),
            Self::OtherTable | Self::OtherKey => (ErrorCode::InvalidInput, "PAT-CK-3"),
        };
        (code, Some(rule))
    }
}
