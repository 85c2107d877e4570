//! Errors of series: missing slots and overflowing sums.

use table_core::error::{ErrorCode, Fault};

/// An invalid slot or increment of a series.
#[derive(Debug, thiserror::Error)]
pub(super) enum SeriesFault {
    #[error("slot {slot} does not exist; use 0 to {last}")]
    NoSlot { slot: usize, last: usize },
    #[error("slot {0} is incremented twice; add the two numbers")]
    Twice(usize),
    #[error("the sum exceeds the type of the slot and nothing was added; use a wider type")]
    Sum,
}

impl Fault for SeriesFault {
    fn code_and_rule(&self) -> (ErrorCode, Option<&'static str>) {
        match self {
            Self::NoSlot { .. } => (ErrorCode::OutOfRangeInput, Some("PAT-SER-1")),
            Self::Twice(_) => (ErrorCode::InvalidInput, None),
            Self::Sum => (ErrorCode::OutOfRangeInput, None),
        }
    }
}
