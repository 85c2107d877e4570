//! Errors about messages in the work queue.

use table_core::{Error, Fault};

/// An error from sending a message to the work queue, or from reading one.
#[derive(Debug, thiserror::Error, Fault)]
pub(super) enum WorkFault {
    #[error(
        "guarded steps of an enqueued intent need a version; set one by `Intent::version`, use `unguarded`, or \
         record it in the transaction of a change"
    )]
    #[fault(InvalidInput, "PAT-EC-8")]
    NoVersion,
    #[error(
        "the intent takes {bytes} bytes as JSON, but a message holds at most {most}; record it as a row of an outbox"
    )]
    #[fault(RequestBodyTooLarge, "QUE-6")]
    TooLarge { bytes: usize, most: usize },
    #[error(
        "the message of the intent takes {bytes} bytes, because JSON in a message is escaped, but at most {most} leave space for an error; record \
         the intent as a row of an outbox"
    )]
    #[fault(RequestBodyTooLarge, "QUE-6")]
    LargeMessage { bytes: usize, most: usize },
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
