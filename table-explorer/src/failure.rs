//! Failures shown instead of a page, with an HTTP status, a description and advice.

use http::StatusCode;
use table_core::{Error, ErrorCode};
use table_inspect::record::FileError;

/// The cause of a failed request.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// No page or table exists at this URL.
    #[error("{0}")]
    NotFound(String),
    /// The request has no session, the wrong host or an invalid form token.
    #[error("{0}")]
    Forbidden(String),
    /// The request is invalid.
    #[error("{0}")]
    Input(String),
    /// The explorer refuses the action.
    #[error("{0}")]
    Refused(String),
    /// An error from the store.
    #[error("{0}")]
    Store(#[from] Error),
}

impl From<table_inspect::Error> for Failure {
    fn from(error: table_inspect::Error) -> Self {
        match error {
            table_inspect::Error::Condition(text) => Self::Input(text),
            table_inspect::Error::Derived(text) => Self::Refused(text),
            table_inspect::Error::Store(error) => Self::Store(error),
        }
    }
}

impl From<FileError> for Failure {
    fn from(error: FileError) -> Self {
        Self::Input(error.to_string())
    }
}

impl Failure {
    pub(crate) fn status(&self) -> StatusCode {
        match self {
            Self::NotFound(_) => StatusCode::NOT_FOUND,
            Self::Forbidden(_) => StatusCode::FORBIDDEN,
            Self::Input(_) => StatusCode::BAD_REQUEST,
            Self::Refused(_) => StatusCode::CONFLICT,
            // A store error not caused by the request is a bad gateway: to the browser, this server is a gateway to the store.
            Self::Store(error) => StatusCode::from_u16(error.code().status())
                .ok()
                .filter(StatusCode::is_client_error)
                .unwrap_or(StatusCode::BAD_GATEWAY),
        }
    }

    /// Returns a store error's code and violated rule, if any.
    pub(crate) fn code(&self) -> Option<(String, Option<&'static str>)> {
        match self {
            Self::Store(error) => Some((error.code().to_string(), error.rule())),
            _ => None,
        }
    }

    /// Returns advice for the failure, if any.
    pub(crate) fn next_step(&self) -> Option<&'static str> {
        let Self::Store(error) = self else { return None };
        Some(match error.code() {
            ErrorCode::TableNotFound => "The list of tables shows the existing ones.",
            ErrorCode::AuthenticationFailed => {
                "Check the key, and that the signature has not expired; then start the explorer again."
            }
            ErrorCode::AuthorizationFailure | ErrorCode::AuthorizationPermissionMismatch => {
                "The signature lacks a permission for this page."
            }
            ErrorCode::ServerBusy => "The store throttles; load the page again in a moment.",
            _ if error.is_ambiguous() => "The last write may have been applied; read the entity again.",
            _ => return None,
        })
    }
}

/// A `Result` with [`Failure`] as its default error.
pub(crate) type Result<T, E = Failure> = std::result::Result<T, E>;
