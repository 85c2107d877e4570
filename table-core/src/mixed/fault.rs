//! Error for a row of no declared type.

use crate::error::{ErrorCode, Fault};

/// A row that belongs to no declared type, found in the range of a read.
#[derive(Debug, thiserror::Error)]
pub(super) enum MixedFault {
    #[error(
        "the row is neither a `{entity}` nor of another declared type; name the set of the table's types, \
         `#[entity(set = …)]`, or remove the row"
    )]
    Unexplained { entity: &'static str },
}

impl Fault for MixedFault {
    fn code_and_rule(&self) -> (ErrorCode, Option<&'static str>) {
        match self {
            Self::Unexplained { .. } => (ErrorCode::EntityMismatch, Some("PAT-HET-6")),
        }
    }
}
