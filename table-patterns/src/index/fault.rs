//! The faults of indexes: refused writes, indexes that are not ready, and changes that cannot be read or recorded.

use table_core::error::{ErrorCode, Fault};
use table_core::key::EntityKey;

/// The source of an error of the code [`UniqueViolation`](ErrorCode::UniqueViolation).
///
/// ```
/// use std::error::Error;
/// use table_core::key::EntityKey;
/// use table_patterns::index::UniqueViolation;
///
/// /// The entity that has the value, to be shown to the user.
/// fn owner(error: &table_core::Error) -> Option<&EntityKey> {
///     Some(&error.source()?.downcast_ref::<UniqueViolation>()?.owner)
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the value in the unique index `{index}` is that of {owner}")]
pub struct UniqueViolation {
    /// The name of the index.
    pub index: &'static str,
    /// The key of the entity that has the value.
    pub owner: EntityKey,
}

/// A write, a query or a change of indexed entities that is refused.
#[derive(Debug, thiserror::Error)]
pub(crate) enum IndexFault {
    #[error("another entity has the value: choose another value, or change that entity first")]
    Taken(#[source] UniqueViolation),
    #[error(
        "the index `{index}` is unique, and {owner} has a value that another entity has: change one of them, then run the backfill \
         again"
    )]
    Shared { index: &'static str, owner: String },
    #[error(
        "no design is stored for the table, so that it is not known whether its indexes are whole: open it first, with \
         `create_if_missing`"
    )]
    NoDesign,
    #[error(
        "the index `{0}` is not known to be whole: open the table with `create_if_missing`, and once a backfill is done ask for its \
         `states`"
    )]
    NotKnown(String),
    #[error("the index `{0}` is disabled: enable it, which builds it anew")]
    Disabled(String),
    #[error("the index `{0}` is being built and would miss entities: finish its backfill first")]
    Building(String),
    #[error(
        "the record is of a change in another partition or table; it was not written by a program of this outbox"
    )]
    OtherSource,
    #[error("`{text}` is not a change of an index of `{entity}`")]
    NotAChange { text: String, entity: &'static str },
    #[error(
        "the change is of an index that this program does not know: open `{0}`, or leave it to the program that does"
    )]
    UnknownIndex(&'static str),
    #[error(
        "the store gave the entity as it was before a change that is to be settled, and no later change is known: give workers a \
         store that reads from the primary"
    )]
    Behind,
    #[error(
        "`{0}` declares no relation, and this change leaves copies to be settled: a program of another version recorded it"
    )]
    NoRelation(&'static str),
    #[error("a page of a list has at least one key: `top` is 0")]
    EmptyPage,
}

impl Fault for IndexFault {
    fn code_and_rule(&self) -> (ErrorCode, Option<&'static str>) {
        match self {
            Self::Taken(_) | Self::Shared { .. } => (ErrorCode::UniqueViolation, Some("PAT-INTRA-5")),
            Self::NoDesign | Self::NotKnown(_) | Self::Disabled(_) | Self::Building(_) => {
                (ErrorCode::IndexNotReady, None)
            }
            Self::NotAChange { .. } | Self::EmptyPage => (ErrorCode::InvalidInput, None),
            Self::OtherSource => (ErrorCode::Corrupted, Some("PAT-EC-4")),
            Self::UnknownIndex(_) => (ErrorCode::LayoutMismatch, None),
            Self::Behind => (ErrorCode::UpdateConditionNotSatisfied, Some("PAT-INTER-3")),
            Self::NoRelation(_) => (ErrorCode::Unsupported, Some("PAT-DEN-2")),
        }
    }
}
