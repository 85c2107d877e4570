//! The faults of logs in blobs: names, lines and blobs that cannot be written or read.

use table_core::error::{Error, ErrorCode, Fault};

/// A log that cannot be written or read.
#[derive(Debug, thiserror::Error)]
pub(super) enum LogBlobFault {
    #[error("`{0}` is not the name of a service: take lower-case letters, digits and `-`")]
    Service(String),
    #[error("{0} bytes of log lines wait to be written: flush, or drop lines")]
    Busy(usize),
    #[error("the hour `{0}` has a million blobs: write larger blocks")]
    Hour(String),
    #[error("the line `{0}` is not one that this library writes")]
    Line(String),
    #[error("log blob `{0}` is not UTF-8")]
    Text(String),
    #[error("log blob `{0}` ends inside a line")]
    End(String),
    #[error("log blob `{blob}` has a broken line")]
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
