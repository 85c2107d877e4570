//! A store for tests that returns rows in arbitrary order, like both services of Cosmos DB.

use std::collections::hash_map::DefaultHasher;
use std::fmt;
use std::hash::{Hash, Hasher};

use table_core::query::{Continuation, Page, Position, Query, Rows, Select};
use table_core::store::{Capabilities, Committed, StoredRow, TablePage};
use table_core::{Engine, EntityKey, Result, TableName, TableStore, Transaction};

/// An engine in memory that returns rows in the order of their keys' hashes, in pages of seven. Its capabilities say so, unless it is created to lie.
#[derive(Debug)]
pub(crate) struct Shuffled {
    engine: Engine,
    capabilities: Capabilities,
}

impl Shuffled {
    pub(crate) fn new(says_so: bool) -> Self {
        let engine = Engine::in_memory();
        let mut capabilities = engine.capabilities().clone();
        capabilities.ordered = !says_so;
        Self { engine, capabilities }
    }
}

impl fmt::Display for Shuffled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a shuffled store")
    }
}

impl TableStore for Shuffled {
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
            Some(from) => from.service_position(table, query)?.partition_key.parse().unwrap_or(0),
            None => 0,
        };
        let all = self.engine.query(table, &Query { top: None, ..query.clone() }, None).await?;
        let mut shuffled: Vec<_> = all.rows.iter().collect();
        shuffled.sort_by_key(|row| {
            let mut hasher = DefaultHasher::new();
            (row.partition_key, row.row_key).hash(&mut hasher);
            hasher.finish()
        });
        let mut rows = Rows::default();
        for row in shuffled.iter().skip(at).take(7) {
            rows.push(row.partition_key, row.row_key, row.row, Some(row.etag()));
        }
        let position = Position { partition_key: (at + 7).to_string(), row_key: None };
        let continuation =
            (at + 7 < shuffled.len()).then(|| Continuation::of_service(table, query, position));
        Ok(Page { rows, continuation, rows_read: None })
    }

    async fn submit(&self, table: &TableName, transaction: Transaction) -> Result<Committed> {
        self.engine.submit(table, transaction).await
    }
}
