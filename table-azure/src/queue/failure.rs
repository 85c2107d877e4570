//! Creates errors whose messages contain the name of the queue.

use table_core::Error;
use table_core::queue::QueueName;

use crate::failure::AnswerFault;
use crate::http::Failure;

/// Creates the error for a failed request, with the name of the queue in its message.
pub(super) fn of_request(queue: &QueueName, failure: Failure, reads: bool) -> Error {
    failure.into_error(reads).with_context(&format!("queue `{queue}`"))
}

/// Creates the error for a response that violates the protocol.
pub(super) fn of_answer(queue: &QueueName, operation: &str) -> Error {
    Error::of(AnswerFault::Queue(operation.to_owned())).with_context(&format!("queue `{queue}`"))
}
