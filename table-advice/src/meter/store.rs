//! A store wrapper that counts the calls and bytes of each table and partition.

use std::any::Any;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use table_core::Result;
use table_core::key::EntityKey;
use table_core::key::order;
use table_core::name::TableName;
use table_core::query::{Continuation, Page, Query, QueryClass, Select, TextRange};
use table_core::row::entity_bytes;
use table_core::store::{Capabilities, Committed, StoredRow, TablePage, TableStore};
use table_core::transaction::Transaction;

use crate::meter::counts::{Counts, Reading};
use crate::meter::recorded::Recorded;

/// A store wrapper that counts calls and forwards them to the wrapped store. Clones share the same counts.
#[derive(Clone, Debug)]
pub struct Meter<S> {
    store: S,
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    reading: Reading,
    /// The most recent query for a first page. It may be part of a fan-out.
    last: Option<LastQuery>,
    record: Option<Vec<Recorded>>,
}

/// The last query for a first page. It is compared with the next one, to find out whether both belong to the same fan-out.
#[derive(Debug)]
struct LastQuery {
    table: String,
    shape: Query,
    partition_key: String,
    is_fan_out: bool,
}

impl State {
    /// Returns `true` if this query and the previous one start a fan-out. They must be the same query, this one must be for a later partition, and the previous
    /// one must not belong to a fan-out yet.
    fn begins_fan_out(&mut self, table: &TableName, query: &Query) -> bool {
        let Some(partition_key) = query.keys.partition_key.single().map(str::to_owned) else {
            self.last = None;
            return false;
        };
        let mut shape = query.clone();
        shape.keys.partition_key = TextRange::ALL;
        let table = table.as_str().to_owned();
        let of_last = self.last.as_ref().filter(|last| {
            last.table == table
                && last.shape == shape
                && order::compare(&last.partition_key, &partition_key).is_lt()
        });
        let begins = of_last.is_some_and(|last| !last.is_fan_out);
        self.last = Some(LastQuery { is_fan_out: of_last.is_some(), table, shape, partition_key });
        begins
    }
}

impl<S> Meter<S> {
    /// Creates a meter for the given store.
    pub fn new(store: S) -> Self {
        Self { store, state: Arc::default() }
    }

    /// Creates a meter that also [records](Self::take_recorded) every data request. A recorded request uses memory until it is taken.
    pub fn recording(store: S) -> Self {
        let meter = Self::new(store);
        meter.state().record = Some(Vec::new());
        meter
    }

    /// Returns the wrapped store. The meter does not count requests sent to it directly.
    pub const fn unmetered(&self) -> &S {
        &self.store
    }

    /// Returns the counts since the last [`take`](Self::take), without resetting them.
    #[must_use]
    pub fn reading(&self) -> Reading {
        self.state().reading.clone()
    }

    /// Returns the counts since the last call, and resets them.
    pub fn take(&self) -> Reading {
        let mut state = self.state();
        state.last = None;
        std::mem::take(&mut state.reading)
    }

    /// Returns the requests recorded since the last call, in order. Returns an empty list if the meter does not record requests.
    #[must_use]
    pub fn take_recorded(&self) -> Vec<Recorded> {
        self.state().record.as_mut().map(std::mem::take).unwrap_or_default()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // The counts are consistent after every statement, so a poisoned lock can be ignored.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn count(&self, table: Option<&TableName>, partition_key: Option<&str>, counts: Counts) {
        let mut state = self.state();
        if counts.requests > 0 {
            state.last = None;
        }
        state.reading.add(table.map(TableName::as_str), partition_key, counts);
    }

    fn record(&self, made: impl FnOnce() -> Recorded) {
        if let Some(record) = &mut self.state().record {
            record.push(made());
        }
    }
}

fn requests_of_tables() -> Counts {
    Counts { requests: 1, table_requests: 1, ..Counts::default() }
}

impl<S: fmt::Display> fmt::Display for Meter<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.store.fmt(f)
    }
}

impl<S: TableStore> TableStore for Meter<S> {
    fn capabilities(&self) -> &Capabilities {
        self.store.capabilities()
    }

    fn attached(&self) -> Option<&(dyn Any + Send + Sync)> {
        self.store.attached()
    }

    async fn create_table(&self, table: &TableName) -> Result<()> {
        self.count(Some(table), None, requests_of_tables());
        self.store.create_table(table).await
    }

    async fn delete_table(&self, table: &TableName) -> Result<()> {
        self.count(Some(table), None, requests_of_tables());
        self.store.delete_table(table).await
    }

    async fn list_tables(&self, prefix: &str, from: Option<&str>, top: usize) -> Result<TablePage> {
        self.count(None, None, requests_of_tables());
        self.store.list_tables(prefix, from, top).await
    }

    async fn get(&self, table: &TableName, key: &EntityKey, select: &Select) -> Result<Option<StoredRow>> {
        let partition_key = key.partition_key.as_str();
        self.count(Some(table), Some(partition_key), Counts::one(QueryClass::Point, false));
        let found = self.store.get(table, key, select).await?;
        let rows = u64::from(found.is_some());
        let bytes =
            |stored: &StoredRow| entity_bytes(partition_key, key.row_key.as_str(), Some(&stored.row)) as u64;
        let bytes = found.as_ref().map_or(0, bytes);
        let answer =
            Counts { rows_read: rows, rows_returned: rows, bytes_returned: bytes, ..Counts::default() };
        self.count(Some(table), Some(partition_key), answer);
        self.record(|| Recorded {
            table: table.as_str().to_owned(),
            partition_key: Some(partition_key.to_owned()),
            range: None,
            class: Some(QueryClass::Point),
            further_page: false,
            entities: 1,
            bytes,
        });
        Ok(found)
    }

    async fn query(&self, table: &TableName, query: &Query, from: Option<&Continuation>) -> Result<Page> {
        let (class, further) = (query.keys.class(), from.is_some());
        let partition_key = query.keys.partition_key.single();
        {
            let mut state = self.state();
            let mut request = Counts::one(class, further);
            // A later page belongs to a query that was already counted. It neither starts nor ends a fan-out.
            request.fan_outs =
                u64::from(!further && class != QueryClass::Point && state.begins_fan_out(table, query));
            state.reading.add(Some(table.as_str()), partition_key, request);
        }
        let page = self.store.query(table, query, from).await?;
        let returned = page.rows.len() as u64;
        let rows_read = page.rows_read.unwrap_or(returned);
        let bytes = page.rows.iter().map(|entity| {
            let row = entity.row.to_row();
            entity_bytes(entity.partition_key, entity.row_key, Some(&row)) as u64
        });
        let bytes = bytes.sum();
        let answer =
            Counts { rows_read, rows_returned: returned, bytes_returned: bytes, ..Counts::default() };
        self.count(Some(table), partition_key, answer);
        self.record(|| Recorded {
            table: table.as_str().to_owned(),
            partition_key: partition_key.map(str::to_owned),
            range: partition_key.is_none().then(|| query.keys.partition_key.clone()),
            class: Some(class),
            further_page: further,
            entities: rows_read,
            bytes,
        });
        Ok(page)
    }

    async fn submit(&self, table: &TableName, transaction: Transaction) -> Result<Committed> {
        let partition_key = transaction.partition_key().as_str().to_owned();
        let (operations, bytes) = (transaction.operations().len() as u64, transaction.bytes() as u64);
        let request =
            Counts { requests: 1, transactions: 1, operations, bytes_written: bytes, ..Counts::default() };
        self.count(Some(table), Some(&partition_key), request);
        let committed = self.store.submit(table, transaction).await?;
        self.record(|| Recorded {
            table: table.as_str().to_owned(),
            partition_key: Some(partition_key),
            range: None,
            class: None,
            further_page: false,
            entities: operations,
            bytes,
        });
        Ok(committed)
    }
}
