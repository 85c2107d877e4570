//! The faults of units: entities of other places, and units that are empty or too large.

use table_core::error::{ErrorCode, Fault};
use table_core::key::PartitionKey;
use table_core::name::TableName;

/// A write that a unit does not take.
#[derive(Debug, thiserror::Error)]
pub(super) enum UnitFault {
    #[error(
        "the entity has another key than the one it replaces: keys are fixed; delete the old one and insert the new one"
    )]
    KeyChanged,
    #[error(
        "the unit would be {operations} operations ({parts}); a transaction holds at most {most}: commit some before"
    )]
    Operations { operations: usize, parts: String, most: usize },
    #[error("the unit would be {bytes} bytes ({parts}); at most {most} are allowed: commit some before")]
    Bytes { bytes: usize, parts: String, most: usize },
    #[error(
        "the entity lies in partition '{entity}', the unit in '{unit}': a transaction has one partition; write it in a unit of its own, or intend a \
         step with `send`"
    )]
    Partition { entity: PartitionKey, unit: PartitionKey },
    #[error(
        "the entity lies in table `{entity}`, the unit in `{unit}`: a transaction has one table; declare both in one (`#[entity(table = \"…\")]`), or intend \
         a step with `send`"
    )]
    Table { entity: String, unit: TableName },
    #[error("the unit has no operations: add one, or do not commit")]
    Empty,
}

impl Fault for UnitFault {
    fn code_and_rule(&self) -> (ErrorCode, Option<&'static str>) {
        let (code, rule) = match self {
            Self::KeyChanged => (ErrorCode::InvalidInput, "UPD-6"),
            Self::Operations { .. } => (ErrorCode::InvalidInput, "EGT-2"),
            Self::Bytes { .. } => (ErrorCode::RequestBodyTooLarge, "EGT-3"),
            Self::Partition { .. } => (ErrorCode::CommandsInBatchActOnDifferentPartitions, "EGT-5"),
            Self::Table { .. } => (ErrorCode::InvalidInput, "EGT-1"),
            Self::Empty => (ErrorCode::InvalidInput, "EGT-12"),
        };
        (code, Some(rule))
    }
}
