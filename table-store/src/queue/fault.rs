//! Queue errors: invalid names, counts, times and sizes.

use std::time::Duration;

use crate::error::{Fault, quoted};

/// An error in a name, count, duration or size.
#[derive(Debug, thiserror::Error, Fault)]
pub(super) enum QueueFault {
    #[error(
        "queue name `{}` is invalid; use `a` to `z`, digits and single `-`, with a letter or digit at both ends",
        quoted(.0)
    )]
    #[fault(InvalidResourceName, "QUE-2")]
    NameCharacters(String),
    #[error("queue name `{}` has {length} characters, 3 to 63 are allowed", quoted(.0), length = .0.len())]
    #[fault(OutOfRangeInput, "QUE-2")]
    NameLength(String),
    #[error("{count} messages were requested, 1 to {most} are allowed")]
    #[fault(OutOfRangeQueryParameterValue, "QUE-9")]
    Count { count: usize, most: usize },
    #[error("invalid hidden time {time:?}; whole seconds from {least} to {most} are allowed", least = .least.as_secs(), most = .most.as_secs())]
    #[fault(OutOfRangeQueryParameterValue, "QUE-8")]
    Hidden { time: Duration, least: Duration, most: Duration },
    #[error(
        "the message has {bytes} bytes, at most {most} are allowed; send the key of an entity that contains the data"
    )]
    #[fault(RequestBodyTooLarge, "QUE-6")]
    Text { bytes: usize, most: usize },
    #[error("invalid time to live {0:?}; whole seconds, at least one, are allowed")]
    #[fault(OutOfRangeQueryParameterValue, "QUE-7")]
    TimeToLive(Duration),
    #[error("a message that lives for {lives:?} cannot be hidden for {hidden:?}; hide it for a shorter time")]
    #[fault(InvalidQueryParameterValue, "QUE-8")]
    HiddenTooLong { lives: Duration, hidden: Duration },
}
