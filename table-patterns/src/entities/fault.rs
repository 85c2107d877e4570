//! Errors of writes: refused operations, failed conditions, and transactions that are too large.

use table_core::error::{ErrorCode, Fault};

/// A refused write.
#[derive(Debug, thiserror::Error)]
pub(crate) enum EntityFault {
    #[error("the transaction already writes this row; combine both changes into one operation")]
    DuplicateOperation,
    #[error("`{first}` and `{second}` write the same row; give each a different key")]
    SameRow { first: String, second: String },
    #[error("an entity's key cannot change; insert it under the new key and delete the old one")]
    KeyChanged,
    #[error("the entity was modified; read it again and retry")]
    Changed,
    #[error("entity not found; use `insert` or `insert_or_replace`")]
    NotFound,
    #[error("a step in another partition or table needs an outbox; use `entities_through(outbox)`")]
    NoOutbox,
    #[error("the write needs the stored properties, which were not read")]
    Undecided,
    #[error(
        "the transaction would have {operations} operations ({parts}); the limit is {most}, so commit a part of it first"
    )]
    Operations { operations: usize, parts: String, most: usize },
    #[error(
        "the transaction would have {bytes} bytes ({parts}); the limit is {most}, so commit a part of it first"
    )]
    Bytes { bytes: usize, parts: String, most: usize },
}

impl Fault for EntityFault {
    fn code_and_rule(&self) -> (ErrorCode, Option<&'static str>) {
        match self {
            Self::DuplicateOperation | Self::SameRow { .. } => {
                (ErrorCode::InvalidDuplicateRow, Some("EGT-4"))
            }
            Self::KeyChanged => (ErrorCode::InvalidInput, Some("UPD-6")),
            Self::Changed => (ErrorCode::UpdateConditionNotSatisfied, Some("UPD-3")),
            Self::NotFound => (ErrorCode::ResourceNotFound, Some("UPD-2")),
            Self::NoOutbox => (ErrorCode::Unsupported, Some("PAT-EC-8")),
            Self::Undecided => (ErrorCode::InternalError, None),
            Self::Operations { .. } => (ErrorCode::InvalidInput, Some("EGT-2")),
            Self::Bytes { .. } => (ErrorCode::RequestBodyTooLarge, Some("EGT-3")),
        }
    }
}
