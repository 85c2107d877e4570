//! Requests that the handles of both sides send.

use table_core::error::{Error, Result};
use table_core::etag::IfMatch;
use table_core::key::{EntityKey, PartitionKey, RowKey};
use table_core::name::TableName;
use table_core::operation::{Operation, OperationKind};
use table_core::query::EntityRef;
use table_core::row::RowWriter;
use table_core::store::{Committed, StoredRow, TableStore};
use table_core::transaction::Transaction;

/// Writes nothing but another version: a writer that read the entity before fails.
pub(super) fn touch(if_match: IfMatch) -> OperationKind {
    OperationKind::Merge(RowWriter::with_capacity(0).finish(), if_match)
}

pub(super) fn transaction<S: TableStore>(
    store: &S,
    partition_key: &PartitionKey,
    operations: impl IntoIterator<Item = (RowKey, OperationKind)>,
) -> Result<Transaction> {
    let mut transaction = Transaction::new(partition_key.clone(), store.capabilities().limits)?;
    for (row_key, kind) in operations {
        transaction.push(Operation { row_key, kind })?;
    }
    Ok(transaction)
}

pub(super) async fn submit<S: TableStore>(
    store: &S,
    table: &TableName,
    partition_key: &PartitionKey,
    operations: impl IntoIterator<Item = (RowKey, OperationKind)>,
) -> Result<Committed> {
    let transaction = transaction(store, partition_key, operations);
    store.submit(table, transaction.map_err(|error| error.with_table(table.as_str()))?).await
}

pub(super) fn entity<'a>(key: &'a EntityKey, stored: &'a StoredRow) -> EntityRef<'a> {
    EntityRef::new(key.partition_key.as_str(), key.row_key.as_str(), stored.row.view())
}

/// What others may change while something is tried, in words.
pub(super) const RACE: &str = "the source or its holders";

pub(super) fn in_place(error: Error, table: &TableName, key: &EntityKey) -> Error {
    error.with_table(table.as_str()).with_key(key.partition_key.as_str(), key.row_key.as_str())
}
