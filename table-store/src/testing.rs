//! A store wrapper for tests. It reports different capabilities than the wrapped store.

use std::any::Any;
use std::fmt;

use crate::error::Result;
use crate::fnv;
use crate::key::EntityKey;
use crate::name::TableName;
use crate::operation::OperationKind;
use crate::query::{Continuation, EntityRef, Page, Position, Query, Rows, Select};
use crate::store::{Capabilities, Committed, StoredRow, TablePage, TableStore};
use crate::transaction::Transaction;

/// A store wrapper with altered capabilities. It can also return rows out of key order, like Cosmos DB for Table (COS-1, ENG-21).
///
/// If the capabilities exclude checks, a transaction with a check is rejected. All other capabilities are reported, but not enforced.
///
/// ```
/// use table_core::testing::LimitedStore;
/// use table_core::{Engine, TableStore};
///
/// let shared = LimitedStore::new(Engine::in_memory(), |capabilities| capabilities.exclusive = None);
/// assert!(shared.capabilities().exclusive.is_none());
/// let unordered = LimitedStore::new(Engine::in_memory(), |capabilities| capabilities.ordered = false).shuffled(7);
/// assert!(!unordered.capabilities().ordered);
/// ```
#[derive(Clone, Debug)]
pub struct LimitedStore<S> {
    store: S,
    capabilities: Capabilities,
    /// The page size if rows are shuffled, or `None` if they are returned in the wrapped store's order.
    shuffled: Option<usize>,
}

impl<S: TableStore> LimitedStore<S> {
    /// Wraps a store and applies `change` to its reported capabilities.
    pub fn new(store: S, change: impl FnOnce(&mut Capabilities)) -> Self {
        let mut capabilities = store.capabilities().clone();
        change(&mut capabilities);
        Self { store, capabilities, shuffled: None }
    }

    /// Makes the store return rows sorted by the hashes of their keys, in pages of at most `page_rows` rows.
    #[must_use]
    pub fn shuffled(self, page_rows: usize) -> Self {
        Self { shuffled: Some(page_rows), ..self }
    }

    /// Runs the query to its end, sorts the rows by key hash, and returns one page of them.
    async fn shuffled_page(
        &self,
        table: &TableName,
        query: &Query,
        from: Option<&Continuation>,
        page_rows: usize,
    ) -> Result<Page> {
        let last: Option<u64> = match from {
            Some(from) => from.service_position(table, query)?.partition_key.parse().ok(),
            None => None,
        };
        let unlimited = Query { top: None, ..query.clone() };
        let (mut pages, mut next, mut skipped) = (Vec::new(), None, 0);
        loop {
            let page = self.store.query(table, &unlimited, next.as_ref()).await?;
            next.clone_from(&page.continuation);
            skipped += page.skipped;
            pages.push(page);
            if next.is_none() {
                break;
            }
        }
        let mut all: Vec<_> = pages.iter().flat_map(|page| page.rows.iter()).collect();
        all.retain(|row| last.is_none_or(|last| hash(row) > last));
        all.sort_by_cached_key(hash);
        let most = query.top.unwrap_or(page_rows).min(page_rows);
        let has_more = all.len() > most;
        all.truncate(most);
        let mut rows = Rows::default();
        for row in &all {
            rows.push(row.partition_key, row.row_key, row.row, Some(row.etag()));
        }
        let position = all.last().filter(|_| has_more).map(|row| hash(row).to_string());
        let continuation = position.map(|partition_key| {
            Continuation::of_service(table, query, Position { partition_key, row_key: None })
        });
        Ok(Page { rows, continuation, rows_read: None, skipped })
    }
}

/// Returns a hash of a row's keys. If keys differ only in their last character, their FNV hashes sort next to each other, so the hash is mixed further.
fn hash(row: &EntityRef<'_>) -> u64 {
    let hash = fnv::fnv1a64(format!("{}/{}", row.partition_key, row.row_key).as_bytes());
    let hash = (hash ^ (hash >> 33)).wrapping_mul(0xFF51_AFD7_ED55_8CCD);
    (hash ^ (hash >> 33)).wrapping_mul(0xC4CE_B9FE_1A85_EC53)
}

impl<S: fmt::Display> fmt::Display for LimitedStore<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} with limited capabilities", self.store)
    }
}

impl<S: TableStore> TableStore for LimitedStore<S> {
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
        self.store.get(table, key, select).await
    }

    async fn query(&self, table: &TableName, query: &Query, from: Option<&Continuation>) -> Result<Page> {
        match self.shuffled {
            Some(page_rows) => self.shuffled_page(table, query, from, page_rows).await,
            None => self.store.query(table, query, from).await,
        }
    }

    async fn submit(&self, table: &TableName, transaction: Transaction) -> Result<Committed> {
        if !self.capabilities.checks {
            for operation in transaction.operations() {
                if let OperationKind::Check(state) = &operation.kind {
                    return Err(state.unsupported());
                }
            }
        }
        self.store.submit(table, transaction).await
    }
}
