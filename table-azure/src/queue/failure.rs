//! Creates errors whose messages contain the queue name.

use table_core::queue::{MessageId, QueueName};
use table_core::{Error, ErrorCode};

use crate::failure::AnswerFault;
use crate::http::Failure;

/// Creates the error for a failed request, with the queue name in its message.
pub(super) fn of_request(queue: &QueueName, failure: Failure, reads: bool) -> Error {
    failure.into_error(reads).with_context(&format!("queue `{queue}`"))
}

/// Creates the error for a failed update or deletion of a message.
///
/// If the service rejects the pop receipt after a lost response, the error is not ambiguous. The caller no longer holds the message in either case.
pub(super) fn of_holder(queue: &QueueName, failure: Failure) -> Error {
    let is_lost = failure.error.code() == ErrorCode::PopReceiptMismatch;
    let into_ambiguous = failure.into_ambiguous && !is_lost;
    of_request(queue, Failure { into_ambiguous, ..failure }, false)
}

/// Creates the error for a response that violates the protocol.
pub(super) fn of_answer(queue: &QueueName, operation: &str) -> Error {
    Error::of(AnswerFault::Queue(operation.to_owned())).with_context(&format!("queue `{queue}`"))
}

/// Creates the error for an identifier that no message can have.
pub(super) fn no_message(queue: &QueueName, id: &MessageId) -> Error {
    let message = format!("no message has the identifier `{}`; use that of a received message", id.as_str());
    Error::new(ErrorCode::MessageNotFound, message)
        .with_rule("QUE-3")
        .with_context(&format!("queue `{queue}`"))
}
