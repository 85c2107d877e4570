//! The faults of this side of a connection, before a request is sent.

use std::io;

use table_core::ErrorCode;
use table_core::error::Fault;
use tokio::task::JoinError;

/// A request that cannot be prepared or carried on.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HttpFault {
    /// The value may be a secret: neither it nor the cause is repeated.
    #[error("the value of `{0}` cannot be written in a header")]
    Header(&'static str),
    #[error("no token to sign with was received in time: nothing was sent by this attempt")]
    NoToken,
    #[error("TLS is not available on this system: it needs its certificates of trust")]
    Tls(#[source] rustls::Error),
    #[error("the HTTP client cannot be set up")]
    Client(#[source] reqwest::Error),
    #[error("the thread for requests could not be started")]
    Thread(#[source] io::Error),
    #[error("the thread for requests has ended")]
    Ended,
    #[error("the request was aborted")]
    Aborted(#[source] JoinError),
}

impl Fault for HttpFault {
    fn code_and_rule(&self) -> (ErrorCode, Option<&'static str>) {
        match self {
            Self::Header(_) => (ErrorCode::InvalidInput, None),
            Self::NoToken => (ErrorCode::Io, Some("AUTH-12")),
            Self::Tls(_) | Self::Client(_) | Self::Thread(_) => (ErrorCode::Io, None),
            Self::Ended | Self::Aborted(_) => (ErrorCode::InternalError, None),
        }
    }
}
