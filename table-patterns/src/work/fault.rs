//! Errors of work: sweeps that read too much, steps without a handler, and expired claims.

use table_core::error::{Error, ErrorCode, Fault};

/// Work that cannot be done.
#[derive(Debug, thiserror::Error)]
pub(super) enum WorkFault {
    #[error(
        "the sweep has read {read} entities, which exceeds its `max_rows` of {most}; increase `max_rows`"
    )]
    Rows { read: u64, most: u64 },
    #[error("source and target of an archive step are the same table; use two tables")]
    SameTable,
    #[error(
        "the step carries a message `{name}`, for which no handler is registered with this worker; it has handlers of: {known}"
    )]
    NoHandler { name: String, known: String },
    #[error(
        "a table of the handler has a schema that its program does not know; start the newer program, then requeue the message"
    )]
    Handler(#[source] Error),
    #[error(
        "the intent has no valid seal, and its step writes elsewhere or calls a handler; record it by a program that has the key of the outbox"
    )]
    NotGenuine,
    #[error("the claim has expired and another worker has claimed the intent; stop working on it")]
    Claimed,
    #[error("failed to serialise the poison entry as JSON")]
    Poison(#[source] serde_json::Error),
}

impl Fault for WorkFault {
    fn code_and_rule(&self) -> (ErrorCode, Option<&'static str>) {
        match self {
            Self::Rows { .. } => (ErrorCode::InvalidInput, Some("DQ-5")),
            Self::SameTable => (ErrorCode::InvalidInput, None),
            Self::Poison(_) => (ErrorCode::InternalError, None),
            Self::NoHandler { .. } => (ErrorCode::Unsupported, Some("PAT-EC-2")),
            Self::Handler(_) => (ErrorCode::Unsupported, Some("PAT-EC-4")),
            Self::NotGenuine => (ErrorCode::Corrupted, Some("PAT-EC-4")),
            Self::Claimed => (ErrorCode::PopReceiptMismatch, Some("QUE-21")),
        }
    }
}
