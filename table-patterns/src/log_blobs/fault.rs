//! Errors of logs in blobs: invalid names, lines and blobs.

use table_core::error::{Error, ErrorCode, Fault};

/// A log that cannot be written or read.
#[derive(Debug, thiserror::Error)]
pub(super) enum LogBlobFault {
    #[error("`{0}` is not a valid service name; use lower-case letters, digits and `-`")]
    Service(String),
    #[error("the buffer is full with {0} bytes of log lines; flush it or drop lines")]
    Busy(usize),
    #[error("the hour `{0}` already has a million blobs; write larger blocks")]
    Hour(String),
    #[error("`{0}` is not a valid log line")]
    Line(String),
    #[error("log blob `{0}` is not UTF-8")]
    Text(String),
    #[error("log blob `{0}` ends inside a line")]
    End(String),
    #[error("log blob `{blob}` has an invalid line")]
    BrokenLine { blob: String, source: Error },
}

impl Fault for LogBlobFault {
    fn code_and_rule(&self) -> (ErrorCode, Option<&'static str>) {
        match self {
            Self::Service(_) => (ErrorCode::InvalidInput, Some("LOG-2")),
            Self::Busy(_) => (ErrorCode::ServerBusy, Some("PAT-ANTI-2")),
            Self::Hour(_) => (ErrorCode::OutOfRangeInput, Some("LOG-2")),
            Self::Line(_) => (ErrorCode::Corrupted, Some("LOG-6")),
            Self::Text(_) | Self::End(_) | Self::BrokenLine { .. } => (ErrorCode::Corrupted, None),
        }
    }
}
