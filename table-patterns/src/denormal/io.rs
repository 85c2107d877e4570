//! Requests that the handles of both sides send.

use table_core::entity::{Entity, Versioned};
use table_core::error::{Error, ErrorCode, Result};
use table_core::etag::IfMatch;
use table_core::key::{EntityKey, PartitionKey, RowKey};
use table_core::name::TableName;
use table_core::operation::{Operation, OperationKind};
use table_core::query::EntityRef;
use table_core::row::RowWriter;
use table_core::store::{Committed, StoredRow, TableStore, written};
use table_core::transaction::Transaction;

use crate::denormal::fault::CopyFault;
use crate::index::{Batch, Entities, IndexOutbox, Way};

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

/// Writes entities of one partition with what their structs declare. A conflict is an error, as all rows were read.
pub(super) async fn commit<E: Entity, S: TableStore, O: IndexOutbox>(
    entities: &Entities<E, S, O>,
    table: &TableName,
    batch: &Batch,
    feed: bool,
) -> Result<Committed> {
    entities.admit(false).await?;
    let (store, outbox) = (entities.table.store(), &entities.outbox);
    let feed = (feed || entities.records).then_some(&entities.feed);
    let way = Way { store, outbox, feed, lists: entities.lists(table) };
    // Which of the indexes are whole is known of one type alone: copies are looked at.
    way.commit(batch, (&entities.retry, !batch.copies.is_empty())).await
}

/// An entity as the first operation of a transaction wrote it. A version that tells no Timestamp leaves it the one before.
pub(super) fn version<T>(
    table: &TableName,
    entity: T,
    etags: Committed,
    before: u64,
) -> Result<Versioned<T>> {
    let etag = written(table, etags.into_iter().next().flatten())?;
    let ticks = etag.ticks().unwrap_or(before);
    Ok(Versioned::new(entity, etag, ticks))
}

/// There is more to write than one transaction takes.
pub(super) fn is_too_much(error: &Error) -> bool {
    matches!(error.code(), ErrorCode::InvalidInput | ErrorCode::RequestBodyTooLarge)
}

pub(super) fn entity<'a>(key: &'a EntityKey, stored: &'a StoredRow) -> EntityRef<'a> {
    EntityRef::new(key.partition_key.as_str(), key.row_key.as_str(), stored.row.view())
}

/// That the entity to change is not there.
pub(super) fn is_gone(table: &TableName, key: &EntityKey) -> Error {
    in_place(Error::of(CopyFault::Gone), table, key)
}

/// What others may change while something is tried, in words.
pub(super) const RACE: &str = "the source or its holders";

pub(super) fn in_place(error: Error, table: &TableName, key: &EntityKey) -> Error {
    error.with_table(table.as_str()).with_key(key.partition_key.as_str(), key.row_key.as_str())
}
