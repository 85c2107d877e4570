//! The faults of writes: an entity that already exists, does not exist, or has another version.

use crate::error::{ErrorCode, Fault};
use crate::etag::{ETag, IfMatch};

/// A write whose condition does not hold.
#[derive(Debug, thiserror::Error)]
pub(super) enum WriteFault {
    #[error("the entity already exists; replace it, or use an upsert")]
    Exists,
    #[error("the entity does not exist; insert it, or use an upsert")]
    NotFound { rule: &'static str },
    #[error("the entity is now at {now}, not at {expected}; read it again and retry")]
    Changed { now: ETag, expected: IfMatch, rule: &'static str },
}

impl Fault for WriteFault {
    fn code_and_rule(&self) -> (ErrorCode, Option<&'static str>) {
        let (code, rule) = match self {
            Self::Exists => (ErrorCode::EntityAlreadyExists, "INS-1"),
            Self::NotFound { rule } => (ErrorCode::ResourceNotFound, *rule),
            Self::Changed { rule, .. } => (ErrorCode::UpdateConditionNotSatisfied, *rule),
        };
        (code, Some(rule))
    }
}
