//! The faults of the program's flags and of its configuration file.

use std::io;
use std::path::PathBuf;

use table_core::ErrorCode;
use table_core::error::Fault;

/// Flags, or a file, with which the program cannot start. None repeats a key.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ProgramFault {
    #[error("`{}` is not the name of an account: 3 to 24 lower-case letters and digits", .0.escape_debug())]
    Name(String),
    #[error("account `{0}` is named twice")]
    Twice(String),
    #[error(
        "account `{0}` has no key: write `--account {0}=KEY`, set TABLE_SERVER_KEY, or give it a `key` in the file"
    )]
    NoKey(String),
    #[error(
        "account `{0}` has no place: give it a `path` or `memory = true`, or start with --path or --memory"
    )]
    NoPlace(String),
    #[error("account `{0}` has a `path` and `memory = true`: choose one")]
    TwoPlaces(String),
    #[error(
        "TLS needs a certificate and its key, or a folder for a certificate of the server's own making, not both"
    )]
    HalfTls,
    #[cfg(not(feature = "tls"))]
    #[error("this program was built without TLS: build it with `--features tls`")]
    NoTls,
    #[error("the configuration file {path} cannot be read", path = .path.display())]
    File { path: PathBuf, source: io::Error },
    #[error("line {line} of the configuration file {path}: {what}", path = .path.display())]
    Syntax { path: PathBuf, line: usize, what: String },
}

impl Fault for ProgramFault {
    fn code_and_rule(&self) -> (ErrorCode, Option<&'static str>) {
        match self {
            Self::File { .. } => (ErrorCode::Io, None),
            _ => (ErrorCode::InvalidInput, None),
        }
    }
}
