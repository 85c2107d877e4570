//! Errors about stored queues and messages.

use table_store::Fault;
use table_store::queue::{MessageId, QueueName};

/// An error from an operation on a stored queue or message.
#[derive(Debug, thiserror::Error, Fault)]
pub(super) enum StoredQueueFault {
    #[error("queue `{0}` does not exist; create it first")]
    #[fault(QueueNotFound, "QUE-3")]
    NotFound(QueueName),
    #[error("queue `{0}` is being deleted; retry later with back-off")]
    #[fault(QueueBeingDeleted, "QUE-15")]
    BeingDeleted(QueueName),
    #[error("message {0}: another receiver has received or updated it since; stop working on it")]
    #[fault(PopReceiptMismatch, "QUE-13")]
    Taken(MessageId),
    #[error("message {0}: it was deleted or has expired")]
    #[fault(MessageNotFound, "QUE-13")]
    Gone(MessageId),
    #[error("a stored message has a damaged {0}")]
    #[fault(Corrupted)]
    Broken(&'static str),
}
