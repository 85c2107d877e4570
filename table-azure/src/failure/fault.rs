//! Faults of responses that violate the protocol.

use table_core::error::Fault;
use table_core::{Error, ErrorCode};

/// A response that violates the protocol.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AnswerFault {
    #[error("{operation}: expected JSON but received `{found}`; check for a proxy")]
    NotJson { operation: String, found: String },
    #[error("{operation}: invalid response")]
    Json { operation: String, source: serde_json::Error },
    #[error("{operation}: invalid response")]
    Entity { operation: String, source: Error },
    #[error("{operation}: invalid response: {why}")]
    Batch { operation: &'static str, why: String },
    #[error("{operation}: a response with status {status} is not from a table service")]
    Status { operation: String, status: u16 },
    #[error("{0}: the response is not a list of policies")]
    Policies(&'static str),
    #[error("{0}: the response is not from a queue service")]
    Queue(String),
}

impl Fault for AnswerFault {
    fn code_and_rule(&self) -> (ErrorCode, Option<&'static str>) {
        let rule = match self {
            Self::Policies(_) => Some("ACL-2"),
            Self::Queue(_) => Some("QUE-5"),
            _ => None,
        };
        (ErrorCode::InternalError, rule)
    }
}
