//! Errors of entity groups.

use crate::error::{ErrorCode, Fault};

/// A range of rows that does not match the fields of a group.
#[derive(Debug, thiserror::Error)]
pub(super) enum GroupFault {
    #[error("no `{entity}` found; declare the field `{field}` as `Option<One<_>>` if it may be missing")]
    Missing { entity: &'static str, field: &'static str },
    #[error("more than one `{entity}` found; declare the field `{field}` as `Many<_>`")]
    Several { entity: &'static str, field: &'static str },
    #[error(
        "the group `{0}` has no field for this type of entity; add one, or collect other rows in `#[other] rest: Vec<TableEntity>`"
    )]
    Unknown(String),
}

impl Fault for GroupFault {
    fn code_and_rule(&self) -> (ErrorCode, Option<&'static str>) {
        match self {
            Self::Missing { .. } => (ErrorCode::ResourceNotFound, Some("PAT-CK-1")),
            Self::Several { .. } => (ErrorCode::EntityMismatch, Some("PAT-CK-1")),
            Self::Unknown(_) => (ErrorCode::EntityMismatch, Some("PAT-HET-6")),
        }
    }
}
