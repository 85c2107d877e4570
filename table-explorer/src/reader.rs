//! Counted reads: each page reports how many requests it sent and how many rows they read.

use std::sync::atomic::{AtomicU64, Ordering};

use table_core::query::{EntityRef, Select};
use table_core::{
    Continuation, DynTableStore, EntityKey, FromEntity, Query, TableEntity, TableName, TableStore,
};

use crate::failure::Result;

/// The reads of one page.
#[derive(Debug)]
pub(crate) struct Reader<'a> {
    store: &'a DynTableStore,
    requests: AtomicU64,
    rows: AtomicU64,
}

/// One page of rows, and its cost.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) rows: Vec<TableEntity>,
    pub(crate) next: Option<Continuation>,
    /// The number of rows that the store read.
    pub(crate) read: u64,
}

/// The cost of a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cost {
    pub(crate) requests: u64,
    pub(crate) rows: u64,
}

impl<'a> Reader<'a> {
    pub(crate) const fn new(store: &'a DynTableStore) -> Self {
        Self { store, requests: AtomicU64::new(0), rows: AtomicU64::new(0) }
    }

    pub(crate) fn cost(&self) -> Cost {
        Cost { requests: self.requests.load(Ordering::Relaxed), rows: self.rows.load(Ordering::Relaxed) }
    }

    /// Reads one page of a query with one request.
    pub(crate) async fn page(
        &self,
        table: &TableName,
        query: &Query,
        from: Option<&Continuation>,
    ) -> Result<Found> {
        self.requests.fetch_add(1, Ordering::Relaxed);
        let page = self.store.query(table, query, from).await?;
        let rows = page.rows.iter().map(TableEntity::from_entity).collect::<table_core::Result<Vec<_>>>()?;
        let read = page.rows_read.unwrap_or(rows.len() as u64);
        self.rows.fetch_add(read, Ordering::Relaxed);
        Ok(Found { rows, next: page.continuation, read })
    }

    /// Reads one entity with one request.
    pub(crate) async fn get(&self, table: &TableName, key: &EntityKey) -> Result<Option<TableEntity>> {
        self.requests.fetch_add(1, Ordering::Relaxed);
        let Some(found) = self.store.get(table, key, &Select::All).await? else { return Ok(None) };
        self.rows.fetch_add(1, Ordering::Relaxed);
        let row = EntityRef::new(key.partition_key.as_str(), key.row_key.as_str(), found.row.view());
        Ok(Some(TableEntity::from_entity(row.with_etag(&found.etag))?))
    }
}
