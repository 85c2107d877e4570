//! Errors about responses that violate the protocol.

use table_core::{Error, Fault};

/// A response that violates the protocol.
#[derive(Debug, thiserror::Error, Fault)]
pub(crate) enum AnswerFault {
    #[error("{operation}: expected JSON but received `{found}`; check for a proxy")]
    #[fault(InternalError)]
    NotJson { operation: String, found: String },
    #[error("{operation}: invalid response")]
    #[fault(InternalError)]
    Json { operation: String, source: serde_json::Error },
    #[error("{operation}: invalid response")]
    #[fault(InternalError)]
    Entity { operation: String, source: Error },
    #[error(
        "{operation}: the stored entity cannot be represented; correct the property, or select other properties"
    )]
    #[fault(EntityMismatch)]
    Stored { operation: &'static str, source: Error },
    #[error("{operation}: invalid response: {why}")]
    #[fault(InternalError)]
    Batch { operation: &'static str, why: String },
    #[error("{operation}: invalid response: the header `{name}` is not text")]
    #[fault(InternalError, "PAGE-2")]
    Header { operation: String, name: &'static str },
    #[error("{operation}: the response is not the requested entity; check for a proxy")]
    #[fault(InternalError, "GET-1")]
    Key { operation: &'static str },
    #[error("{operation}: a response with status {status} is not from the service; check for a proxy")]
    #[fault(InternalError)]
    Status { operation: String, status: u16 },
    #[error("{0}: the response is not a list of policies")]
    #[fault(InternalError, "ACL-2")]
    Policies(&'static str),
    #[error("{0}: the response is not from a queue service")]
    #[fault(InternalError, "QUE-5")]
    Queue(String),
}
