//! The error for a row that belongs to no declared type.

use table_store::Fault;

/// A row that belongs to no declared type, found in the key range of a read.
#[derive(Debug, thiserror::Error, Fault)]
pub(super) enum MixedFault {
    #[error(
        "the row is neither a `{entity}` nor of another declared type; name the set of the table's types, \
         `#[entity(set = …)]`, or remove the row"
    )]
    #[fault(EntityMismatch, "PAT-HET-6")]
    Unexplained { entity: &'static str },
}
