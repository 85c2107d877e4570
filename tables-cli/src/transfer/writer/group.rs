//! Writing one group of changes as a transaction.

use table_core::{DynTableStore, EntityKey, ErrorCode, TableName, TableStore, Transaction};

use crate::failure::Result;
use crate::transfer::source::Rejected;
use crate::transfer::writer::change::{Change, Mode, Numbered};

/// The outcome of one transaction.
pub(super) struct Written {
    /// The number of records that it settles.
    pub(super) records: u64,
    /// The records that were not written.
    pub(super) rejected: Vec<Rejected>,
    /// The keys of the transaction.
    pub(super) keys: Vec<EntityKey>,
}

/// Writes a group. A change that the store rejects is omitted, and the others are written without it.
pub(super) async fn write(
    store: &DynTableStore,
    table: &TableName,
    mode: Mode,
    mut group: Vec<Numbered>,
    mut transaction: Transaction,
) -> Result<Written> {
    let keys: Vec<EntityKey> = group.iter().map(|(_, change)| change.key().clone()).collect();
    let mut written = Written { records: group.len() as u64, rejected: Vec::new(), keys };
    loop {
        let Err(error) = store.submit(table, transaction.clone()).await else { return Ok(written) };
        let named = error.operation().or((group.len() == 1).then_some(0));
        let Some(at) = named.filter(|at| *at < group.len() && is_of_row(&error)) else {
            return Err(error.into());
        };
        let (line, change) = group.remove(at);
        let is_gone = matches!(change, Change::Delete(..)) && error.is_not_found();
        if !is_gone {
            written.rejected.push(Rejected { line, column: 0, reason: error.to_string() });
        }
        let Some((_, first)) = group.first() else { return Ok(written) };
        transaction = Transaction::new(first.key().partition_key.clone(), *transaction.limits())?;
        for (_, change) in &group {
            transaction.push(change.operation(mode)?)?;
        }
    }
}

/// Returns `true` if an error concerns one entity, and not the table or the store.
fn is_of_row(error: &table_core::Error) -> bool {
    let is_of_store = error.is_table_not_found() || error.is_ambiguous() || error.is_throttled();
    !is_of_store
        && (error.is_conflict()
            || error.is_not_found()
            || error.is_already_exists()
            || error.is_invalid_input()
            || error.code() == ErrorCode::EntityTooLarge)
}
