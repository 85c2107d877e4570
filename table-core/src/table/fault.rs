//! Errors of typed and untyped tables.

use table_store::{ErrorCode, Fault};

use crate::key::EntityKey;
use crate::schema::Evolution;

/// An error caused by an invalid call on a table.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TableFault {
    #[error(
        "`{0}` does not bound the PartitionKey and would read the whole table; use `scan(\"the reason\")`, or add `PartitionKey eq …`"
    )]
    WholeTable(String),
    #[error(
        "the scan for `{reason}` has read {read} entities, more than its max_rows of {max_rows}; raise it, or add an index"
    )]
    ScanTooLong { reason: String, read: u64, max_rows: u64 },
    #[error(
        "the copies of the index `{index}` do not store `{name}`; include it, or select by it if it is part of the index's key"
    )]
    NotInIndex { index: &'static str, name: String },
    #[error("the entity to update does not exist; insert it, or use `insert_or_replace`")]
    NothingToUpdate,
    #[error("the entity was modified since it was read; read it again and retry")]
    Changed,
    #[error(
        "the change would move the entity to PartitionKey '{}', RowKey '{}', but a key cannot change; insert the entity under the new key and \
         delete the old one, in one transaction if they are in one partition", .0.partition_key.as_str(), .0.row_key.as_str()
    )]
    KeyChanged(EntityKey),
    #[error(
        "the selection is not a single partition, which a transaction requires; give the whole partition key"
    )]
    NotOnePartition,
    #[error(
        "the entity belongs to table `{design}`, the transaction to `{table}`; a transaction has one table"
    )]
    OtherTable { design: &'static str, table: String },
    #[error(
        "the entity is in partition '{entity}', the transaction in '{transaction}'; a transaction has one partition"
    )]
    OtherPartition { entity: String, transaction: String },
    #[error("the transaction has no operations; add one, or do not commit it")]
    EmptyTransaction,
    #[error(
        "two types have the schema name `{0}`, but a table stores one schema under each name; store them under two names: write \
         `#[entity(schema_name = \"…\")]` above one of them"
    )]
    SharedSchemaName(&'static str),
    #[error("the table has no stored schema; open it first, with `create_if_missing`")]
    NoLayout,
    #[error("the stored schema does not match its fingerprint; restore it, or delete it")]
    Fingerprint,
    #[error(
        "the stored schema of `{entity}` is incompatible with the program's: {compatibility}; if the rows have been rewritten \
         already, call `accept_schema`",
        compatibility = .evolution.compatibility()
    )]
    Layout {
        entity: String,
        #[source]
        evolution: Evolution,
    },
    #[error(
        "a program with a newer schema of `{entity}`, generation {generation}, has opened the table, whose declarations this program would not \
         maintain; run the newer program, or return to this schema with `accept_schema`"
    )]
    OlderLayout {
        entity: String,
        generation: u64,
        #[source]
        evolution: Evolution,
    },
    #[error(
        "no schema of `{entity}` is stored, and its keys have the form of the stored schema of `{stored}`; if the type was renamed, write \
         `#[entity(schema_name = \"{stored}\")]`; if it is another type, call `accept_schema`"
    )]
    Renamed {
        entity: String,
        stored: String,
        #[source]
        evolution: Evolution,
    },
    #[error(
        "a newer schema of `{0}` has properties that this program does not know and that a replace would remove; use `update`, \
         `merge` or `patch`, which keep them, or run the newer program"
    )]
    DropsProperties(String),
}

impl Fault for TableFault {
    fn code_and_rule(&self) -> (ErrorCode, Option<&'static str>) {
        match self {
            Self::WholeTable(_) | Self::ScanTooLong { .. } => (ErrorCode::InvalidInput, Some("DQ-5")),
            Self::SharedSchemaName(_) => (ErrorCode::InvalidInput, None),
            Self::NotInIndex { .. } => (ErrorCode::InvalidInput, Some("PAT-INTRA-6")),
            Self::NothingToUpdate => (ErrorCode::ResourceNotFound, Some("UPD-2")),
            Self::Changed => (ErrorCode::UpdateConditionNotSatisfied, None),
            Self::KeyChanged(_) => (ErrorCode::InvalidInput, Some("UPD-6")),
            Self::NotOnePartition | Self::OtherTable { .. } => (ErrorCode::InvalidInput, Some("EGT-1")),
            Self::OtherPartition { .. } => {
                (ErrorCode::CommandsInBatchActOnDifferentPartitions, Some("EGT-5"))
            }
            Self::EmptyTransaction => (ErrorCode::InvalidInput, Some("EGT-12")),
            Self::NoLayout => (ErrorCode::ResourceNotFound, None),
            Self::Fingerprint => (ErrorCode::Corrupted, None),
            Self::DropsProperties(_) => (ErrorCode::SchemaMismatch, Some("EVO-3")),
            Self::Layout { evolution, .. }
            | Self::OlderLayout { evolution, .. }
            | Self::Renamed { evolution, .. } => {
                let worst = evolution.changes.iter().max_by_key(|change| change.rule.compatibility);
                (ErrorCode::SchemaMismatch, worst.map(|change| change.rule.id))
            }
        }
    }
}
