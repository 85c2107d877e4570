//! A store wrapper that counts requests by partition.

use std::any::Any;
use std::fmt;

use table_core::query::Select;
use table_core::store::{Capabilities, Committed, StoredRow, TablePage};
use table_core::{Continuation, EntityKey, Page, Query, Result, TableName, TableStore, Transaction};

use super::PartitionLoad;

/// A store wrapper that records each single-partition request in a [`PartitionLoad`]. With it, a program can display its own load.
///
/// Requests that read several partitions are not recorded, because their load per partition is unknown.
///
/// ```
/// use table_core::{BlockOn, Engine, TableEntity, TableStoreExt};
/// use table_inspect::load::{CountingStore, PartitionLoad};
///
/// # async {
/// let load = PartitionLoad::default();
/// let store = CountingStore::new(Engine::in_memory(), load.clone());
/// let employees = store.untyped("Employee")?.create_if_missing().await?;
/// employees.insert(&TableEntity::new("Sales", "1")?).await?;
/// assert_eq!(load.busiest()[0].partition_key, "Sales");
/// # Ok::<(), table_core::Error>(())
/// # }.block_on().unwrap();
/// ```
#[derive(Clone, Debug)]
pub struct CountingStore<S> {
    store: S,
    load: PartitionLoad,
}

impl<S> CountingStore<S> {
    /// Wraps a store to record its requests in `load`.
    #[must_use]
    pub const fn new(store: S, load: PartitionLoad) -> Self {
        Self { store, load }
    }
}

impl<S: TableStore> fmt::Display for CountingStore<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.store, f)
    }
}

impl<S: TableStore> TableStore for CountingStore<S> {
    fn capabilities(&self) -> &Capabilities {
        self.store.capabilities()
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
        self.load.record(table.folded(), key.partition_key.as_str());
        self.store.get(table, key, select).await
    }

    async fn query(&self, table: &TableName, query: &Query, from: Option<&Continuation>) -> Result<Page> {
        if let Some(partition_key) = query.keys.partition_key.single() {
            self.load.record(table.folded(), partition_key);
        }
        self.store.query(table, query, from).await
    }

    async fn submit(&self, table: &TableName, transaction: Transaction) -> Result<Committed> {
        self.load.record(table.folded(), transaction.partition_key().as_str());
        self.store.submit(table, transaction).await
    }
}
