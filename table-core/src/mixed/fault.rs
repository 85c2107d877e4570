//! The fault of a row that no declared type explains.

use crate::error::{ErrorCode, Fault};

/// A row in the range of a read that is of no declared type.
#[derive(Debug, thiserror::Error)]
pub(super) enum MixedFault {
    #[error(
        "the row is not of `{entity}`, nor of a type that is declared beside it: name the set of the table's types, \
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
