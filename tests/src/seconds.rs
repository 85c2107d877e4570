//! A store whose Timestamps have a resolution of one second, as on Cosmos DB for NoSQL.

use std::any::Any;
use std::fmt;

use table_core::query::{Continuation, Page, Query, Rows, Select};
use table_core::store::{Capabilities, Committed, StoredRow, TablePage};
use table_core::{EntityKey, Result, TableName, TableStore, Transaction};

/// The number of ticks in a second.
const SECOND: u64 = 10_000_000;

/// A wrapper for a store. It truncates Timestamps to seconds, and reports this resolution in its capabilities.
#[derive(Clone)]
pub struct Seconds<S> {
    store: S,
    capabilities: Capabilities,
}

impl<S: TableStore> Seconds<S> {
    /// Wraps a store. The `ETag`s of the store remain unchanged.
    pub fn new(store: S) -> Self {
        let mut capabilities = store.capabilities().clone();
        capabilities.timestamp_step = SECOND;
        Self { store, capabilities }
    }
}

impl<S: fmt::Debug> fmt::Debug for Seconds<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Seconds").field(&self.store).finish()
    }
}

impl<S: fmt::Display> fmt::Display for Seconds<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} in whole seconds", self.store)
    }
}

const fn whole(ticks: u64) -> u64 {
    ticks - ticks % SECOND
}

impl<S: TableStore> TableStore for Seconds<S> {
    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn attached(&self) -> Option<&(dyn Any + Send + Sync)> {
        self.store.attached()
    }

    async fn create_table(&self, table: &TableName) -> Result<()> {
        self.store.create_table(table).await
    }

    async fn delete_table(&self, table: &TableName) -> Result<()> {
        self.store.delete_table(table).await
    }

    async fn list_tables(&self, prefix: &str, from: Option<&str>, top: usize) -> Result<TablePage> {
        self.store.list_tables(prefix, from, top).await
    }

    async fn get(&self, table: &TableName, key: &EntityKey, select: &Select) -> Result<Option<StoredRow>> {
        let found = self.store.get(table, key, select).await?;
        Ok(found.map(|StoredRow { row, etag }| {
            let second = whole(row.view().timestamp());
            StoredRow { row: row.with_timestamp(second), etag }
        }))
    }

    async fn query(&self, table: &TableName, query: &Query, from: Option<&Continuation>) -> Result<Page> {
        let page = self.store.query(table, query, from).await?;
        let mut rows = Rows::with_capacity(page.rows.len(), 0);
        for entity in page.rows.iter() {
            let row = entity.row.to_row().with_timestamp(whole(entity.row.timestamp()));
            rows.push(entity.partition_key, entity.row_key, row.view(), Some(entity.etag()));
        }
        Ok(Page { rows, ..page })
    }

    async fn submit(&self, table: &TableName, transaction: Transaction) -> Result<Committed> {
        self.store.submit(table, transaction).await
    }
}
