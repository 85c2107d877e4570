//! Errors of queues: invalid names, counts, times and sizes.

use std::time::Duration;

use crate::error::{ErrorCode, Fault};

/// An invalid name, count, time or size.
#[derive(Debug, thiserror::Error)]
pub(super) enum QueueFault {
    #[error(
        "queue name `{0}` is invalid; use `a` to `z`, digits and single `-`, with a letter or digit at both ends"
    )]
    NameCharacters(String),
    #[error("queue name `{0}` has {length} characters, 3 to 63 are allowed", length = .0.len())]
    NameLength(String),
    #[error("{count} messages were requested, 1 to {most} are allowed")]
    Count { count: usize, most: usize },
    #[error("invalid hidden time {time:?}; whole seconds from {least} to {most} are allowed", least = .least.as_secs(), most = .most.as_secs())]
    Hidden { time: Duration, least: Duration, most: Duration },
    #[error(
        "the message has {bytes} bytes, at most {most} are allowed; send the key of an entity that contains the data"
    )]
    Text { bytes: usize, most: usize },
    #[error("invalid time to live {0:?}; whole seconds, at least one, are allowed")]
    TimeToLive(Duration),
    #[error("a message that lives for {lives:?} cannot be hidden for {hidden:?}; hide it for a shorter time")]
    HiddenTooLong { lives: Duration, hidden: Duration },
}

impl Fault for QueueFault {
    fn code_and_rule(&self) -> (ErrorCode, Option<&'static str>) {
        let (code, rule) = match self {
            Self::NameCharacters(_) => (ErrorCode::InvalidResourceName, "QUE-2"),
            Self::NameLength(_) => (ErrorCode::OutOfRangeInput, "QUE-2"),
            Self::Count { .. } => (ErrorCode::OutOfRangeQueryParameterValue, "QUE-9"),
            Self::Hidden { .. } => (ErrorCode::OutOfRangeQueryParameterValue, "QUE-8"),
            Self::Text { .. } => (ErrorCode::RequestBodyTooLarge, "QUE-6"),
            Self::TimeToLive(_) => (ErrorCode::OutOfRangeQueryParameterValue, "QUE-7"),
            Self::HiddenTooLong { .. } => (ErrorCode::InvalidQueryParameterValue, "QUE-8"),
        };
        (code, Some(rule))
    }
}
