//! A store that returns rows in arbitrary order and has no checks, like Cosmos DB for Table (COS-1, ENG-21).

use std::collections::hash_map::DefaultHasher;
use std::fmt;
use std::hash::{Hash, Hasher};

use table_core::embedded::Engine;
use table_core::error::Result;
use table_core::key::EntityKey;
use table_core::name::TableName;
use table_core::operation::OperationKind;
use table_core::query::{Continuation, Page, Position, Query, Rows, Select};
use table_core::store::{Capabilities, Committed, StoredRow, TablePage, TableStore};
use table_core::transaction::Transaction;

/// An engine whose pages are ordered by the keys' hashes, and which refuses checks.
#[derive(Clone, Debug)]
pub(crate) struct Unordered {
    engine: Engine,
    capabilities: Capabilities,
}

impl Unordered {
    pub(crate) fn new() -> Self {
        let engine = Engine::in_memory();
        let mut capabilities = engine.capabilities().clone();
        (capabilities.ordered, capabilities.checks) = (false, false);
        Self { engine, capabilities }
    }
}

impl fmt::Display for Unordered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an unordered store")
    }
}

impl TableStore for Unordered {
    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    async fn create_table(&self, table: &TableName) -> Result<()> {
        self.engine.create_table(table).await
    }

    async fn delete_table(&self, table: &TableName) -> Result<()> {
        self.engine.delete_table(table).await
    }

    async fn list_tables(&self, prefix: &str, from: Option<&str>, top: usize) -> Result<TablePage> {
        self.engine.list_tables(prefix, from, top).await
    }

    async fn get(&self, table: &TableName, key: &EntityKey, select: &Select) -> Result<Option<StoredRow>> {
        self.engine.get(table, key, select).await
    }

    async fn query(&self, table: &TableName, query: &Query, from: Option<&Continuation>) -> Result<Page> {
        let at = match from {
            Some(from) => from.service_position(table, query)?.partition_key.parse().unwrap(),
            None => 0,
        };
        let (mut pages, mut next) = (Vec::new(), None);
        loop {
            let page = self.engine.query(table, &Query { top: None, ..query.clone() }, next.as_ref()).await?;
            next = page.continuation.clone();
            pages.push(page);
            if next.is_none() {
                break;
            }
        }
        let mut all: Vec<_> = pages.iter().flat_map(|page| page.rows.iter()).collect();
        all.sort_by_key(|row| {
            let mut hasher = DefaultHasher::new();
            (row.partition_key, row.row_key).hash(&mut hasher);
            hasher.finish()
        });
        let top = query.top.unwrap_or(1_000);
        let mut rows = Rows::default();
        for row in all.iter().skip(at).take(top) {
            rows.push(row.partition_key, row.row_key, row.row, Some(row.etag()));
        }
        let position = Position { partition_key: (at + top).to_string(), row_key: None };
        let continuation = (at + top < all.len()).then(|| Continuation::of_service(table, query, position));
        Ok(Page { rows, continuation, rows_read: None })
    }

    async fn submit(&self, table: &TableName, transaction: Transaction) -> Result<Committed> {
        for operation in transaction.operations() {
            if let OperationKind::Check(state) = &operation.kind {
                return Err(state.unsupported());
            }
        }
        self.engine.submit(table, transaction).await
    }
}
