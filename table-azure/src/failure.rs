//! Rejected requests: the service's response, and the error code derived from it.

mod code;
mod fault;
mod service;

pub(crate) use code::error_code;
pub(crate) use fault::AnswerFault;
pub use service::ServiceError;
