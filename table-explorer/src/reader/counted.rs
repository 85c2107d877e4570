//! A store wrapper that counts the requests for one page, including those sent by patterns.

use std::any::Any;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use table_core::query::Select;
use table_core::store::{Capabilities, Committed, StoredRow, TablePage};
use table_core::{
    Continuation, DynTableStore, EntityKey, Page, Query, Result, TableName, TableStore, Transaction,
};

use super::Cost;

/// A store wrapper that counts requests, rows read, and rows omitted. Clones share the counts.
#[derive(Clone, Debug)]
pub(crate) struct Counted {
    store: DynTableStore,
    requests: Arc<AtomicU64>,
    rows: Arc<AtomicU64>,
    omitted: Arc<AtomicU64>,
    /// The number of rows omitted from the reads of all pages.
    omitted_in_total: Arc<AtomicU64>,
}

impl Counted {
    /// Wraps a store. The rows that it omits are also added to `omitted_in_total`.
    pub(super) fn new(store: DynTableStore, omitted_in_total: Arc<AtomicU64>) -> Self {
        Self {
            store,
            requests: Arc::default(),
            rows: Arc::default(),
            omitted: Arc::default(),
            omitted_in_total,
        }
    }

    pub(super) fn cost(&self) -> Cost {
        let [requests, rows, omitted] =
            [&self.requests, &self.rows, &self.omitted].map(|count| count.load(Ordering::Relaxed));
        Cost { requests, rows, omitted }
    }

    pub(super) fn count(&self, requests: u64, rows: u64) {
        self.requests.fetch_add(requests, Ordering::Relaxed);
        self.rows.fetch_add(rows, Ordering::Relaxed);
    }
}

impl fmt::Display for Counted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.store, f)
    }
}

impl TableStore for Counted {
    fn capabilities(&self) -> &Capabilities {
        self.store.capabilities()
    }

    fn attached(&self) -> Option<&(dyn Any + Send + Sync)> {
        self.store.attached()
    }

    async fn create_table(&self, table: &TableName) -> Result<()> {
        self.count(1, 0);
        self.store.create_table(table).await
    }

    async fn delete_table(&self, table: &TableName) -> Result<()> {
        self.count(1, 0);
        self.store.delete_table(table).await
    }

    async fn list_tables(&self, prefix: &str, from: Option<&str>, top: usize) -> Result<TablePage> {
        self.count(1, 0);
        self.store.list_tables(prefix, from, top).await
    }

    async fn get(&self, table: &TableName, key: &EntityKey, select: &Select) -> Result<Option<StoredRow>> {
        self.count(1, 0);
        let found = self.store.get(table, key, select).await?;
        self.count(0, u64::from(found.is_some()));
        Ok(found)
    }

    async fn query(&self, table: &TableName, query: &Query, from: Option<&Continuation>) -> Result<Page> {
        self.count(1, 0);
        let page = self.store.query(table, query, from).await?;
        self.count(0, page.rows_read.unwrap_or(page.rows.len() as u64));
        for omitted in [&self.omitted, &self.omitted_in_total] {
            omitted.fetch_add(page.skipped, Ordering::Relaxed);
        }
        Ok(page)
    }

    async fn submit(&self, table: &TableName, transaction: Transaction) -> Result<Committed> {
        self.count(1, 0);
        self.store.submit(table, transaction).await
    }
}
