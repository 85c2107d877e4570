//! Rejections by the service, with their status, error code and request ID.

use std::error::Error as StdError;
use std::fmt;

use table_wire::ErrorBody;

/// An error response from the service, available as the source of an [`Error`](table_core::Error).
///
/// It contains the service's own error code, which may have no equivalent in this library. It also contains the request ID, which Azure support needs to find
/// the request.
///
/// ```
/// use std::error::Error as _;
/// use table_azure::ServiceError;
/// use table_core::Error;
///
/// fn request_id(error: &Error) -> Option<&str> {
///     error.source()?.downcast_ref::<ServiceError>()?.request_id()
/// }
/// # let _ = request_id;
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceError {
    operation: &'static str,
    status: u16,
    code: Option<String>,
    message: String,
    request_id: Option<String>,
}

impl ServiceError {
    /// Creates the error from the status, headers and body of a response.
    pub(crate) fn new<'a>(
        operation: &'static str,
        status: u16,
        header: impl Fn(&'static str) -> &'a str,
        body: &ErrorBody,
    ) -> Self {
        let header = |name| Some(header(name)).filter(|text| !text.is_empty()).map(str::to_owned);
        Self {
            operation,
            status,
            // In recorded error responses of the table service, only the body contains the code (REQ-4).
            code: body.code.clone().or_else(|| header("x-ms-error-code")),
            message: body.message.clone(),
            request_id: header("x-ms-request-id"),
        }
    }

    /// Returns the same error with the status and the body of one part of a batch response.
    pub(crate) fn of_part(self, status: u16, body: &ErrorBody) -> Self {
        Self { status, code: body.code.clone(), message: body.message.clone(), ..self }
    }

    /// Returns the name of the operation, such as `insert`.
    #[must_use]
    pub const fn operation(&self) -> &str {
        self.operation
    }

    /// Returns the HTTP status code.
    #[must_use]
    pub const fn status(&self) -> u16 {
        self.status
    }

    /// Returns the service's error code, such as `AuthorizationPermissionMismatch`, or `None` if the response does not contain a code.
    #[must_use]
    pub fn code(&self) -> Option<&str> {
        self.code.as_deref()
    }

    /// Returns the service's error message, without the request ID and the timestamp.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Returns the request ID, which identifies the request in the service's logs.
    #[must_use]
    pub fn request_id(&self) -> Option<&str> {
        self.request_id.as_deref()
    }
}

impl ServiceError {
    /// Returns a summary of the error: the operation, the service's message, and the request ID.
    pub(crate) fn summary(&self) -> String {
        let message = if self.message.is_empty() { "refused without a message" } else { &self.message };
        match &self.request_id {
            Some(id) => format!("{}: {message} [request {id}]", self.operation),
            None => format!("{}: {message}", self.operation),
        }
    }
}

impl fmt::Display for ServiceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the service answered {}", self.status)?;
        match &self.code {
            Some(code) => write!(f, " {code}"),
            None => Ok(()),
        }
    }
}

impl StdError for ServiceError {}
