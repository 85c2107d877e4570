//! Outbox errors: invalid intents, and recorded rows that cannot be read.

use table_core::{Error, Fault};

/// An error from recording or reading an intent or a message.
#[derive(Debug, thiserror::Error, Fault)]
pub(crate) enum OutboxFault {
    #[error("the text is not a message `{name}` of version {version}")]
    #[fault(Corrupted, "PAT-EC-4")]
    Message { name: &'static str, version: u32, source: serde_json::Error },
    #[error("the text cannot be decoded as message `{name}` of version {version}")]
    #[fault(Corrupted, "PAT-EC-4")]
    Undecodable { name: &'static str, version: u32, source: Error },
    #[error("failed to serialise message `{name}` as JSON")]
    #[fault(InvalidInput)]
    Unwritable { name: &'static str, source: serde_json::Error },
    #[error("message `{name}` has version {version}, but this program supports {known}; update the program")]
    #[fault(FormatTooNew, "PAT-EC-2")]
    NewerMessage { name: &'static str, version: u32, known: u32 },
    #[error("failed to serialise the intent as JSON")]
    #[fault(InternalError)]
    UnwritableIntent(#[source] serde_json::Error),
    #[error("the text is not a valid intent")]
    #[fault(Corrupted, "PAT-EC-4")]
    Intent(#[source] serde_json::Error),
    #[error(
        "`sealed_by` needs at least one key, and each key needs at least {0} bytes; set keys that nobody can guess"
    )]
    #[fault(InvalidInput, "PAT-EC-4")]
    SealKeys(usize),
    #[error("the intent contains an invalid table name or key")]
    #[fault(Corrupted, "PAT-EC-4")]
    Name(#[source] Error),
    #[error("the row is not of an outbox")]
    #[fault(Corrupted)]
    OtherRow,
    #[error("the intent is not UTF-8")]
    #[fault(Corrupted, "PAT-EC-4")]
    Text(#[source] std::str::Utf8Error),
    #[error("the intent has version {version}, but this program supports {known}; update the program")]
    #[fault(FormatTooNew)]
    NewerIntent { version: u32, known: u32 },
    #[error("a row of the intent is not valid base64")]
    #[fault(Corrupted, "PAT-EC-4")]
    Row(#[source] base64::DecodeError),
    #[error("the row of the partition registry names no table; delete it")]
    #[fault(Corrupted)]
    Registry,
    #[error(
        "the store can neither represent a row of the partition registry nor return its key; delete the row with another program"
    )]
    #[fault(EntityMismatch)]
    OmittedRegistry,
    #[error("the version of message `{0}` is 0; set `VERSION` to 1 or more")]
    #[fault(InvalidInput)]
    NoVersion(&'static str),
    #[error("the intent has no steps; add at least one")]
    #[fault(InvalidInput, "PAT-EC-8")]
    Empty,
    #[error("two guarded steps of the intent have the same target; combine them into one")]
    #[fault(InvalidInput, "PAT-EC-2")]
    SameTarget,
    #[error(
        "the RowKey of a guarded target has at most {0} UTF-16 code units; shorten it or use `unguarded`"
    )]
    #[fault(PropertyValueTooLarge, "KEY-8")]
    TargetKey(usize),
    #[error(
        "the intent takes {bytes} bytes as JSON, but a row holds at most {most}; split its steps into several intents"
    )]
    #[fault(EntityTooLarge, "SIZE-1")]
    TooLarge { bytes: usize, most: usize },
}
