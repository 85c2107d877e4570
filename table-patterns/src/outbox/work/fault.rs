//! Errors about messages in the work queue.

use table_core::{Error, Fault};

/// An error from writing a message of the work queue, or from reading one.
#[derive(Debug, thiserror::Error, Fault)]
pub(super) enum WorkFault {
    #[error("failed to serialise the message as JSON")]
    #[fault(InternalError)]
    Unwritable(#[source] serde_json::Error),
    #[error("the message does not describe any work")]
    #[fault(Corrupted)]
    Unreadable(#[source] serde_json::Error),
    #[error("the message has version {0}, but this program supports 1; update the program")]
    #[fault(FormatTooNew)]
    TooNew(u32),
    #[error("the message refers to a row that is not of an outbox; discard it")]
    #[fault(Corrupted)]
    OtherRow,
    #[error("the message contains an invalid table, partition or row name")]
    #[fault(Corrupted)]
    Place(#[source] Error),
}
