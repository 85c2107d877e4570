//! Errors of log tails: invalid stamps, and events without their stamp.

use std::fmt;

use table_core::error::{ErrorCode, Fault};

/// An invalid stamp, event or selection.
#[derive(Debug, thiserror::Error)]
pub(super) enum LogFault {
    #[error("{0} is outside the years 1 to 9999 and has no tick count")]
    Instant(String),
    #[error("'{0}' is not a log stamp; expected 19 digits, `_` and 16 hexadecimal digits")]
    Stamp(String),
    #[error("failed to format a log stamp")]
    Unwritable(#[source] fmt::Error),
    #[error("the selection does not consist of whole partitions; give every part of the partition key")]
    Selection,
    #[error("the event does not contain its stamp; set the field of type `LogStamp` to it")]
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
