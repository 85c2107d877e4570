//! Reads pages together with the rows that the pages omit because the store cannot represent them.
//!
//! A page only [counts](table_core::query::Page::skipped) such rows. A long job must report them, so this module finds their keys: it reads the rows of the page
//! again and selects only their keys and types, because a store returns such a row if the invalid property is not selected. It then reads each row that the page
//! lacks by its key. If the page omits no rows, this costs no requests.

#[cfg(test)]
mod tests;

use std::collections::HashSet;

use futures_util::FutureExt;
use table_core::key::EntityKey;
use table_core::name::TableName;
use table_core::query::{Continuation, EntityRef, Page, Query, Rows, Select};
use table_core::schema::ENTITY_TYPE;
use table_core::store::{StoredRow, TableStore};
use table_core::{Error, ErrorCode, Result};

use crate::requests::{self, CONCURRENCY};

/// A row that the store cannot represent.
#[derive(Debug)]
pub(crate) struct Unreadable {
    pub(crate) key: EntityKey,
    /// The error of a read of the row.
    pub(crate) error: Error,
    /// The row with no properties but its `EntityType`.
    row: StoredRow,
}

impl Unreadable {
    /// Returns the error of a read of the row, with the table and the keys.
    pub(crate) fn into_error(self, table: &TableName) -> Error {
        let (partition_key, row_key) = (self.key.partition_key.as_str(), self.key.row_key.as_str());
        self.error.with_table(table.as_str()).with_key(partition_key, row_key)
    }

    /// Returns the row with no properties but its `EntityType`. It can be classified, but not decoded.
    pub(crate) fn entity(&self) -> EntityRef<'_> {
        let row = self.row.row.view();
        EntityRef::new(self.key.partition_key.as_str(), self.key.row_key.as_str(), row)
            .with_etag(&self.row.etag)
    }
}

/// A page, and the rows that it omits.
#[derive(Debug, Default)]
pub(crate) struct WholePage {
    /// The page. Rows that could be read later follow the others, in any order. `skipped` is the number of rows whose keys the store does not return, or
    /// that another program has changed in the meantime.
    pub(crate) page: Page,
    pub(crate) unreadable: Vec<Unreadable>,
}

/// Returns a projection to the properties that identify a row and its type.
pub(crate) fn identity() -> Select {
    Select::names(["PartitionKey", "RowKey", ENTITY_TYPE])
}

/// Returns `true` if an error reports that the store cannot represent a stored row. Cosmos DB reports an item that another program has written as corrupted.
pub(crate) fn is_unreadable(error: &Error) -> bool {
    matches!(error.code(), ErrorCode::EntityMismatch | ErrorCode::Corrupted)
}

/// Reads a page, and the rows that it omits. If another program writes at the same time, rows at the end of the page can be found again on the next page, and a
/// row that becomes unreadable can hide another one.
///
/// # Errors
/// Any error from the store.
pub(crate) async fn whole_page<S: TableStore>(
    (store, table): (&S, &TableName),
    query: &Query,
    from: Option<&Continuation>,
) -> Result<WholePage> {
    let page = store.query(table, query, from).await?;
    if page.skipped == 0 {
        return Ok(WholePage { page, unreadable: Vec::new() });
    }
    // The future is boxed because few pages omit rows, but each future that reads pages contains this one.
    completed((store, table), (query, from), page).boxed().await
}

/// Finds the rows that a page omits.
async fn completed<S: TableStore>(
    (store, table): (&S, &TableName),
    (query, from): (&Query, Option<&Continuation>),
    page: Page,
) -> Result<WholePage> {
    let (lacking, unknown) = lacking((store, table), (query, from), &page).await?;
    let reads = lacking.into_iter().map(|(key, row)| async move {
        match store.get(table, &key, &query.select).await {
            Err(error) if is_unreadable(&error) => Ok((key.clone(), Err(Unreadable { key, error, row }))),
            found => Ok::<_, Error>((key, Ok(found?))),
        }
    });
    let (mut unreadable, mut found) = (Vec::new(), Vec::new());
    for (key, read) in requests::in_order(reads, CONCURRENCY).await? {
        match read {
            Err(row) => unreadable.push(row),
            Ok(row) => found.extend(row.map(|row| (key, row))),
        }
    }
    let counted = u64::try_from(unreadable.len()).unwrap_or(u64::MAX);
    let skipped = unknown.min(page.skipped).max(page.skipped.saturating_sub(counted));
    Ok(WholePage { page: with_rows(Page { skipped, ..page }, &found), unreadable })
}

/// Reads the keys of a page's rows again. Returns the rows that the page lacks, with their types, and the number of rows whose keys the store does not return.
async fn lacking<S: TableStore>(
    (store, table): (&S, &TableName),
    (query, from): (&Query, Option<&Continuation>),
    page: &Page,
) -> Result<(Vec<(EntityKey, StoredRow)>, u64)> {
    let known: HashSet<_> = page.rows.iter().map(|row| (row.partition_key, row.row_key)).collect();
    let mut keys = Query { select: identity(), ..query.clone() };
    let mut from = from.map(|from| from.rebind(table, query, &keys)).transpose()?;
    // The store counts omitted rows towards the size of a page.
    let mut left = page.rows.len().saturating_add(usize::try_from(page.skipped).unwrap_or(usize::MAX));
    let (mut lacking, mut unknown) = (Vec::new(), 0);
    while left > 0 {
        keys.top = Some(left.min(store.capabilities().top.max(1)));
        let again = store.query(table, &keys, from.as_ref()).await?;
        for row in again.rows.iter().filter(|row| !known.contains(&(row.partition_key, row.row_key))) {
            let key = EntityKey::new(row.partition_key, row.row_key)?;
            lacking.push((key, StoredRow { row: row.row.to_row(), etag: row.etag() }));
        }
        unknown += again.skipped;
        let read = usize::try_from(again.skipped).unwrap_or(usize::MAX).saturating_add(again.rows.len());
        left = left.saturating_sub(read);
        from = again.continuation;
        if from.is_none() {
            break;
        }
    }
    Ok((lacking, unknown))
}

/// Adds rows to a page.
fn with_rows(page: Page, found: &[(EntityKey, StoredRow)]) -> Page {
    if found.is_empty() {
        return page;
    }
    let mut rows = Rows::default();
    for row in page.rows.iter() {
        rows.push(row.partition_key, row.row_key, row.row, Some(row.etag()));
    }
    for (key, row) in found {
        rows.push(key.partition_key.as_str(), key.row_key.as_str(), row.row.view(), Some(row.etag.clone()));
    }
    Page { rows, ..page }
}
