//! Reads all rows of a query page by page.

use table_core::Result;
use table_core::name::TableName;
use table_core::query::{EntityRef, Query};
use table_core::store::TableStore;

use crate::omitted::{WholePage, whole_page};

/// Calls a function with each row of a query. Stops at the first error. Skips the rows that the store cannot represent.
pub(crate) async fn each_row<S: TableStore>(
    store: &S,
    table: &TableName,
    query: &Query,
    mut take: impl FnMut(EntityRef<'_>) -> Result<()> + Send,
) -> Result<()> {
    let mut from = None;
    loop {
        let page = store.query(table, query, from.as_ref()).await?;
        page.rows.iter().try_for_each(&mut take)?;
        from = page.continuation;
        if from.is_none() {
            return Ok(());
        }
    }
}

/// Calls a function with each page of a query, and the rows that it omits. Stops at the first error.
pub(crate) async fn each_whole_page<S: TableStore>(
    store: &S,
    table: &TableName,
    query: &Query,
    mut take: impl FnMut(WholePage) -> Result<()> + Send,
) -> Result<()> {
    let mut from = None;
    loop {
        let mut whole = whole_page((store, table), query, from.as_ref()).await?;
        from = whole.page.continuation.take();
        take(whole)?;
        if from.is_none() {
            return Ok(());
        }
    }
}

/// Calls a function with each row of a query, as [`each_row`] does, but also stops at a row that the store cannot represent. Rows whose keys the store does not
/// return are skipped.
///
/// # Errors
/// The error of a read of that row, with its key; any error from the function or the store.
pub(crate) async fn every_row<S: TableStore>(
    store: &S,
    table: &TableName,
    query: &Query,
    mut take: impl FnMut(EntityRef<'_>) -> Result<()> + Send,
) -> Result<()> {
    let each = |WholePage { page, unreadable }: WholePage| {
        page.rows.iter().try_for_each(&mut take)?;
        unreadable.into_iter().next().map_or(Ok(()), |row| Err(row.into_error(table)))
    };
    each_whole_page(store, table, query, each).await
}
