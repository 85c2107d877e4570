//! Errors of queries and continuations.

use crate::error::{Error, ErrorCode, Fault};
use crate::limits::SELECT_NAMES;

/// A query that a backend would refuse, or a continuation that does not belong to it.
#[derive(Debug, thiserror::Error)]
pub(crate) enum QueryFault {
    #[error("a page of {top} entities was requested, at most {most} are allowed; read several pages")]
    Top { top: usize, most: usize },
    #[error("$select names {0} properties, at most {SELECT_NAMES} are allowed")]
    SelectCount(usize),
    #[error("$select of `*` is not supported; omit $select to get all properties")]
    SelectAll,
    #[error("$select names `{0}` twice")]
    SelectTwice(String),
    #[error("$select: {0}")]
    SelectName(Error),
    #[error("invalid continuation token; send it exactly as it was received")]
    Token,
    #[error("the continuation belongs to another query; use the same table, keys, filter and select")]
    OtherQuery,
    #[error("the continuation is outside the keys of its query; it was not created by this library")]
    OutsideKeys,
    #[error("the continuation belongs to another backend; start the query again")]
    OtherBackend,
    #[error("the table was dropped and created again since the previous page; start the query again")]
    TableReplaced,
    #[error("the query reads no keys")]
    NoKeys,
    #[error("the range starts after its end, so it contains nothing; swap its ends")]
    Reversed,
    #[error("a limit of 0 entities reads nothing; give a greater one, or leave the limit out")]
    NoEntities,
}

impl Fault for QueryFault {
    fn code_and_rule(&self) -> (ErrorCode, Option<&'static str>) {
        let rule = match self {
            Self::Reversed => return (ErrorCode::InvalidInput, None),
            Self::Top { .. } | Self::NoEntities => "TOP-2",
            Self::SelectCount(_) | Self::SelectTwice(_) | Self::SelectName(_) => "SEL-1",
            Self::SelectAll => "SEL-5",
            Self::Token
            | Self::OtherQuery
            | Self::OutsideKeys
            | Self::OtherBackend
            | Self::TableReplaced
            | Self::NoKeys => "PAGE-9",
        };
        (ErrorCode::InvalidInput, Some(rule))
    }
}
