//! What a recipe costs, measured: a store that counts what passes through it.

use std::fmt;
use std::ops::Sub;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use table_core::error::Result;
use table_core::query::Select;
use table_core::store::{Capabilities, Committed, StoredRow, TablePage};
use table_core::{Continuation, EntityKey, Page, Query, TableName, TableStore, Transaction};

/// What passed through a [`Metered`] store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Calls of the store: each would be one round trip to a service.
    pub requests: u64,
    /// Entities that the store looked at, those that a filter refused included, as far as it tells.
    pub rows_read: u64,
    /// Pages of which the store did not tell how many it looked at: of these [`rows_read`](Self::rows_read) has what came back.
    pub untold: u64,
    /// Entities that came back.
    pub rows_returned: u64,
    /// Operations sent in transactions.
    pub writes: u64,
}

impl Sub for Cost {
    type Output = Self;

    fn sub(self, earlier: Self) -> Self {
        Self {
            requests: self.requests - earlier.requests,
            rows_read: self.rows_read - earlier.rows_read,
            untold: self.untold - earlier.untold,
            rows_returned: self.rows_returned - earlier.rows_returned,
            writes: self.writes - earlier.writes,
        }
    }
}

impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counted = |n: u64, one: &str, many: &str| format!("{n} {}", if n == 1 { one } else { many });
        write!(
            f,
            "{}, {}{} read, {} returned",
            counted(self.requests, "request", "requests"),
            if self.untold > 0 { "at least " } else { "" },
            counted(self.rows_read, "row", "rows"),
            self.rows_returned
        )?;
        if self.writes > 0 {
            write!(f, ", {} written", self.writes)?;
        }
        Ok(())
    }
}

#[derive(Debug, Default)]
struct Counters {
    requests: AtomicU64,
    rows_read: AtomicU64,
    untold: AtomicU64,
    rows_returned: AtomicU64,
    writes: AtomicU64,
    nanoseconds: AtomicU64,
}

/// A store that counts requests and rows and passes every call on. Clones share one count.
#[derive(Clone, Debug)]
pub struct Metered<S> {
    store: S,
    counters: Arc<Counters>,
}

impl<S> Metered<S> {
    /// Counts what passes to this store.
    pub fn new(store: S) -> Self {
        Self { store, counters: Arc::default() }
    }

    /// The store without the meter.
    pub const fn unmetered(&self) -> &S {
        &self.store
    }

    /// What has passed so far; subtract an earlier reading for the cost of what lies between.
    pub fn cost(&self) -> Cost {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Cost {
            requests: read(&self.counters.requests),
            rows_read: read(&self.counters.rows_read),
            untold: read(&self.counters.untold),
            rows_returned: read(&self.counters.rows_returned),
            writes: read(&self.counters.writes),
        }
    }

    /// The time spent in the store so far. Of calls that overlap each is counted whole.
    pub fn time(&self) -> Duration {
        Duration::from_nanos(self.counters.nanoseconds.load(Ordering::Relaxed))
    }

    async fn timed<T>(&self, call: impl Future<Output = T>) -> T {
        let began = Instant::now();
        let answer = call.await;
        let took = u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.counters.nanoseconds.fetch_add(took, Ordering::Relaxed);
        answer
    }

    fn count(&self, rows_read: u64, rows_returned: u64, writes: usize) {
        let add = |counter: &AtomicU64, n| counter.fetch_add(n, Ordering::Relaxed);
        add(&self.counters.requests, 1);
        add(&self.counters.rows_read, rows_read);
        add(&self.counters.rows_returned, rows_returned);
        add(&self.counters.writes, writes as u64);
    }
}

impl<S: fmt::Display> fmt::Display for Metered<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.store.fmt(f)
    }
}

impl<S: TableStore> TableStore for Metered<S> {
    fn capabilities(&self) -> &Capabilities {
        self.store.capabilities()
    }

    async fn create_table(&self, table: &TableName) -> Result<()> {
        self.count(0, 0, 0);
        self.timed(self.store.create_table(table)).await
    }

    async fn delete_table(&self, table: &TableName) -> Result<()> {
        self.count(0, 0, 0);
        self.timed(self.store.delete_table(table)).await
    }

    async fn list_tables(&self, prefix: &str, from: Option<&str>, top: usize) -> Result<TablePage> {
        self.count(0, 0, 0);
        self.timed(self.store.list_tables(prefix, from, top)).await
    }

    async fn get(&self, table: &TableName, key: &EntityKey, select: &Select) -> Result<Option<StoredRow>> {
        let found = self.timed(self.store.get(table, key, select)).await?;
        let rows = u64::from(found.is_some());
        self.count(rows, rows, 0);
        Ok(found)
    }

    async fn query(&self, table: &TableName, query: &Query, from: Option<&Continuation>) -> Result<Page> {
        let page = self.timed(self.store.query(table, query, from)).await?;
        let returned = page.rows.len() as u64;
        self.counters.untold.fetch_add(u64::from(page.rows_read.is_none()), Ordering::Relaxed);
        self.count(page.rows_read.unwrap_or(returned), returned, 0);
        Ok(page)
    }

    async fn submit(&self, table: &TableName, transaction: Transaction) -> Result<Committed> {
        self.count(0, 0, transaction.operations().len());
        self.timed(self.store.submit(table, transaction)).await
    }
}

#[cfg(test)]
mod tests {
    use table_core::TableStoreExt;

    use super::*;
    use crate::model::company::{Employee, employees};
    use crate::store;

    #[test]
    fn what_passes_is_counted_and_what_goes_around_is_not() {
        pollster::block_on(async {
            let store = store::in_memory();
            let table = store.unmetered().table::<Employee>().create_if_missing().await.unwrap();
            table.bulk().insert_all(employees()).await.unwrap();
            assert_eq!(store.cost(), Cost::default());

            let table = store.table::<Employee>();
            table.get(Employee::key("Sales", 223)).await.unwrap();
            table.get(Employee::key("Sales", 224)).await.unwrap();
            let before = store.cost();
            assert_eq!(before, Cost { requests: 2, rows_read: 1, rows_returned: 1, ..Cost::default() });

            let young = table.query(Employee::partition("Sales")).filter(Employee::AGE.lt(30));
            assert_eq!(young.collect().await.unwrap().len(), 1);
            assert_eq!(
                store.cost() - before,
                Cost { requests: 1, rows_read: 5, rows_returned: 1, ..Cost::default() }
            );

            let before = store.cost();
            table.patch(Employee::key("Sales", 223)).set(Employee::AGE, 33).send().await.unwrap();
            let cost = store.cost() - before;
            assert_eq!(cost.to_string(), "1 request, 0 rows read, 0 returned, 1 written");
            let untold = Cost { untold: 1, ..before };
            assert_eq!(untold.to_string(), "3 requests, at least 6 rows read, 2 returned");
        });
    }
}
