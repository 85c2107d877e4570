//! Sends the requests of typed and untyped tables. Each request runs in a tracing span that records its cost.

use std::borrow::Cow;

use table_store::{Error, ErrorCode, Result};
use tracing::field::Empty;
use tracing::{Instrument, debug_span};

use crate::entity::Versioned;
use crate::etag::ETag;
use crate::key::EntityKey;
use crate::name::TableName;
use crate::operation::{Operation, OperationKind};
use crate::query::{Continuation, EntityRef, Page, Plan, Query, QueryClass, Select};
use crate::row::RowView;
use crate::selection::{ReadableAs, Source};
use crate::store::{Committed, StoredRow, TableStore};
use crate::table::fault::TableFault;
use crate::transaction::Transaction;

pub(crate) async fn create_if_missing<S: TableStore>(store: &S, table: &TableName) -> Result<bool> {
    match store.create_table(table).await {
        Ok(()) => Ok(true),
        // If the response was lost, it is unknown which program created the table. In any case, the table exists.
        Err(error) if error.last_response().unwrap_or(&error).code() == ErrorCode::TableAlreadyExists => {
            Ok(false)
        }
        Err(error) => Err(error),
    }
}

/// Reads one row by its key.
pub(crate) async fn get<S: TableStore>(
    store: &S,
    table: &TableName,
    key: &EntityKey,
    select: &Select,
) -> Result<Option<StoredRow>> {
    let class = tracing::field::display(QueryClass::Point);
    let span = debug_span!("get", table = table.as_str(), class, rows_returned = Empty);
    if span.is_disabled() {
        return store.get(table, key, select).await;
    }
    let found = store.get(table, key, select).instrument(span.clone()).await?;
    span.record("rows_returned", u64::from(found.is_some()));
    Ok(found)
}

/// Decodes the row returned by a lookup in the source `F`: the entities or an index.
#[inline]
pub(crate) fn read_from<F: ReadableAs<T>, T>(
    table: &TableName,
    key: &EntityKey,
    found: &StoredRow,
) -> Result<Versioned<T>> {
    let row: RowView<'_> = found.row.view();
    let entity = EntityRef::new(key.partition_key.as_str(), key.row_key.as_str(), row).with_etag(&found.etag);
    // A `match` instead of `map_err` avoids another move of the entity.
    match Versioned::read_with(entity, F::read) {
        Ok(read) => Ok(read),
        Err(error) => Err(error.with_table(table.as_str())),
    }
}

/// Returns the table that a source reads. This is the index's table if the index has a separate one, and otherwise the entities' table.
pub(crate) fn table_of<F: Source>(own: Result<&TableName>) -> Result<Cow<'_, TableName>> {
    match F::INDEX.and_then(|index| index.table) {
        Some(table) => TableName::new(table).map(Cow::Owned),
        None => own.map(Cow::Borrowed),
    }
}

/// Adds the name of the index to a plan.
pub(crate) fn with_index<F: Source>(plan: Plan) -> Plan {
    match F::INDEX {
        Some(index) => Plan { index: Some(index.name.to_owned()), ..plan },
        None => plan,
    }
}

/// Returns one page of a query, without the rows reserved for patterns.
pub(crate) async fn page<S: TableStore>(
    store: &S,
    table: &TableName,
    query: &Query,
    from: Option<&Continuation>,
) -> Result<Page> {
    let class = tracing::field::display(query.keys.class());
    let span = debug_span!("query", table = table.as_str(), class, rows_read = Empty, rows_returned = Empty);
    let mut page = store.query(table, query, from).instrument(span.clone()).await?;
    page.rows = page.rows.without_reserved();
    span.record("rows_returned", page.rows.len());
    if let Some(rows_read) = page.rows_read {
        span.record("rows_read", rows_read);
    }
    Ok(page)
}

/// Submits a transaction. The error of a failed transaction contains the key of the failed operation, even if the backend reported only the operation's index.
pub(crate) async fn submit<S: TableStore>(
    store: &S,
    table: &TableName,
    transaction: Transaction,
) -> Result<Committed> {
    if transaction.operations().is_empty() {
        return Err(Error::of(TableFault::EmptyTransaction).with_table(table.as_str()));
    }
    let keys: Vec<_> = transaction.operations().iter().map(|operation| operation.row_key.clone()).collect();
    let partition_key = transaction.partition_key().clone();
    let operation = match transaction.operations() {
        [only] => only.kind.name(),
        _ => "transaction",
    };
    let span = debug_span!("submit", table = table.as_str(), operation, operations = keys.len());
    store.submit(table, transaction).instrument(span).await.map_err(|error| {
        let index = error.operation().or((keys.len() == 1).then_some(0));
        match index.and_then(|index| keys.get(index)) {
            Some(row_key) if error.key().is_none() => {
                error.with_key(partition_key.as_str(), row_key.as_str())
            }
            _ => error,
        }
    })
}

/// Submits one operation as a transaction. Returns the new version, or `None` for a delete.
pub(crate) async fn write<S: TableStore>(
    store: &S,
    table: &TableName,
    key: EntityKey,
    kind: OperationKind,
) -> Result<Option<ETag>> {
    let transaction = transaction_of(store, table, key, kind)?;
    Ok(submit(store, table, transaction).await?.into_iter().next().flatten())
}

/// Returns a transaction with one operation.
pub(crate) fn transaction_of<S: TableStore>(
    store: &S,
    table: &TableName,
    key: EntityKey,
    kind: OperationKind,
) -> Result<Transaction> {
    let limits = store.capabilities().limits;
    let transaction = Transaction::new(key.partition_key, limits).and_then(|mut transaction| {
        transaction.push(Operation { row_key: key.row_key, kind })?;
        Ok(transaction)
    });
    transaction.map_err(|error| error.with_table(table.as_str()))
}
