//! Faults of the client before a request is sent.

use std::io;

use table_core::ErrorCode;
use table_core::error::Fault;
use tokio::task::JoinError;

/// A fault of the client's HTTP stack.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HttpFault {
    /// An invalid header value. It may be a secret, so neither the value nor the source is included.
    #[error("the value of `{0}` cannot be written in a header")]
    Header(&'static str),
    #[error("no bearer token was received in time; the request was not sent")]
    NoToken,
    #[error("TLS is not available; the system has no trusted certificates")]
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
