//! Errors for items that are not entities because other programs wrote them.

use table_core::Fault;

/// The error for an item that is not an entity because another program wrote it.
#[derive(Debug, thiserror::Error, Fault)]
#[error("item `{id}` was written by another program: {what}")]
#[fault(Corrupted, "WIRE-6")]
pub(super) struct ForeignItem {
    pub(super) id: String,
    pub(super) what: Foreign,
}

/// An error that describes why an item is not an entity.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Foreign {
    #[error("its id is not the id of a RowKey")]
    Id,
    #[error("it does not have {0} levels that form a PartitionKey")]
    Levels(usize),
    #[error("its level `{0}` is {1}, and a level of an entity is a text")]
    Level(String, &'static str),
    #[error("its JSON is nested too deeply, or contains a number or a text that cannot be represented")]
    Unreadable,
    #[error("`p` is missing, or does not contain the properties of an entity")]
    Properties,
    #[error("the value of property `{0}` does not have its type")]
    Value(String),
    #[error("{0}")]
    Shape(String),
    #[error("`_ts` or `_etag` is missing or invalid")]
    System,
}
