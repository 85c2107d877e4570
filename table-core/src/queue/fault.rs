//! The faults of queues: refused names, counts, times and sizes.

use std::time::Duration;

use crate::error::{ErrorCode, Fault};

/// A refused name, count, time or size.
#[derive(Debug, thiserror::Error)]
pub(super) enum QueueFault {
    #[error(
        "queue name `{0}` may hold only `a` to `z`, digits and single `-`, and begins and ends with a letter or digit"
    )]
    NameCharacters(String),
    #[error("queue name `{0}` has {length} characters; 3 to 63 are allowed", length = .0.len())]
    NameLength(String),
    #[error("{count} messages were asked for; 1 to {most} are allowed")]
    Count { count: usize, most: usize },
    #[error("a message was to be hidden for {time:?}; whole seconds from {least} to {most} are allowed", least = .least.as_secs(), most = .most.as_secs())]
    Hidden { time: Duration, least: Duration, most: Duration },
    #[error(
        "the message has {bytes} bytes; at most {most} are allowed: send the key of an entity that holds the rest"
    )]
    Text { bytes: usize, most: usize },
    #[error("a message was to live for {0:?}; whole seconds, at least one, are allowed")]
    TimeToLive(Duration),
    #[error("a message that lives for {lives:?} was to be hidden for {hidden:?}")]
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
