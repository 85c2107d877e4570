//! Rows that a store cannot represent. An example is a row with a date-time before 1601, which Azurite accepts from another program.
//!
//! Such a row has a property named [`BAD`]. A [misreading](crate::faults::Control::misreading) process cannot read this property. Pages that select the
//! property omit the row, and a read of the row fails.

use table_core::embedded::Engine;
use table_core::query::{KeyRange, Page, Query, Rows};
use table_core::row::{Row, RowView, RowWriter};
use table_core::store::{StoredRow, TableStore};
use table_core::{
    EntityKey, Error, ErrorCode, IfMatch, Operation, OperationKind, Result, TableName, Transaction, ValueRef,
};

/// The name of the property that misreading processes cannot read.
pub const BAD: &str = "Bad";

fn is_bad(row: RowView<'_>) -> Result<bool> {
    Ok(row.find(BAD, &mut 0)?.is_some())
}

/// Returns the response of a read of one row.
pub(super) fn row(found: Option<StoredRow>) -> Result<Option<StoredRow>> {
    match found {
        Some(found) if is_bad(found.row.view())? => {
            Err(Error::new(ErrorCode::EntityMismatch, "the stored row is not a valid entity"))
        }
        found => Ok(found),
    }
}

/// Removes the rows that cannot be read from a page.
pub(super) fn page(page: Page) -> Result<Page> {
    let (mut rows, mut skipped) = (Rows::default(), page.skipped);
    for row in page.rows.iter() {
        if is_bad(row.row)? {
            skipped += 1;
        } else {
            rows.push(row.partition_key, row.row_key, row.row, Some(row.etag()));
        }
    }
    Ok(Page { rows, skipped, ..page })
}

/// Returns the rows of a table that misreading processes cannot read, with their keys.
///
/// # Errors
/// Any error from the store, except that a missing table has no rows.
pub async fn bad_rows(engine: &Engine, table: &TableName) -> Result<Vec<(EntityKey, StoredRow)>> {
    let (mut found, mut from) = (Vec::new(), None);
    loop {
        let page = match engine.query(table, &Query::new(KeyRange::ALL), from.as_ref()).await {
            Err(error) if error.is_table_not_found() => return Ok(found),
            page => page?,
        };
        for row in page.rows.iter() {
            if is_bad(row.row)? {
                let key = EntityKey::new(row.partition_key, row.row_key)?;
                found.push((key, StoredRow { row: row.row.to_row(), etag: row.etag() }));
            }
        }
        from = page.continuation;
        if from.is_none() {
            return Ok(found);
        }
    }
}

async fn submit(engine: &Engine, table: &TableName, key: &EntityKey, kind: OperationKind) -> Result<()> {
    let limits = engine.capabilities().limits;
    let mut transaction = Transaction::new(key.partition_key.clone(), limits)?;
    transaction.push(Operation { row_key: key.row_key.clone(), kind })?;
    engine.submit(table, transaction).await.map(drop)
}

/// Makes a row unreadable for misreading processes, as another program could. Returns `false` if the row does not exist.
///
/// # Errors
/// Any error from the store.
pub async fn spoil(engine: &Engine, table: &TableName, key: &EntityKey) -> Result<bool> {
    let mut bad = RowWriter::new();
    bad.property(BAD, ValueRef::Int32(1));
    match submit(engine, table, key, OperationKind::Merge(bad.finish(), IfMatch::Any)).await {
        Err(error) if error.is_not_found() || error.is_table_not_found() => Ok(false),
        outcome => outcome.map(|()| true),
    }
}

/// Makes all rows of a table readable again, as another program could. Returns the keys of the rows that were not readable.
///
/// # Errors
/// Any error from the store.
pub async fn mend(engine: &Engine, table: &TableName) -> Result<Vec<EntityKey>> {
    let mut mended = Vec::new();
    for (key, StoredRow { row, etag }) in bad_rows(engine, table).await? {
        let replace = OperationKind::Replace(without_bad(row.view())?, IfMatch::ETag(etag));
        submit(engine, table, &key, replace).await?;
        mended.push(key);
    }
    Ok(mended)
}

fn without_bad(row: RowView<'_>) -> Result<Row> {
    let mut writer = RowWriter::new();
    for property in row.properties() {
        let property = property?;
        if property.name != BAD {
            writer.property(property.name, property.value);
        }
    }
    Ok(writer.finish())
}
