//! Errors of messages of the work queue.

use table_core::error::{Error, ErrorCode, Fault};

/// A message of the work queue that cannot be sent or read.
#[derive(Debug, thiserror::Error)]
pub(super) enum WorkFault {
    #[error(
        "guarded steps of an enqueued intent need a version; set one by `Intent::version`, use `unguarded`, or \
         record it in the transaction of a change"
    )]
    NoVersion,
    #[error(
        "the intent has {bytes} bytes as JSON, but a message holds {most}; record it as a row of an outbox"
    )]
    TooLarge { bytes: usize, most: usize },
    #[error("failed to serialise the message as JSON")]
    Unwritable(#[source] serde_json::Error),
    #[error("the message does not describe any work")]
    Unreadable(#[source] serde_json::Error),
    #[error("the message has version {0}, but this program supports 1; update the program")]
    TooNew(u32),
    #[error("the message contains an invalid table, partition or row name")]
    Place(#[source] Error),
}

impl Fault for WorkFault {
    fn code_and_rule(&self) -> (ErrorCode, Option<&'static str>) {
        match self {
            Self::NoVersion => (ErrorCode::InvalidInput, Some("PAT-EC-8")),
            Self::TooLarge { .. } => (ErrorCode::RequestBodyTooLarge, Some("QUE-6")),
            Self::Unwritable(_) => (ErrorCode::InternalError, None),
            Self::Unreadable(_) | Self::Place(_) => (ErrorCode::Corrupted, None),
            Self::TooNew(_) => (ErrorCode::FormatTooNew, None),
        }
    }
}
