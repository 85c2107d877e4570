//! A refusal by the service: status, code, request id.

use std::error::Error as StdError;
use std::fmt;

use table_wire::ErrorBody;

/// The answer of the service, as the source of an [`Error`](table_core::Error): its code where ours has none, and the request
/// id that its operators ask for.
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
    /// The error of an answer with this status, by its body and its headers.
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
            // The recorded table errors carry the code only in the body (REQ-4).
            code: body.code.clone().or_else(|| header("x-ms-error-code")),
            message: body.message.clone(),
            request_id: header("x-ms-request-id"),
        }
    }

    /// The same for one part of a batch, with the part's own status.
    pub(crate) fn of_part(self, status: u16, body: &ErrorBody) -> Self {
        Self { status, code: body.code.clone(), message: body.message.clone(), ..self }
    }

    /// The operation, such as `insert`.
    #[must_use]
    pub const fn operation(&self) -> &str {
        self.operation
    }

    /// The HTTP status.
    #[must_use]
    pub const fn status(&self) -> u16 {
        self.status
    }

    /// The service's own code, such as `AuthorizationPermissionMismatch`; `None` if it sent none.
    #[must_use]
    pub fn code(&self) -> Option<&str> {
        self.code.as_deref()
    }

    /// The service's message, without its request id and time.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The id under which the service knows the request.
    #[must_use]
    pub fn request_id(&self) -> Option<&str> {
        self.request_id.as_deref()
    }
}

impl ServiceError {
    /// The text for an error of ours: the operation, the service's message, and the id that its operators ask for.
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
