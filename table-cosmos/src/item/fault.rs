//! The faults of items that are not of this library's form.

use table_core::error::{ErrorCode, Fault};

/// An item that another program wrote.
#[derive(Debug, thiserror::Error)]
#[error("the item `{id}` is not of this library's form, so another program wrote it: {what}")]
pub(super) struct ForeignItem {
    pub(super) id: String,
    pub(super) what: Foreign,
}

/// What is strange about it.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Foreign {
    #[error("its id is the id of no RowKey")]
    Id,
    #[error("it does not have {0} levels that are the texts of a PartitionKey")]
    Levels(usize),
    #[error("`p` is missing, or is not the properties of an entity")]
    Properties,
    #[error("the property `{0}` has a value that is not of its type")]
    Value(String),
    #[error("`_ts` or `_etag` is missing, or is not the service's")]
    System,
}

impl Fault for ForeignItem {
    fn code_and_rule(&self) -> (ErrorCode, Option<&'static str>) {
        (ErrorCode::Corrupted, Some("WIRE-6"))
    }
}
