//! The faults of copies: keys that change, references that lead nowhere, and relations that are not known.

use table_core::error::{ErrorCode, Fault};
use table_core::key::EntityKey;
use table_core::name::TableName;

/// A source or a holder that cannot be written or read.
#[derive(Debug, thiserror::Error)]
pub(super) enum CopyFault {
    #[error("a relation changes the key of its holder: only copied properties may change")]
    CopiedKey,
    #[error("a holder cannot be its own source: refer to another entity")]
    OwnSource,
    #[error("the holder refers to a source that is not there: insert it first, or take the reference out")]
    NoSource,
    #[error(
        "{holder} of the table `{table}` refers to it by the relation `{relation}`: give that another source first, or none"
    )]
    Referred { holder: EntityKey, table: TableName, relation: &'static str },
    #[error("`clear` of the relation `{0}` leaves the reference: take it out, too")]
    Cleared(&'static str),
    #[error(
        "a holder has copies by the relation `{0}`, which this handle does not know: register it with `gives`"
    )]
    UnknownRelation(String),
    #[error("the RowKey of a source has at most {0} UTF-16 code units: shorten it, or copy nothing from it")]
    LongSource(usize),
    #[error("the row is not a reference to a holder of copies")]
    Reference,
}

impl Fault for CopyFault {
    fn code_and_rule(&self) -> (ErrorCode, Option<&'static str>) {
        match self {
            Self::CopiedKey => (ErrorCode::InvalidInput, Some("UPD-6")),
            Self::OwnSource | Self::Referred { .. } | Self::Cleared(_) => {
                (ErrorCode::InvalidInput, Some("PAT-DEN-2"))
            }
            Self::NoSource => (ErrorCode::ResourceNotFound, Some("PAT-DEN-2")),
            Self::UnknownRelation(_) => (ErrorCode::Unsupported, Some("PAT-DEN-2")),
            Self::LongSource(_) => (ErrorCode::PropertyValueTooLarge, Some("KEY-8")),
            Self::Reference => (ErrorCode::Corrupted, None),
        }
    }
}
