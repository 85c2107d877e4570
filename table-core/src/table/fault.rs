//! The faults of the typed and the untyped table.

use crate::error::{ErrorCode, Fault};
use crate::schema::Evolution;

/// A call that cannot be carried out on its table.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TableFault {
    #[error(
        "`{0}` does not bound the PartitionKey and would read the whole table: say so with `scan(\"why\")`, or add `PartitionKey eq …`"
    )]
    WholeTable(String),
    #[error(
        "the scan for `{reason}` has read {read} entities, its max_rows is {max_rows}: raise it, or add an index"
    )]
    ScanTooLong { reason: String, read: u64, max_rows: u64 },
    #[error(
        "the copies of the index `{index}` do not store `{name}`: keep it, or select by it if it is in the index's key"
    )]
    NotInIndex { index: &'static str, name: String },
    #[error("a merge cannot remove property `{0}`: use `update`, which replaces the entity")]
    MergeRemoves(&'static str),
    #[error("the entity to update does not exist")]
    NothingToUpdate,
    #[error("the entity has changed since it was read")]
    Changed,
    #[error(
        "the change altered the key of the entity: keys are fixed; insert under the new key, delete the old"
    )]
    KeyChanged,
    #[error("the selection is not one partition: a transaction has exactly one")]
    NotOnePartition,
    #[error(
        "the entity's design lives in table `{design}`, the transaction in `{table}`: a transaction has one table"
    )]
    OtherTable { design: &'static str, table: String },
    #[error(
        "the entity lies in partition '{entity}', the transaction in '{transaction}': a transaction has one partition"
    )]
    OtherPartition { entity: String, transaction: String },
    #[error("the transaction has no operations: add one, or do not commit")]
    EmptyTransaction,
    #[error("no layout is stored for the table: open it first, with `create_if_missing`")]
    NoLayout,
    #[error("the stored layout has another fingerprint than the one beside it: restore it, or delete it")]
    Fingerprint,
    #[error(
        "the stored layout of `{entity}` is incompatible with the program's: {verdict}; if the old rows have the new layout \
         already, accept it with `accept_layout`",
        verdict = .evolution.verdict()
    )]
    Layout {
        entity: String,
        #[source]
        evolution: Evolution,
    },
    #[error(
        "a program of a newer layout of `{entity}`, generation {generation}, has opened the table, and this one would not keep what that \
         declares: start the newer program, or go back with `accept_layout`"
    )]
    OlderLayout {
        entity: String,
        generation: u64,
        #[source]
        evolution: Evolution,
    },
    #[error(
        "a newer layout of `{0}` has properties that this program does not know, and would drop with a replace: use `update`, \
         `merge` or `patch`, which keep them, or start the newer program"
    )]
    DropsProperties(String),
}

impl Fault for TableFault {
    fn code_and_rule(&self) -> (ErrorCode, Option<&'static str>) {
        match self {
            Self::WholeTable(_) | Self::ScanTooLong { .. } => (ErrorCode::InvalidInput, Some("DQ-5")),
            Self::NotInIndex { .. } => (ErrorCode::InvalidInput, Some("PAT-INTRA-6")),
            Self::MergeRemoves(_) => (ErrorCode::InvalidInput, Some("MRG-3")),
            Self::NothingToUpdate => (ErrorCode::ResourceNotFound, Some("UPD-2")),
            Self::Changed => (ErrorCode::UpdateConditionNotSatisfied, None),
            Self::KeyChanged => (ErrorCode::InvalidInput, Some("UPD-6")),
            Self::NotOnePartition | Self::OtherTable { .. } => (ErrorCode::InvalidInput, Some("EGT-1")),
            Self::OtherPartition { .. } => {
                (ErrorCode::CommandsInBatchActOnDifferentPartitions, Some("EGT-5"))
            }
            Self::EmptyTransaction => (ErrorCode::InvalidInput, Some("EGT-12")),
            Self::NoLayout => (ErrorCode::ResourceNotFound, None),
            Self::Fingerprint => (ErrorCode::Corrupted, None),
            Self::DropsProperties(_) => (ErrorCode::LayoutMismatch, Some("EVO-3")),
            Self::Layout { evolution, .. } | Self::OlderLayout { evolution, .. } => {
                let worst = evolution.changes.iter().max_by_key(|change| change.rule.verdict);
                (ErrorCode::LayoutMismatch, worst.map(|change| change.rule.id))
            }
        }
    }
}
