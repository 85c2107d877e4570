//! Constructors for the errors that handlers return. A failure counts as an attempt; after too many attempts, the message becomes poison. An outage does not
//! count.

use std::error::Error as StdError;

use table_core::{Error, Fault};

/// An error for a message that a handler did not process.
#[derive(Debug, thiserror::Error, Fault)]
enum HandlerFault {
    #[error(transparent)]
    #[fault(InvalidInput, "PAT-EC-4")]
    Failure(Box<dyn StdError + Send + Sync>),
    #[error(transparent)]
    #[fault(ServerBusy, "PAT-EC-5")]
    Outage(Box<dyn StdError + Send + Sync>),
}

/// Creates an error for a message that the handler cannot process. The error has the code `InvalidInput`. The attempt counts towards the poison limit, and
/// other messages continue to be processed.
///
/// The cause is a string or an error. If it is an error, its code is ignored, even if the code denotes an [outage](crate::work::Handler#failures-and-outages).
///
/// ```
/// use table_patterns::work;
/// use table_patterns::{ErrorCode, Result};
///
/// /// Converts the response of a webhook.
/// fn answered(status: u16) -> Result<()> {
///     match status {
///         200..300 => Ok(()),
///         429 | 503 => Err(work::outage(format!("the webhook answered {status}"))),
///         _ => Err(work::failure(format!("the webhook answered {status}"))),
///     }
/// }
///
/// assert_eq!(answered(500).unwrap_err().code(), ErrorCode::InvalidInput);
/// assert!(answered(503).unwrap_err().is_throttled());
/// ```
#[must_use]
pub fn failure(cause: impl Into<Box<dyn StdError + Send + Sync>>) -> Error {
    Error::of(HandlerFault::Failure(cause.into()))
}

/// Creates an error for an unavailable target. The error has the code `ServerBusy`. The attempt does not count towards the poison limit. Until a message
/// succeeds, the handler receives only one message after each delay. Messages that have not been tried come first.
///
/// ```
/// use table_patterns::work;
///
/// let refused = std::io::Error::from(std::io::ErrorKind::ConnectionRefused);
/// assert!(work::outage(refused).is_throttled());
/// ```
#[must_use]
pub fn outage(cause: impl Into<Box<dyn StdError + Send + Sync>>) -> Error {
    Error::of(HandlerFault::Outage(cause.into()))
}
