//! The faults of answers that do not follow the protocol.

use table_core::error::Fault;
use table_core::{Error, ErrorCode};

/// An answer that cannot be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AnswerFault {
    #[error("{operation}: the answer should be JSON and is `{found}`: is a proxy in between?")]
    NotJson { operation: String, found: String },
    #[error("{operation}: the answer cannot be read")]
    Json { operation: String, source: serde_json::Error },
    #[error("{operation}: the answer cannot be read")]
    Entity { operation: String, source: Error },
    #[error("{operation}: the answer cannot be read: {why}")]
    Batch { operation: &'static str, why: String },
    #[error("{operation}: an answer of status {status} is not one of a table service")]
    Status { operation: String, status: u16 },
    #[error("{0}: the answer is not a list of policies")]
    Policies(&'static str),
    #[error("{0}: the answer is not that of a queue service")]
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
