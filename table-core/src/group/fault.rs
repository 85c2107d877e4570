//! Errors from reading entity groups.

use table_store::Fault;

/// An error caused by rows that do not match the fields of a group.
#[derive(Debug, thiserror::Error, Fault)]
pub(super) enum GroupFault {
    #[error("no `{entity}` found; declare the field `{field}` as `Option<One<_>>` if it may be missing")]
    #[fault(ResourceNotFound, "PAT-CK-1")]
    Missing { entity: &'static str, field: &'static str },
    #[error("more than one `{entity}` found; declare the field `{field}` as `Many<_>`")]
    #[fault(EntityMismatch, "PAT-CK-1")]
    Several { entity: &'static str, field: &'static str },
    #[error(
        "the group `{0}` has no field for this type of entity; add one, or collect other rows in `#[other] rest: Vec<TableEntity>`"
    )]
    #[fault(EntityMismatch, "PAT-HET-6")]
    Unknown(String),
}
