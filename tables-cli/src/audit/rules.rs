//! The rules of the audit, by topic.

pub(super) mod explained;
pub(super) mod formats;
pub(super) mod growth;
pub(super) mod limits;
pub(super) mod partitions;
pub(super) mod types;
