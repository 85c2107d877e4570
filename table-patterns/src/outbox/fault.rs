//! Errors of outboxes: invalid intents, and recorded texts that cannot be read.

use table_core::error::{ErrorCode, Fault};

/// An intent or a message that cannot be recorded or read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OutboxFault {
    #[error("the text is not a message `{name}` of version {version}")]
    Message { name: &'static str, version: u32, source: serde_json::Error },
    #[error("failed to serialise message `{name}` as JSON")]
    Unwritable { name: &'static str, source: serde_json::Error },
    #[error("message `{name}` has version {version}, but this program supports {known}; update the program")]
    NewerMessage { name: &'static str, version: u32, known: u32 },
    #[error("failed to serialise the intent as JSON")]
    UnwritableIntent(#[source] serde_json::Error),
    #[error("the text is not a valid intent")]
    Intent(#[source] serde_json::Error),
    #[error("the intent is not UTF-8")]
    Text(#[source] std::str::Utf8Error),
    #[error("the intent has version {version}, but this program supports {known}; update the program")]
    NewerIntent { version: u32, known: u32 },
    #[error("a row of the intent is not valid base64")]
    Row(#[source] base64::DecodeError),
    #[error("the row of the partition registry names no table; delete it")]
    Registry,
    #[error("the intent has no steps; add at least one")]
    Empty,
    #[error("two guarded steps of the intent have the same target; combine them into one")]
    SameTarget,
    #[error(
        "the RowKey of a guarded target has at most {0} UTF-16 code units; shorten it or use `unguarded`"
    )]
    TargetKey(usize),
    #[error(
        "the intent has {bytes} bytes as JSON, but one row holds {most}; split its steps into several intents"
    )]
    TooLarge { bytes: usize, most: usize },
}

impl Fault for OutboxFault {
    fn code_and_rule(&self) -> (ErrorCode, Option<&'static str>) {
        match self {
            Self::Message { .. } => (ErrorCode::Corrupted, Some("PAT-EC-4")),
            Self::Unwritable { .. } => (ErrorCode::InvalidInput, None),
            Self::NewerMessage { .. } => (ErrorCode::FormatTooNew, Some("PAT-EC-2")),
            Self::UnwritableIntent(_) => (ErrorCode::InternalError, None),
            Self::Intent(_) | Self::Text(_) | Self::Row(_) | Self::Registry => (ErrorCode::Corrupted, None),
            Self::NewerIntent { .. } => (ErrorCode::FormatTooNew, None),
            Self::Empty => (ErrorCode::InvalidInput, Some("PAT-EC-8")),
            Self::SameTarget => (ErrorCode::InvalidInput, Some("PAT-EC-2")),
            Self::TargetKey(_) => (ErrorCode::PropertyValueTooLarge, Some("KEY-8")),
            Self::TooLarge { .. } => (ErrorCode::EntityTooLarge, Some("SIZE-1")),
        }
    }
}
