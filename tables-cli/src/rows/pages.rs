//! The pages of a query.

use table_core::query::KeyRange;
use table_core::{Continuation, DynTableStore, Page, Query, TableName, TableStore};

use crate::failure::Result;
use crate::rate::Rate;
use crate::rows::Selected;

/// The pages of a query, fetched with one request each. Only one page is held in memory at a time.
#[derive(Debug)]
pub struct Pages<'a> {
    store: &'a DynTableStore,
    table: &'a TableName,
    selected: Box<Selected>,
    request: Box<Query>,
    from: Option<Continuation>,
    is_over: bool,
    is_optional: bool,
    rate: Option<Rate>,
    omitted: u64,
}

impl<'a> Pages<'a> {
    /// Creates a reader of the selected rows that starts with the first page.
    #[must_use]
    pub fn new(store: &'a DynTableStore, table: &'a TableName, selected: impl Into<Selected>) -> Self {
        let selected = Box::new(selected.into());
        let request = Box::new(selected.request());
        Self {
            store,
            table,
            request,
            selected,
            from: None,
            is_over: false,
            is_optional: false,
            rate: None,
            omitted: 0,
        }
    }

    /// Makes the reader return no rows if the table does not exist.
    #[must_use]
    pub fn if_exists(self) -> Self {
        Self { is_optional: true, ..self }
    }

    /// Limits the number of rows read per second. All readers with a clone of `rate` share the limit.
    #[must_use]
    pub fn at_rate(self, rate: Option<&Rate>) -> Self {
        Self { rate: rate.cloned(), ..self }
    }

    /// Makes the reader start at a continuation token, or at the first page if `from` is `None`.
    #[must_use]
    pub fn behind(self, from: Option<Continuation>) -> Self {
        Self { from, ..self }
    }

    /// Reads the next page. Returns `None` after the last page. A page can be empty even if more pages follow.
    ///
    /// # Errors
    /// Any error from the store.
    pub async fn next(&mut self) -> Result<Option<Page>> {
        if self.is_over {
            return Ok(None);
        }
        if let Some(rate) = &self.rate {
            rate.ready().await;
        }
        let page = match self.store.query(self.table, &self.request, self.from.as_ref()).await {
            Err(error) if self.is_optional && self.from.is_none() && error.is_table_not_found() => {
                self.is_over = true;
                return Ok(None);
            }
            page => page?,
        };
        if let Some(rate) = &self.rate {
            rate.count(page.rows.len());
        }
        self.from.clone_from(&page.continuation);
        self.is_over = page.continuation.is_none();
        self.omitted += page.skipped;
        Ok(Some(Page { rows: self.selected.of_page(page.rows)?, ..page }))
    }

    /// Returns the number of stored rows that the pages read so far omit, because the store cannot represent them as entities.
    #[must_use]
    pub const fn omitted(&self) -> u64 {
        self.omitted
    }

    /// Returns `true` if the store returns rows in key order.
    #[must_use]
    pub fn is_ordered(&self) -> bool {
        self.store.capabilities().ordered
    }

    /// Returns the continuation token for the next page.
    #[must_use]
    pub const fn continuation(&self) -> Option<&Continuation> {
        self.from.as_ref()
    }
}

/// Reads one row of a table, to find out whether the table exists.
///
/// # Errors
/// Any error from the store, such as `TableNotFound`.
pub async fn require(store: &DynTableStore, table: &TableName) -> Result<()> {
    let first = Query { top: Some(1), ..Query::new(KeyRange::ALL) };
    Pages::new(store, table, first).next().await.map(drop)
}

/// Returns `true` if a table has no rows or does not exist. Rows that the store omits count as rows.
///
/// # Errors
/// Any error from the store.
pub async fn is_empty(store: &DynTableStore, table: &TableName) -> Result<bool> {
    let first = Query { top: Some(1), ..Query::new(KeyRange::ALL) };
    let mut pages = Pages::new(store, table, first).if_exists();
    while let Some(page) = pages.next().await? {
        if !page.rows.is_empty() || page.skipped > 0 {
            return Ok(false);
        }
    }
    Ok(true)
}
