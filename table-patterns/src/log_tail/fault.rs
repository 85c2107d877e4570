//! The faults of log tails: stamps that cannot be written or read, and events without theirs.

use std::fmt;

use table_core::error::{ErrorCode, Fault};

/// A stamp, an event or a selection that is refused.
#[derive(Debug, thiserror::Error)]
pub(super) enum LogFault {
    #[error("{0} is outside the years 1 to 9999: no tick count has it")]
    Instant(String),
    #[error("'{0}' is not a log stamp: 19 digits, `_` and 16 hexadecimal digits are wanted")]
    Stamp(String),
    #[error("a log stamp could not be written")]
    Unwritable(#[source] fmt::Error),
    #[error("the selection is not of whole partitions: give every part of the partition key")]
    Selection,
    #[error("the event does not carry the stamp it was given: put it into the field of type `LogStamp`")]
    OtherStamp,
}

impl Fault for LogFault {
    fn code_and_rule(&self) -> (ErrorCode, Option<&'static str>) {
        match self {
            Self::Instant(_) => (ErrorCode::KeyEncoding, Some("TICK-2")),
            Self::Stamp(_) => (ErrorCode::EntityMismatch, Some("PAT-LOG-1")),
            Self::Unwritable(_) => (ErrorCode::KeyEncoding, None),
            Self::Selection => (ErrorCode::InvalidInput, Some("PAT-LOG-1")),
            Self::OtherStamp => (ErrorCode::InvalidInput, Some("PAT-LOG-4")),
        }
    }
}
