//! Errors that occur in the client before a request is sent.

use std::io;

use table_core::Fault;
use tokio::task::JoinError;

/// An error in the client's HTTP stack.
#[derive(Debug, thiserror::Error, Fault)]
pub(crate) enum HttpFault {
    /// A header value is invalid. The value may be a secret, so the error contains neither the value nor the original error.
    #[error("the value of `{0}` cannot be written in a header")]
    #[fault(InvalidInput)]
    Header(&'static str),
    #[error("no bearer token was received in time; the request was not sent")]
    #[fault(Io, "AUTH-12")]
    NoToken,
    #[error("TLS is not available; the system has no trusted certificates")]
    #[fault(Io)]
    Tls(#[source] rustls::Error),
    #[error("the HTTP client cannot be set up")]
    #[fault(Io)]
    Client(#[source] reqwest::Error),
    #[error("the thread for requests could not be started")]
    #[fault(Io)]
    Thread(#[source] io::Error),
    #[error("the thread for requests has ended")]
    #[fault(InternalError)]
    Ended,
    #[error("the request was aborted")]
    #[fault(InternalError)]
    Aborted(#[source] JoinError),
}
