//! Worker and sweep errors: sweeps that read too many rows, steps without a handler, and expired claims.

use table_core::{Error, Fault};

use crate::outbox::rows::ERROR_CHARS;

/// An error from a worker or a sweep.
#[derive(Debug, thiserror::Error, Fault)]
pub(super) enum WorkFault {
    #[error(
        "the sweep has read {read} entities, which exceeds its `max_rows` of {most}; increase `max_rows`"
    )]
    #[fault(InvalidInput, "DQ-5")]
    Rows { read: u64, most: u64 },
    #[error("source and target of an archive step are the same table; use two tables")]
    #[fault(InvalidInput)]
    SameTable,
    #[error(
        "the step carries a message `{name}`, for which no handler is registered with this worker; it has handlers of: {known}"
    )]
    #[fault(Unsupported, "PAT-EC-2")]
    NoHandler { name: String, known: String },
    #[error(
        "a table of the handler has a schema that its program does not know; start the newer program, then requeue the message"
    )]
    #[fault(Unsupported, "PAT-EC-4")]
    Handler(#[source] Error),
    #[error(
        "the handler wrote a unique value that belongs to another entity; change one of the entities, then requeue the message"
    )]
    #[fault(InvalidInput, "PAT-EC-4")]
    HandlerValue(#[source] Error),
    #[error(
        "the intent has no valid seal, and its step writes elsewhere or calls a handler; record it by a program that has the key of the outbox"
    )]
    #[fault(Corrupted, "PAT-EC-4")]
    NotGenuine,
    #[error(
        "the intent has a later format and no valid seal; record it by a program that has the key of the outbox, or upgrade this worker and requeue it"
    )]
    #[fault(InvalidInput, "PAT-EC-4")]
    UnsealedFormat(#[source] Error),
    #[error("the claim has expired and another worker has claimed the intent; stop working on it")]
    #[fault(PopReceiptMismatch, "QUE-21")]
    Claimed,
    #[error("failed to serialise the poison entry as JSON")]
    #[fault(InternalError)]
    Poison(#[source] serde_json::Error),
}

/// Returns the text of an error and its causes, truncated to the length that rows and poison entries can store.
pub(super) fn kept(error: &Error) -> String {
    format!("{error:?}").chars().take(ERROR_CHARS).collect()
}
