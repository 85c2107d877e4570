//! Errors of migration positions, which cannot be parsed or belong to another table.

use table_core::Fault;
use table_core::name::TableName;

/// The reason why a migration cannot resume from a position.
#[derive(Debug, thiserror::Error, Fault)]
#[fault(InvalidInput)]
pub(super) enum PositionFault {
    #[error("the position belongs to table `{0}`; start this table from the beginning")]
    OtherTable(TableName),
    #[error("invalid migration position; pass the text that `MigrationPosition` was formatted as")]
    Text,
}
