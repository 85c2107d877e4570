//! Rejected requests: the service's response, and its error code.

mod code;
mod fault;
mod service;

pub(crate) use code::error_code;
pub(crate) use fault::AnswerFault;
pub use service::ServiceError;
