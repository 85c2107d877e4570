//! Errors in batch bodies.

use table_core::Fault;

/// The cause of an invalid batch body.
#[derive(Debug, thiserror::Error, Fault)]
pub(super) enum BatchFault {
    #[error("the content type of a batch must be `multipart/mixed` with a boundary")]
    #[fault(InvalidInput, "EGT-20")]
    Type,
    #[error("a batch must have one change set or one query")]
    #[fault(InvalidInput, "EGT-12")]
    Empty,
    #[error("a batch must have one change set or one query")]
    #[fault(InvalidInput, "EGT-8")]
    Several,
    #[error("a batch without a change set must be a point query")]
    #[fault(InvalidInput, "EGT-7")]
    NotAQuery,
    #[error("a change set must contain only writes")]
    #[fault(InvalidInput, "EGT-7")]
    QueryInside,
    #[error("a change set has text, but no part that starts with its boundary")]
    #[fault(InvalidInput, "EGT-21")]
    NoPart,
    #[error("the batch is cut off before its closing boundary")]
    #[fault(InvalidInput, "EGT-21")]
    CutOff,
    #[error("a part of the batch does not start with a method, a URL and a version")]
    #[fault(InvalidInput, "EGT-21")]
    RequestLine,
    #[error("a part of the batch is not an HTTP/1.1 request with a URL or a path")]
    #[fault(InvalidInput, "EGT-21")]
    Request,
    #[error("a header of a part of the batch is not UTF-8")]
    #[fault(InvalidInput, "EGT-23")]
    Header,
}
