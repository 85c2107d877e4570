//! A service's refusal: its own words, and the code that ours has for it.

mod code;
mod fault;
mod service;

pub(crate) use code::error_code;
pub(crate) use fault::AnswerFault;
pub use service::ServiceError;
