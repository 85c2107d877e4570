//! Migration errors: positions that are invalid or belong to another table, and target sequences or feeds that would be rewound.

use table_core::Fault;
use table_core::name::TableName;

/// An error from resuming a migration from a position.
#[derive(Debug, thiserror::Error, Fault)]
#[fault(InvalidInput)]
pub(super) enum PositionFault {
    #[error("the position belongs to table `{0}`; start this table from the beginning")]
    OtherTable(TableName),
    #[error("invalid migration position; pass the text that `MigrationPosition` was formatted as")]
    Text,
}

/// An error from writing a row to the target of a migration.
#[derive(Debug, thiserror::Error, Fault)]
#[fault(InvalidInput)]
pub(super) enum TargetFault {
    #[error(
        "the target has issued later numbers of this sequence or feed, and the copy would set it back, so the numbers would be issued again; delete the target \
         table first, or copy into another table"
    )]
    SetBack,
}
