//! Limits a store to the tables whose names have a given prefix. All tables that an example has created in an account can then be deleted together.

use std::any::Any;
use std::fmt;

use table_core::query::Select;
use table_core::store::{Capabilities, Committed, StoredRow, TablePage};
use table_core::{Continuation, EntityKey, Page, Query, Result, TableName, TableStore, Transaction};

/// A view of a store, limited to the tables whose names start with a prefix. In the view, table names omit the prefix. Errors contain the full names.
#[derive(Clone, Debug)]
pub struct Prefixed<S> {
    store: S,
    prefix: String,
}

impl<S> Prefixed<S> {
    /// Wraps a store. The prefix must consist of letters and digits and start with a letter.
    pub fn new(store: S, prefix: impl Into<String>) -> Self {
        Self { store, prefix: prefix.into() }
    }

    fn full(&self, table: &TableName) -> Result<TableName> {
        TableName::new(&format!("{}{table}", self.prefix))
    }
}

/// Converts the continuation token of a query for use with a table with a different name (PAGE-9).
fn moved(place: &Continuation, query: &Query, from: &TableName, to: &TableName) -> Result<Continuation> {
    match place.service_position(from, query) {
        Ok(position) => Ok(Continuation::of_service(to, query, position.clone())),
        Err(_) => Ok(Continuation::new(to, query, place.position(from, query)?.clone())),
    }
}

impl<S: fmt::Display> fmt::Display for Prefixed<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, tables {}…", self.store, self.prefix)
    }
}

impl<S: TableStore> TableStore for Prefixed<S> {
    fn capabilities(&self) -> &Capabilities {
        self.store.capabilities()
    }

    fn attached(&self) -> Option<&(dyn Any + Send + Sync)> {
        self.store.attached()
    }

    async fn create_table(&self, table: &TableName) -> Result<()> {
        self.store.create_table(&self.full(table)?).await
    }

    async fn delete_table(&self, table: &TableName) -> Result<()> {
        self.store.delete_table(&self.full(table)?).await
    }

    async fn list_tables(&self, prefix: &str, from: Option<&str>, top: usize) -> Result<TablePage> {
        let page = self.store.list_tables(&format!("{}{prefix}", self.prefix), from, top).await?;
        // Table names, including the prefix, are case-insensitive, so only the length of the prefix matters.
        let own =
            |full: &TableName| TableName::new(full.as_str().get(self.prefix.len()..).unwrap_or_default());
        // The token for the next page is opaque and is returned unchanged.
        Ok(TablePage { names: page.names.iter().map(own).collect::<Result<_>>()?, next: page.next })
    }

    async fn get(&self, table: &TableName, key: &EntityKey, select: &Select) -> Result<Option<StoredRow>> {
        self.store.get(&self.full(table)?, key, select).await
    }

    async fn query(&self, table: &TableName, query: &Query, from: Option<&Continuation>) -> Result<Page> {
        let full = self.full(table)?;
        let from = from.map(|from| moved(from, query, table, &full)).transpose()?;
        let mut page = self.store.query(&full, query, from.as_ref()).await?;
        page.continuation = page.continuation.map(|next| moved(&next, query, &full, table)).transpose()?;
        Ok(page)
    }

    async fn submit(&self, table: &TableName, transaction: Transaction) -> Result<Committed> {
        self.store.submit(&self.full(table)?, transaction).await
    }
}
