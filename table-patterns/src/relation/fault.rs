//! Errors when writing parents and parts: mismatched keys, and too many parts.

use table_core::Fault;

/// An error from writing a parent or a part.
#[derive(Debug, thiserror::Error, Fault)]
pub(super) enum RelationFault {
    #[error("the parent to delete does not exist")]
    #[fault(ResourceNotFound, "DEL-3")]
    NoOwner,
    #[error(
        "the parent and its parts are more than {most} rows, but a transaction deletes at most {most}; delete parts in batches first"
    )]
    #[fault(InvalidInput, "EGT-2")]
    TooMany { most: usize },
    #[error(
        "the part's key does not begin with its parent's key; use the same partition, and a RowKey that begins with the parent's"
    )]
    #[fault(InvalidInput, "PAT-CK-3")]
    OtherKey,
    #[error(
        "the store can neither represent some rows that may be parts nor return their keys; correct or delete them with another program, and delete the parent \
         again"
    )]
    #[fault(EntityMismatch)]
    Omitted,
}
