//! The faults of owners and their parts: keys that do not belong together, and too many parts.

use table_core::error::{ErrorCode, Fault};

/// An owner or a part that is refused.
#[derive(Debug, thiserror::Error)]
pub(super) enum RelationFault {
    #[error("the owner to delete is not there")]
    NoOwner,
    #[error(
        "the owner and its parts are {rows} rows, and a transaction deletes at most {most}: delete parts in batches first"
    )]
    TooMany { rows: usize, most: usize },
    #[error("the part's design names another table than the owner's: a transaction has one table")]
    OtherTable,
    #[error(
        "the part's key is not under its owner's: the same partition, and the owner's RowKey with more behind it"
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
