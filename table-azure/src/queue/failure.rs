//! Errors that name the queue.

use table_core::Error;
use table_core::queue::QueueName;

use crate::failure::AnswerFault;
use crate::http::Failure;

/// The error of a failed request, with the queue at its front.
pub(super) fn of_request(queue: &QueueName, failure: Failure, reads: bool) -> Error {
    failure.into_error(reads).with_context(&format!("queue `{queue}`"))
}

/// An answer that is not what the protocol says.
pub(super) fn of_answer(queue: &QueueName, operation: &str) -> Error {
    Error::of(AnswerFault::Queue(operation.to_owned())).with_context(&format!("queue `{queue}`"))
}
