//! The faults of series: slots that there are not, or that are full.

use table_core::error::{ErrorCode, Fault};

/// An increment of a series that is refused.
#[derive(Debug, thiserror::Error)]
pub(super) enum SeriesFault {
    #[error("there is no slot {slot}: they are 0 to {last}")]
    NoSlot { slot: usize, last: usize },
    #[error("slot {0} is incremented twice: add the two numbers")]
    Twice(usize),
    #[error("the sum does not fit the slot's type: nothing was added; take a wider type")]
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
