//! Blob log errors: invalid service names, lines and blobs.

use table_core::{Error, Fault};

/// An error from writing or reading a log.
#[derive(Debug, thiserror::Error, Fault)]
pub(super) enum LogBlobFault {
    #[error("`{0}` is not a valid service name; use lower-case letters, digits and `-`")]
    #[fault(InvalidInput, "LOG-2")]
    Service(String),
    #[error("the buffer is full with {0} bytes of log lines; flush it or drop lines")]
    #[fault(ServerBusy, "PAT-ANTI-2")]
    Busy(usize),
    #[error("`{0}` is not a valid log line")]
    #[fault(Corrupted, "LOG-6")]
    Line(String),
    #[error("log blob `{0}` is not UTF-8")]
    #[fault(Corrupted)]
    Text(String),
    #[error("log blob `{0}` ends inside a line")]
    #[fault(Corrupted)]
    End(String),
    #[error("log blob `{blob}` has an invalid line")]
    #[fault(Corrupted)]
    BrokenLine { blob: String, source: Error },
}
