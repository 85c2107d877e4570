//! Batches: entity group transactions as multipart HTTP bodies (EGT-20 to EGT-39).

mod fault;
mod multipart;
mod request;
mod response;

pub use multipart::{Split, split};
pub use request::{Batch, NewRequest, RequestPart, read_requests, write_requests};
pub use response::{NewResponse, ResponsePart, read_responses, write_responses};

#[cfg(test)]
mod tests;
