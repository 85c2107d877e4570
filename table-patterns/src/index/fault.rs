//! Index errors: refused writes, indexes that are not ready, and invalid records of remote changes.

use table_core::Fault;
use table_core::key::EntityKey;

/// The source of an error with the code [`UniqueViolation`](table_core::ErrorCode::UniqueViolation).
///
/// ```
/// use std::error::Error;
/// use table_core::key::EntityKey;
/// use table_patterns::index::UniqueViolation;
///
/// /// Returns the entity that has the value, for the user.
/// fn owner(error: &table_core::Error) -> Option<&EntityKey> {
///     Some(&error.source()?.downcast_ref::<UniqueViolation>()?.owner)
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the value in unique index `{index}` belongs to {owner}")]
pub struct UniqueViolation {
    /// The name of the index.
    pub index: &'static str,
    /// The key of the entity that already has the value.
    pub owner: EntityKey,
}

/// An error returned when a write, a query or a change of an index state is refused.
#[derive(Debug, thiserror::Error, Fault)]
pub(crate) enum IndexFault {
    #[error(
        "unique index violation: another entity already has this value; choose another value or change that entity first"
    )]
    #[fault(UniqueViolation, "PAT-INTRA-5")]
    Taken(#[source] UniqueViolation),
    #[error(
        "backfill of unique index `{index}` failed: {owner} has the same value as another entity; change one of them and run the backfill \
         again"
    )]
    #[fault(UniqueViolation, "PAT-INTRA-5")]
    Shared { index: &'static str, owner: String },
    #[error(
        "the PartitionKey begins like the partitions of index `{index}`, whose rows have keys of the same form, so scans could not tell the entity from \
         them; choose a value that begins differently, or another literal for the index"
    )]
    #[fault(InvalidInput, "PAT-HET-2")]
    Hidden { index: &'static str },
    #[error(
        "the row {at} exists and is not an entry of index `{index}`, so the entry cannot be written; choose another value, delete the row, or give the keys \
         of the index another literal"
    )]
    #[fault(EntityMismatch, "PAT-HET-2")]
    Occupied { index: &'static str, at: String },
    #[error(
        "the value of `{field}` begins with U+FFFC, and so would the key of the entry in index `{index}`; keys that begin with it are reserved for patterns; \
         choose another value, or begin the key of the index with a literal"
    )]
    #[fault(OutOfRangeInput, "PAT-EC-8")]
    Reserved { index: &'static str, field: &'static str },
    #[error(
        "the RowKey of the entry in index `{index}` is too long: entries in another partition or table have at most {most} UTF-16 code units; shorten the value, \
         or declare a hash of it as the key part"
    )]
    #[fault(PropertyValueTooLarge, "KEY-8")]
    LongKey { index: &'static str, most: usize },
    #[error(
        "the table has no stored schema, so the state of its indexes is unknown; open it first with \
         `create_if_missing`"
    )]
    #[fault(IndexNotReady)]
    NoDesign,
    #[error(
        "the stored schema lacks index `{0}`, so other programs write entities without entries; store the schema of this program with \
         `create_if_missing`, or with `accept_schema` if another schema was accepted after it"
    )]
    #[fault(IndexNotReady)]
    NotStored(String),
    #[error(
        "the stored schema declares index `{0}` differently; run the backfill in the release whose schema is stored, or store the schema of this program \
         with `create_if_missing`, or with `accept_schema` if another schema was accepted after it"
    )]
    #[fault(SchemaMismatch)]
    DeclaredDifferently(String),
    #[error(
        "the stored schema declares index `{0}` differently, so queries would miss entities or properties; store the schema of this program with \
         `create_if_missing`, or with `accept_schema` if another schema was accepted after it, and run the backfill"
    )]
    #[fault(IndexNotReady)]
    StoredDifferently(String),
    #[error("another run began a new pass over the rows of index `{0}`; run the backfill again")]
    #[fault(SchemaMismatch)]
    OtherPass(String),
    #[error(
        "index `{0}` is announced, and older programs may write entities without entries; replace these programs, and run its backfill until \
         the report has no `retry_after`"
    )]
    #[fault(IndexNotReady)]
    Announced(String),
    #[error("index `{0}` is building, and queries would miss entities; run its backfill to the end")]
    #[fault(IndexNotReady)]
    Building(String),
    #[error(
        "the record describes a change in another partition or table, and was not written by a program of this outbox"
    )]
    #[fault(Corrupted, "PAT-EC-4")]
    OtherSource,
    #[error("`{text}` is not a valid index change record for `{entity}`")]
    #[fault(InvalidInput)]
    NotAChange { text: String, entity: &'static str },
    #[error(
        "the change belongs to an index or a relation that this program does not know; open `{0}`, or leave the change to a program that knows it"
    )]
    #[fault(SchemaMismatch)]
    Unknown(&'static str),
    #[error(
        "stale read: the store returned a version of the entity from before the recorded change; give workers a \
         store that reads from the primary"
    )]
    #[fault(UpdateConditionNotSatisfied, "PAT-INTER-3")]
    Behind,
    #[error(
        "`{0}` declares no relation, but the change requires settling copies; it was recorded by another version of the program"
    )]
    #[fault(Unsupported, "PAT-DEN-2")]
    NoRelation(&'static str),
    #[error(
        "index `{owner}` already has entries under these keys, and `{index}` would overwrite them; give one of them another table, or keys \
         that begin with another literal"
    )]
    #[fault(SchemaMismatch, "PAT-INTER-3")]
    Claimed { owner: String, index: String },
    #[error("the claims on the keys of the table cannot be read")]
    #[fault(Corrupted)]
    Owners(#[source] Option<serde_json::Error>),
    #[error("`top` must be at least 1")]
    #[fault(InvalidInput)]
    EmptyPage,
}
