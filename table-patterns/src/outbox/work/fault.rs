//! The faults of messages of the work queue.

use table_core::error::{Error, ErrorCode, Fault};

/// A message of the work queue that cannot be sent or read.
#[derive(Debug, thiserror::Error)]
pub(super) enum WorkFault {
    #[error(
        "an intent that is put on the queue by itself has no version to guard its steps by: give it one, take the guards off, or \
         record it in the transaction of a change"
    )]
    NoVersion,
    #[error(
        "the intent has {bytes} bytes as JSON, and a message holds {most}: record it as a row of an outbox"
    )]
    TooLarge { bytes: usize, most: usize },
    #[error("the message has no JSON text")]
    Unwritable(#[source] serde_json::Error),
    #[error("the message names no work")]
    Unreadable(#[source] serde_json::Error),
    #[error("the message has version {0}; this program knows 1: update it")]
    TooNew(u32),
    #[error("the message names a place that cannot exist")]
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
