//! Errors in queries and continuations.

use crate::error::{Error, Fault, quoted};
use crate::limits::SELECT_NAMES;

/// An error in a query or a continuation.
#[derive(Debug, thiserror::Error, Fault)]
pub(crate) enum QueryFault {
    #[error("a page of {top} entities was requested, at most {most} are allowed; read several pages")]
    #[fault(InvalidInput, "TOP-2")]
    Top { top: usize, most: usize },
    #[error("$select names {0} properties, at most {SELECT_NAMES} are allowed")]
    #[fault(InvalidInput, "SEL-1")]
    SelectCount(usize),
    #[error("$select of `*` is not supported; omit $select to get all properties")]
    #[fault(InvalidInput, "SEL-5")]
    SelectAll,
    #[error("$select names `{}` twice", quoted(.0))]
    #[fault(InvalidInput, "SEL-1")]
    SelectTwice(String),
    #[error("$select: {0}")]
    #[fault(InvalidInput, "SEL-1")]
    SelectName(Error),
    #[error("invalid continuation token; send it exactly as it was received")]
    #[fault(InvalidInput, "PAGE-9")]
    Token,
    #[error("the continuation belongs to another query; use the same table, keys, filter and select")]
    #[fault(InvalidInput, "PAGE-9")]
    OtherQuery,
    #[error("the continuation is outside the keys of its query; it was not created by this library")]
    #[fault(InvalidInput, "PAGE-9")]
    OutsideKeys,
    #[error("the continuation belongs to another backend; start the query again")]
    #[fault(InvalidInput, "PAGE-9")]
    OtherBackend,
    #[error("the table was dropped and created again since the previous page; start the query again")]
    #[fault(InvalidInput, "PAGE-9")]
    TableReplaced,
}
