//! A store for tests. It counts the requests that pages send, and it can make requests fail.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use table_core::query::{Rows, Select};
use table_core::store::{Capabilities, Committed, StoredRow, TablePage};
use table_core::{
    Continuation, Engine, EntityKey, Error, ErrorCode, Page, Query, Result, TableName, TableStore,
    Transaction,
};

/// A store that counts requests and the rows that they read.
#[derive(Clone, Debug)]
pub(crate) struct Counting {
    engine: Engine,
    capabilities: Capabilities,
    requests: Arc<AtomicU64>,
    rows: Arc<AtomicU64>,
    fails: Arc<AtomicBool>,
    fails_reads: Arc<AtomicBool>,
    empty: Arc<AtomicU64>,
    omitted: Arc<AtomicU64>,
    writes: Arc<AtomicU64>,
    holds: Arc<AtomicBool>,
}

impl Counting {
    pub(crate) fn new(engine: &Engine) -> Self {
        Self {
            engine: engine.clone(),
            capabilities: engine.capabilities().clone(),
            requests: Arc::default(),
            rows: Arc::default(),
            fails: Arc::default(),
            fails_reads: Arc::default(),
            empty: Arc::default(),
            omitted: Arc::default(),
            writes: Arc::default(),
            holds: Arc::default(),
        }
    }

    /// Turns the store into an unordered one, which returns the rows of each page in reverse order.
    #[allow(dead_code, reason = "the large tables are in order")]
    pub(crate) fn unordered(mut self) -> Self {
        self.capabilities.ordered = false;
        self
    }

    /// Limits the number of operations in a transaction.
    #[allow(dead_code, reason = "the tests of large tables write no transactions")]
    pub(crate) fn with_operations(mut self, operations: usize) -> Self {
        self.capabilities.limits.operations = operations;
        self
    }

    /// Makes all later requests for the second page of a query fail, and loses the responses to all later writes.
    #[allow(dead_code, reason = "the tests of large tables do not let it fail")]
    pub(crate) fn fail(&self) {
        self.fails.store(true, Ordering::SeqCst);
    }

    /// Makes the given number of following queries return empty pages, like a store that has searched many rows without finding a match.
    #[allow(dead_code, reason = "the tests of large tables have no empty pages")]
    pub(crate) fn answer_empty(&self, queries: u64) {
        self.empty.store(queries, Ordering::SeqCst);
    }

    /// Makes each later page of rows omit the given number of rows, like a store that cannot represent them.
    #[allow(dead_code, reason = "the large tables have no such rows")]
    pub(crate) fn omit(&self, rows: u64) {
        self.omitted.store(rows, Ordering::SeqCst);
    }

    /// If `holds` is `true`, makes all writes wait until this function is called with `false`.
    #[allow(dead_code, reason = "the tests of large tables do not wait")]
    pub(crate) fn hold(&self, holds: bool) {
        self.holds.store(holds, Ordering::SeqCst);
    }

    /// Returns the number of writes that have begun.
    #[allow(dead_code, reason = "the tests of large tables count no writes")]
    pub(crate) fn writes(&self) -> u64 {
        self.writes.load(Ordering::SeqCst)
    }

    /// Makes all later reads fail.
    #[allow(dead_code, reason = "the tests of large tables do not let it fail")]
    pub(crate) fn fail_reads(&self) {
        self.fails_reads.store(true, Ordering::SeqCst);
    }

    fn answer_read(&self) -> Result<()> {
        let lost = || Err(Error::new(ErrorCode::OperationTimedOut, "the answer is lost"));
        if self.fails_reads.load(Ordering::SeqCst) { lost() } else { Ok(()) }
    }

    fn answer(&self) -> Result<()> {
        let lost = || Err(Error::new(ErrorCode::OperationTimedOut, "the answer is lost"));
        if self.fails.load(Ordering::SeqCst) { lost() } else { Ok(()) }
    }

    /// Returns the number of requests and the number of rows since the last call.
    pub(crate) fn take(&self) -> (u64, u64) {
        (self.requests.swap(0, Ordering::SeqCst), self.rows.swap(0, Ordering::SeqCst))
    }
}

impl fmt::Display for Counting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.engine.fmt(f)
    }
}

impl TableStore for Counting {
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
        self.requests.fetch_add(1, Ordering::SeqCst);
        self.engine.list_tables(prefix, from, top).await
    }

    async fn get(&self, table: &TableName, key: &EntityKey, select: &Select) -> Result<Option<StoredRow>> {
        self.requests.fetch_add(1, Ordering::SeqCst);
        self.rows.fetch_add(1, Ordering::SeqCst);
        self.answer_read()?;
        self.engine.get(table, key, select).await
    }

    async fn query(&self, table: &TableName, query: &Query, from: Option<&Continuation>) -> Result<Page> {
        self.requests.fetch_add(1, Ordering::SeqCst);
        self.answer_read()?;
        if from.is_some() {
            self.answer()?;
        }
        let start = Continuation::start(table, query);
        let left = self.empty.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
        if left.is_ok() {
            return Ok(Page { continuation: Some(from.cloned().unwrap_or(start)), ..Page::default() });
        }
        let page = self.engine.query(table, query, from.filter(|from| **from != start)).await?;
        let page = Page { skipped: self.omitted.load(Ordering::SeqCst), ..page };
        self.rows.fetch_add(page.rows_read.unwrap_or(0), Ordering::SeqCst);
        if self.capabilities.ordered {
            return Ok(page);
        }
        let mut rows = Rows::with_capacity(page.rows.len(), 0);
        let all: Vec<_> = page.rows.iter().collect();
        for row in all.into_iter().rev() {
            rows.push(row.partition_key, row.row_key, row.row, Some(row.etag()));
        }
        Ok(Page { rows, ..page })
    }

    async fn submit(&self, table: &TableName, transaction: Transaction) -> Result<Committed> {
        self.requests.fetch_add(1, Ordering::SeqCst);
        self.writes.fetch_add(1, Ordering::SeqCst);
        while self.holds.load(Ordering::SeqCst) {
            tokio::task::yield_now().await;
        }
        let committed = self.engine.submit(table, transaction).await?;
        self.answer().map(|()| committed)
    }
}
