//! Series errors: slots that do not exist, and sums that overflow.

use table_core::Fault;

/// An error from an operation on a series: its slot or its increment is invalid.
#[derive(Debug, thiserror::Error, Fault)]
pub(super) enum SeriesFault {
    #[error("slot {slot} does not exist; use 0 to {last}")]
    #[fault(OutOfRangeInput, "PAT-SER-1")]
    NoSlot { slot: usize, last: usize },
    #[error("slot {0} is incremented twice; add the two numbers")]
    #[fault(InvalidInput)]
    Twice(usize),
    #[error("the sum exceeds the type of the slot and nothing was added; use a wider type")]
    #[fault(OutOfRangeInput)]
    Sum,
}
