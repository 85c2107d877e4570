//! Errors of units: entities of other partitions or tables, and empty units.

use table_core::error::{ErrorCode, Fault};
use table_core::key::PartitionKey;
use table_core::name::TableName;

/// A refused write of a unit.
#[derive(Debug, thiserror::Error)]
pub(super) enum UnitFault {
    #[error("an entity's key cannot change; insert it under the new key and delete the old one")]
    KeyChanged,
    #[error(
        "the entity lies in partition '{entity}', the unit in '{unit}'; write it in another unit, or add a step with `add_step`"
    )]
    Partition { entity: PartitionKey, unit: PartitionKey },
    #[error(
        "the entity lies in table `{entity}`, the unit in `{unit}`; declare both in one table (`#[entity(table = \"…\")]`), or add a step with `add_step`"
    )]
    Table { entity: String, unit: TableName },
    #[error("the unit has no operations; add one before `commit`")]
    Empty,
}

impl Fault for UnitFault {
    fn code_and_rule(&self) -> (ErrorCode, Option<&'static str>) {
        let (code, rule) = match self {
            Self::KeyChanged => (ErrorCode::InvalidInput, "UPD-6"),
            Self::Partition { .. } => (ErrorCode::CommandsInBatchActOnDifferentPartitions, "EGT-5"),
            Self::Table { .. } => (ErrorCode::InvalidInput, "EGT-1"),
            Self::Empty => (ErrorCode::InvalidInput, "EGT-12"),
        };
        (code, Some(rule))
    }
}
