//! Log tail errors: invalid stamps, and events that do not contain their stamp.

use std::fmt;

use table_core::Fault;

/// An error in a stamp, an event or a selection.
#[derive(Debug, thiserror::Error, Fault)]
pub(super) enum LogFault {
    #[error("{0} is outside the years 1 to 9999 and has no tick count")]
    #[fault(KeyEncoding, "TICK-2")]
    Instant(String),
    #[error("'{0}' is not a log stamp; expected 19 digits, `_` and 16 hexadecimal digits")]
    #[fault(EntityMismatch, "PAT-LOG-1")]
    Stamp(String),
    #[error("failed to format a log stamp")]
    #[fault(KeyEncoding)]
    Unwritable(#[source] fmt::Error),
    #[error("the selection does not consist of whole partitions; give every part of the partition key")]
    #[fault(InvalidInput, "PAT-LOG-1")]
    Selection,
    #[error("the event does not contain its stamp; set the field of type `LogStamp` to it")]
    #[fault(InvalidInput, "PAT-LOG-4")]
    OtherStamp,
}
