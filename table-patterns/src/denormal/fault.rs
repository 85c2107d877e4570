//! Errors of copies: changed keys, dangling references, and unknown relations.

use table_core::error::{ErrorCode, Fault};
use table_core::key::EntityKey;
use table_core::name::TableName;

/// A source or a holder that cannot be written or read.
#[derive(Debug, thiserror::Error)]
pub(super) enum CopyFault {
    #[error("a relation changed the key of its holder; it may set copied properties only")]
    CopiedKey,
    #[error("an entity cannot be its own source; refer to another entity")]
    OwnSource,
    #[error(
        "the entity refers to a source that does not exist; insert the source first or remove the reference"
    )]
    NoSource,
    #[error(
        "{holder} in table `{table}` refers to this entity by relation `{relation}`; change or remove that reference first"
    )]
    Referred { holder: EntityKey, table: TableName, relation: &'static str },
    #[error("`clear` of relation `{0}` did not remove the reference; remove it, too")]
    Cleared(&'static str),
    #[error(
        "a holder has copies by relation `{0}`, which this handle does not know; declare the relation on the source by `copied_by`"
    )]
    UnknownRelation(String),
    #[error("the RowKey of a source has at most {0} UTF-16 code units; shorten it or remove the relation")]
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
