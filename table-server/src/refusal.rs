//! A request that is not granted: status, code and text, as the service says them.

use table_core::{Error, ErrorCode};

/// Why a request is not granted.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) status: u16,
    pub(crate) code: &'static str,
    pub(crate) message: String,
    /// The operation of a batch.
    pub(crate) index: Option<usize>,
}

impl Refusal {
    pub(crate) fn new(status: u16, code: &'static str, message: impl Into<String>) -> Self {
        Self { status, code, message: message.into(), index: None }
    }

    pub(crate) fn input(message: impl Into<String>) -> Self {
        Self::new(400, "InvalidInput", message)
    }

    pub(crate) fn unsupported(message: impl Into<String>) -> Self {
        Self::new(501, "NotImplemented", message)
    }

    /// A path that names nothing.
    pub(crate) fn nowhere() -> Self {
        Self::new(400, "InvalidUri", "The requested URI does not represent any resource on the server.")
    }

    pub(crate) fn method() -> Self {
        Self::new(405, "UnsupportedHttpVerb", "The resource doesn't support the specified HTTP verb.")
    }

    /// Of an operation of a batch, if it does not say which.
    pub(crate) fn at(self, index: usize) -> Self {
        Self { index: self.index.or(Some(index)), ..self }
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        let code = error.code();
        // What failed inside says nothing to a client that it could use, and its text may name files.
        let message = if code == ErrorCode::InternalError || code == ErrorCode::Io {
            "The server encountered an internal error. Please retry the request.".to_owned()
        } else {
            error.to_string().replace(['\r', '\n'], " ")
        };
        Self { status: code.status(), code: code.as_str(), message, index: error.operation() }
    }
}
