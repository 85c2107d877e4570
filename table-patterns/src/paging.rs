//! Reads all rows of a query page by page.

use table_core::Result;
use table_core::key::EntityKey;
use table_core::name::TableName;
use table_core::query::{Continuation, EntityRef, Page, Query};
use table_core::store::TableStore;

use crate::omitted::{WholePage, whole_page};

/// Reads the pages of a query one after another. Holds no page in memory.
pub(crate) struct Pages<'a, S> {
    store: &'a S,
    table: &'a TableName,
    query: &'a Query,
    from: Option<Continuation>,
    is_end: bool,
}

impl<'a, S: TableStore> Pages<'a, S> {
    /// Creates a reader that has read no page.
    pub(crate) const fn new(store: &'a S, table: &'a TableName, query: &'a Query) -> Self {
        Self { store, table, query, from: None, is_end: false }
    }

    /// Returns the next page, without its continuation; `None` after the last page. After an error, the page can be read again.
    ///
    /// # Errors
    /// Any error from the store.
    pub(crate) async fn next(&mut self) -> Result<Option<Page>> {
        if self.is_end {
            return Ok(None);
        }
        let mut page = self.store.query(self.table, self.query, self.from.as_ref()).await?;
        self.advance(&mut page);
        Ok(Some(page))
    }

    /// Returns the next page, as [`next`](Self::next) does, and the rows that it omits.
    ///
    /// # Errors
    /// Any error from the store.
    pub(crate) async fn next_whole(&mut self) -> Result<Option<WholePage>> {
        if self.is_end {
            return Ok(None);
        }
        let mut whole = whole_page((self.store, self.table), self.query, self.from.as_ref()).await?;
        self.advance(&mut whole.page);
        Ok(Some(whole))
    }

    /// Returns `true` after the last page.
    pub(crate) const fn is_end(&self) -> bool {
        self.is_end
    }

    fn advance(&mut self, page: &mut Page) {
        self.from = page.continuation.take();
        self.is_end = self.from.is_none();
    }
}

/// Returns `None` instead of the error of a read from a table that does not exist.
///
/// # Errors
/// Any other error.
pub(crate) fn none_if_missing<T>(read: Result<Option<T>>) -> Result<Option<T>> {
    match read {
        Err(error) if error.is_table_not_found() => Ok(None),
        read => read,
    }
}

/// Calls a function with each row of a query. Stops at the first error. Skips the rows that the store cannot represent.
pub(crate) async fn each_row<S: TableStore>(
    store: &S,
    table: &TableName,
    query: &Query,
    mut take: impl FnMut(EntityRef<'_>) -> Result<()> + Send,
) -> Result<()> {
    let mut pages = Pages::new(store, table, query);
    while let Some(page) = pages.next().await? {
        page.rows.iter().try_for_each(&mut take)?;
    }
    Ok(())
}

/// Calls a function with each row of a query, as [`each_row`] does. Also stops at a row that the store cannot represent if `is_needed` returns `true` for its
/// key. Returns the number of rows whose keys the store does not return. Any of these may be needed, too.
///
/// # Errors
/// The error of a read of that row, with its key; any error from the function or the store.
pub(crate) async fn every_row<S: TableStore>(
    store: &S,
    table: &TableName,
    query: &Query,
    is_needed: impl Fn(&EntityKey) -> bool + Send,
    mut take: impl FnMut(EntityRef<'_>) -> Result<()> + Send,
) -> Result<u64> {
    let (mut pages, mut skipped) = (Pages::new(store, table, query), 0);
    while let Some(WholePage { page, unreadable }) = pages.next_whole().await? {
        page.rows.iter().try_for_each(&mut take)?;
        if let Some(row) = unreadable.into_iter().find(|row| is_needed(&row.key)) {
            return Err(row.into_error(table));
        }
        skipped += page.skipped;
    }
    Ok(skipped)
}
