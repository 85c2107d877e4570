//! Write errors: refused operations, failed conditions, and oversized transactions.

use table_core::{EntityKey, Error, Fault};

/// An error returned when a write is refused.
#[derive(Debug, thiserror::Error, Fault)]
pub(crate) enum EntityFault {
    #[error("the transaction already writes this row; combine both changes into one operation")]
    #[fault(InvalidDuplicateRow, "EGT-4")]
    DuplicateOperation,
    #[error("`{first}` and `{second}` write the same row; give each a different key")]
    #[fault(InvalidDuplicateRow, "EGT-4")]
    SameRow { first: String, second: String },
    #[error(
        "the change would move the entity to PartitionKey '{}', RowKey '{}', but a key cannot change; insert the entity under the new key and \
         delete the old one, in one transaction if they are in one partition", .0.partition_key.as_str(), .0.row_key.as_str()
    )]
    #[fault(InvalidInput, "UPD-6")]
    KeyChanged(EntityKey),
    #[error("the entity was modified; read it again and retry")]
    #[fault(UpdateConditionNotSatisfied, "UPD-3")]
    Changed,
    #[error("entity not found; use `insert` or `insert_or_replace`")]
    #[fault(ResourceNotFound, "UPD-2")]
    NotFound,
    #[error("a step in another partition or table needs an outbox; use `entities_with_outbox(outbox)`")]
    #[fault(Unsupported, "PAT-EC-8")]
    NoOutbox,
    #[error("the store panicked during the commit of the transaction")]
    #[fault(InternalError)]
    CommitPanicked,
    #[error("the write needs the stored properties, which were not read")]
    #[fault(InternalError)]
    Undecided,
    #[error(
        "the transaction would have {operations} operations ({parts}); the limit is {most}, so commit a part of it first"
    )]
    #[fault(InvalidInput, "EGT-2")]
    Operations { operations: usize, parts: String, most: usize },
    #[error(
        "the transaction would have {bytes} bytes ({parts}); the limit is {most}, so commit a part of it first"
    )]
    #[fault(RequestBodyTooLarge, "EGT-3")]
    Bytes { bytes: usize, parts: String, most: usize },
}

/// Returns the error for a plan that still lacks stored properties after all of them have been read.
pub(crate) fn undecided() -> Error {
    Error::of(EntityFault::Undecided)
}
