//! The faults of a server that cannot start.

use std::io;

use table_core::ErrorCode;
use table_core::error::Fault;

/// A server that cannot start. None repeats a key.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ServerFault {
    #[error(
        "account `{0}` has the emulator's key, which everyone knows: listen on loopback, or give it a key of its own"
    )]
    Exposed(String),
    #[error("account `{}` is named twice", .0.escape_debug())]
    Twice(String),
    #[error("the server cannot listen on {address}")]
    Listen { address: String, source: io::Error },
}

impl Fault for ServerFault {
    fn code_and_rule(&self) -> (ErrorCode, Option<&'static str>) {
        match self {
            Self::Exposed(_) => (ErrorCode::InvalidInput, Some("AUTH-30")),
            Self::Twice(_) => (ErrorCode::InvalidInput, None),
            Self::Listen { .. } => (ErrorCode::Io, None),
        }
    }
}
