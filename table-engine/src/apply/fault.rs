//! Write errors: an entity already exists, does not exist, or has a different version.

use table_store::Fault;
use table_store::etag::{ETag, IfMatch};

/// An error that prevents a write from being applied.
#[derive(Debug, thiserror::Error, Fault)]
pub(super) enum WriteFault {
    #[error("the entity already exists; replace it, or use an upsert")]
    #[fault(EntityAlreadyExists, "INS-1")]
    Exists,
    #[error("the entity exists, but the transaction requires that it does not")]
    #[fault(EntityAlreadyExists, "ENG-21")]
    Present,
    #[error("the entity does not exist; insert it, or use an upsert")]
    #[fault(ResourceNotFound, rule)]
    NotFound { rule: &'static str },
    #[error("the entity is now at {now}, not at {expected}; read it again and retry")]
    #[fault(UpdateConditionNotSatisfied, rule)]
    Changed { now: ETag, expected: IfMatch, rule: &'static str },
    #[error("the rows that the transaction writes have more than {most} bytes; split it")]
    #[fault(RequestBodyTooLarge, "EGT-3")]
    TooLarge { most: u64 },
}
