//! Errors that name the queue.

use std::error::Error as _;

use table_core::queue::QueueName;
use table_core::{Error, ErrorCode};

use crate::failure::ServiceError;
use crate::http::Failure;

/// The error of a failed request, with the queue at its front.
pub(super) fn of_request(queue: &QueueName, failure: Failure, reads: bool) -> Error {
    let error = failure.into_error(reads);
    let Some(service) = error.source().and_then(|source| source.downcast_ref::<ServiceError>()).cloned()
    else {
        return Error::new(error.code(), format!("queue `{queue}`: {error}")).with_source(error);
    };
    Error::new(error.code(), format!("queue `{queue}`: {service}")).with_source(service)
}

/// An answer that is not what the protocol says.
pub(super) fn of_answer(queue: &QueueName, operation: &str) -> Error {
    let message = format!("queue `{queue}`: {operation}: the answer is not that of a queue service");
    Error::new(ErrorCode::InternalError, message).with_rule("QUE-5")
}
