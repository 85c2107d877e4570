//! Faults of batch bodies.

use table_core::ErrorCode;
use table_core::error::Fault;

/// A body that cannot be read as a batch.
#[derive(Debug, thiserror::Error)]
pub(super) enum BatchFault {
    #[error("the content type of a batch must be `multipart/mixed` with a boundary")]
    Type,
    #[error("a batch must have one change set or one query")]
    Empty,
    #[error("a batch must have one change set or one query")]
    Several,
    #[error("a batch without a change set must be a point query")]
    NotAQuery,
    #[error("a change set must contain only writes")]
    QueryInside,
    #[error("the batch is cut off before its closing boundary")]
    CutOff,
    #[error("a part of the batch does not start with a method, a URL and a version")]
    RequestLine,
    #[error("a part of the batch is not an HTTP/1.1 request with a URL or a path")]
    Request,
}

impl Fault for BatchFault {
    fn code_and_rule(&self) -> (ErrorCode, Option<&'static str>) {
        let rule = match self {
            Self::Type => "EGT-20",
            Self::Empty => "EGT-12",
            Self::Several => "EGT-8",
            Self::NotAQuery | Self::QueryInside => "EGT-7",
            Self::CutOff | Self::RequestLine | Self::Request => "EGT-21",
        };
        (ErrorCode::InvalidInput, Some(rule))
    }
}
