//! Unit errors: entities in other partitions or tables, and empty units.

use table_core::Fault;
use table_core::key::PartitionKey;
use table_core::name::TableName;

/// An error returned when a unit refuses a write.
#[derive(Debug, thiserror::Error, Fault)]
pub(super) enum UnitFault {
    #[error("an entity's key cannot change; insert it under the new key and delete the old one")]
    #[fault(InvalidInput, "UPD-6")]
    KeyChanged,
    #[error(
        "the entity lies in partition '{entity}', the unit in '{unit}'; write it in another unit, or add a step with `add_step`"
    )]
    #[fault(CommandsInBatchActOnDifferentPartitions, "EGT-5")]
    Partition { entity: PartitionKey, unit: PartitionKey },
    #[error(
        "the entity lies in table `{entity}`, the unit in `{unit}`; declare both in one table (`#[entity(table = \"…\")]`), or add a step with `add_step`"
    )]
    #[fault(InvalidInput, "EGT-1")]
    Table { entity: String, unit: TableName },
    #[error(
        "the entity lies in table `{entity}`, the unit in `{unit}`; use handles to one table of a period (`unit.use_handle(&others.entities_of(at).await?)`), or add a step with `add_step`"
    )]
    #[fault(InvalidInput, "EGT-1")]
    Period { entity: String, unit: TableName },
    #[error("the unit has read the entity that it inserts, so the entity exists; use `save` or `replace`")]
    #[fault(EntityAlreadyExists, "INS-1")]
    Exists,
    #[error("the unit has no operations; add one before `commit`")]
    #[fault(InvalidInput, "EGT-12")]
    Empty,
}
