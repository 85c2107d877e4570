//! The faults of stored queues and messages.

use crate::error::{ErrorCode, Fault};
use crate::queue::{MessageId, QueueName};

/// A queue or message in an unsuitable state for an operation.
#[derive(Debug, thiserror::Error)]
pub(super) enum StoredQueueFault {
    #[error("queue `{0}` does not exist; create it first")]
    NotFound(QueueName),
    #[error("queue `{0}` is being deleted; retry later with back-off")]
    BeingDeleted(QueueName),
    #[error("message {0}: another receiver has received or updated it since; stop working on it")]
    Taken(MessageId),
    #[error("message {0}: it was deleted or has expired")]
    Gone(MessageId),
    #[error("a stored message has a damaged {0}")]
    Broken(&'static str),
}

impl Fault for StoredQueueFault {
    fn code_and_rule(&self) -> (ErrorCode, Option<&'static str>) {
        match self {
            Self::NotFound(_) => (ErrorCode::QueueNotFound, Some("QUE-3")),
            Self::BeingDeleted(_) => (ErrorCode::QueueBeingDeleted, Some("QUE-15")),
            Self::Taken(_) => (ErrorCode::PopReceiptMismatch, Some("QUE-13")),
            Self::Gone(_) => (ErrorCode::MessageNotFound, Some("QUE-13")),
            Self::Broken(_) => (ErrorCode::Corrupted, None),
        }
    }
}
