//! The faults of a server that cannot start.

use std::io;
#[cfg(feature = "tls")]
use std::path::PathBuf;

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
    #[cfg(feature = "tls")]
    #[error("cannot {verb} {path}", path = .path.display())]
    File { verb: &'static str, path: PathBuf, source: io::Error },
    #[cfg(feature = "tls")]
    #[error("{path} is not a certificate or a key in PEM", path = .0.display())]
    Pem(PathBuf),
    #[cfg(feature = "tls")]
    #[error(
        "the certificate cannot be served: it and the key do not belong together, or TLS does not know them"
    )]
    Tls(#[source] tokio_rustls::rustls::Error),
    #[cfg(feature = "tls")]
    #[error("a certificate cannot be made")]
    SelfSigned(#[source] rcgen::Error),
}

impl Fault for ServerFault {
    fn code_and_rule(&self) -> (ErrorCode, Option<&'static str>) {
        match self {
            Self::Exposed(_) => (ErrorCode::InvalidInput, Some("AUTH-30")),
            Self::Twice(_) => (ErrorCode::InvalidInput, None),
            Self::Listen { .. } => (ErrorCode::Io, None),
            #[cfg(feature = "tls")]
            Self::File { .. } => (ErrorCode::Io, None),
            #[cfg(feature = "tls")]
            Self::Pem(_) | Self::Tls(_) | Self::SelfSigned(_) => (ErrorCode::InvalidInput, None),
        }
    }
}
