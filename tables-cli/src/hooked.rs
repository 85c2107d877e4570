//! A store for tests that runs test code before and after requests, such as concurrent writes by another program.

use std::fmt;
use std::sync::Arc;

use table_core::query::{Continuation, Page, Query, Rows, Select};
use table_core::store::{Capabilities, Committed, StoredRow, TablePage};
use table_core::{Engine, EntityKey, Error, ErrorCode, Result, TableName, TableStore, Transaction};

/// Test code run by a [`Hooked`] store. An error returned by a hook fails the request.
pub(crate) trait Hooks: fmt::Debug + Send + Sync + 'static {
    /// Returns the engine that contains the tables.
    fn engine(&self) -> &Engine;

    /// Returns the capabilities reported by the store.
    fn capabilities(&self) -> &Capabilities {
        self.engine().capabilities()
    }

    /// Returns the maximum number of rows in a page, or `None` if the query determines it.
    fn page_rows(&self) -> Option<usize> {
        None
    }

    /// Returns the error code of reads of a stored row that the store cannot represent as an entity. Pages omit such a row.
    fn unreadable(&self, _table: &TableName, _key: &EntityKey) -> Option<ErrorCode> {
        None
    }

    /// Runs before an entity is read.
    fn before_get(&self, _table: &TableName) -> impl Future<Output = Result<()>> + Send {
        std::future::ready(Ok(()))
    }

    /// Runs before a page is read.
    fn before_query(&self, _table: &TableName) -> impl Future<Output = Result<()>> + Send {
        std::future::ready(Ok(()))
    }

    /// Runs after a page is read.
    fn after_query(&self, _table: &TableName, _page: &Page) -> impl Future<Output = Result<()>> + Send {
        std::future::ready(Ok(()))
    }

    /// Runs before a transaction is committed.
    fn before_submit(
        &self,
        _table: &TableName,
        _transaction: &Transaction,
    ) -> impl Future<Output = Result<()>> + Send {
        std::future::ready(Ok(()))
    }
}

/// An engine-backed store that calls a test's hooks.
#[derive(Debug)]
pub(crate) struct Hooked<H>(pub(crate) Arc<H>);

impl<H> fmt::Display for Hooked<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a store with hooks")
    }
}

impl<H: Hooks> TableStore for Hooked<H> {
    fn capabilities(&self) -> &Capabilities {
        self.0.capabilities()
    }

    async fn create_table(&self, table: &TableName) -> Result<()> {
        self.0.engine().create_table(table).await
    }

    async fn delete_table(&self, table: &TableName) -> Result<()> {
        self.0.engine().delete_table(table).await
    }

    async fn list_tables(&self, prefix: &str, from: Option<&str>, top: usize) -> Result<TablePage> {
        self.0.engine().list_tables(prefix, from, top).await
    }

    async fn get(&self, table: &TableName, key: &EntityKey, select: &Select) -> Result<Option<StoredRow>> {
        self.0.before_get(table).await?;
        let found = self.0.engine().get(table, key, select).await?;
        match self.0.unreadable(table, key).filter(|_| found.is_some()) {
            Some(code) => Err(Error::new(code, "the stored row is not a valid entity")),
            None => Ok(found),
        }
    }

    async fn query(&self, table: &TableName, query: &Query, from: Option<&Continuation>) -> Result<Page> {
        self.0.before_query(table).await?;
        let query = Query { top: self.0.page_rows().or(query.top), ..query.clone() };
        let page = self.0.engine().query(table, &query, from).await?;
        self.0.after_query(table, &page).await?;
        let (mut rows, mut skipped) = (Rows::default(), page.skipped);
        for row in page.rows.iter() {
            let key = EntityKey::new(row.partition_key, row.row_key)?;
            if self.0.unreadable(table, &key).is_some() {
                skipped += 1;
            } else {
                rows.push(row.partition_key, row.row_key, row.row, Some(row.etag()));
            }
        }
        Ok(Page { rows, skipped, ..page })
    }

    async fn submit(&self, table: &TableName, transaction: Transaction) -> Result<Committed> {
        self.0.before_submit(table, &transaction).await?;
        self.0.engine().submit(table, transaction).await
    }
}
