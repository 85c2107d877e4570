//! The faults of positions of a copy.

use table_core::error::{ErrorCode, Fault};
use table_core::name::TableName;

/// A position that a copy cannot go on from.
#[derive(Debug, thiserror::Error)]
pub(super) enum PositionFault {
    #[error("the position is one in `{0}`: begin this table anew")]
    OtherTable(TableName),
    #[error("the text is not a position of a copy: give what `MigrationPosition` was printed as")]
    Text,
}

impl Fault for PositionFault {
    fn code_and_rule(&self) -> (ErrorCode, Option<&'static str>) {
        (ErrorCode::InvalidInput, None)
    }
}
