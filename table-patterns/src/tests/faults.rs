//! A store for tests that injects faults. It fails on demand, counts requests, and can limit the page size.

mod blobs;

use std::any::Any;
use std::fmt;
use std::future::{pending, poll_fn};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::Poll;

use table_core::embedded::Engine;
use table_core::key::EntityKey;
use table_core::name::TableName;
use table_core::query::{Continuation, Page, Query, Rows, Select};
use table_core::row::{Row, RowView, RowWriter};
use table_core::store::{Capabilities, Committed, StoredRow, TablePage, TableStore};
use table_core::testing::LimitedStore;
use table_core::transaction::Transaction;
use table_core::{Error, ErrorCode, Result, ValueRef};

pub(crate) use blobs::FaultyBlobs;

/// Creates a store that returns rows in arbitrary order and does not support check operations, like Cosmos DB for Table (COS-1, ENG-21).
pub(crate) fn unordered() -> LimitedStore<Engine> {
    let limited = LimitedStore::new(Engine::in_memory(), |capabilities| {
        (capabilities.ordered, capabilities.checks) = (false, false);
    });
    limited.shuffled(1_000)
}

/// Checks at compile time that a future is `Send`, which most runtimes require.
pub(crate) fn sendable<T: Send>(future: T) -> T {
    future
}

/// The kind of a request to the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Call {
    Create,
    Drop,
    List,
    Get,
    Query,
    Submit,
}

/// The fault that a script injects into a request.
pub(crate) enum Fault {
    /// The request succeeds or fails as it would without faults.
    None,
    /// The request fails and has no effect.
    Before(ErrorCode),
    /// The request takes effect, but its response is lost (CON-11).
    After(ErrorCode),
    /// A function runs before the request. It simulates a concurrent writer.
    Meanwhile(Box<dyn FnOnce() + Send>),
    /// The request yields once. Other requests of the same task can then begin.
    Later,
    /// The transaction takes effect, but the response contains no `ETag`. Other requests succeed or fail as usual.
    Unversioned,
}

type Script = Box<dyn FnMut(Call, usize) -> Fault + Send>;
type Hangs = Box<dyn Fn(&TableName, &EntityKey) -> bool + Send>;
/// A property, the error code for reads that select it, and a function that returns `true` for the affected rows.
type Strange = (&'static str, ErrorCode, Hangs);

/// A store wrapper that injects faults. Before each request, a script receives the kind and number of the request, and chooses the fault.
#[derive(Clone)]
pub(crate) struct FaultyStore<S> {
    inner: S,
    script: Arc<Mutex<Script>>,
    /// Returns `true` for the rows whose reads hang.
    hangs: Arc<Mutex<Option<Hangs>>>,
    /// The rows that the store cannot represent. If the function returns `true` for a row, a read of this row that selects the property fails with the error
    /// code.
    strange: Arc<Mutex<Option<Strange>>>,
    calls: Arc<Mutex<Vec<Call>>>,
    /// The number of rows that queries have returned since the script was last set or removed.
    rows: Arc<AtomicUsize>,
    /// The number of requests that are currently waiting.
    waiting: Arc<AtomicUsize>,
    /// The maximum number of requests that waited at the same time since the counters were last reset.
    most_waiting: Arc<AtomicUsize>,
    /// The maximum number of rows in a page.
    page: usize,
    /// `true` if the properties of returned rows are sorted by name.
    sorts_properties: bool,
}

impl<S: TableStore> FaultyStore<S> {
    pub(crate) fn new(inner: S) -> Self {
        let script: Script = Box::new(|_, _| Fault::None);
        Self {
            inner,
            script: Arc::new(Mutex::new(script)),
            hangs: Arc::default(),
            strange: Arc::default(),
            calls: Arc::default(),
            rows: Arc::default(),
            waiting: Arc::default(),
            most_waiting: Arc::default(),
            page: usize::MAX,
            sorts_properties: false,
        }
    }

    /// Returns the wrapped store, which never fails.
    pub(crate) const fn inner(&self) -> &S {
        &self.inner
    }

    /// Limits each page to `rows` rows.
    pub(crate) fn pages_of(self, rows: usize) -> Self {
        Self { page: rows, ..self }
    }

    /// Makes the store return rows like a service that stores properties in a map: the properties are sorted by name (PROP-7), and -0.0 becomes 0.
    pub(crate) fn sorting_properties(self) -> Self {
        Self { sorts_properties: true, ..self }
    }

    /// Converts a row to the form that this store returns.
    fn returned(&self, row: RowView<'_>) -> Result<Row> {
        if !self.sorts_properties {
            return Ok(row.to_row());
        }
        let mut properties = row.properties().collect::<Result<Vec<_>>>()?;
        properties.sort_by_key(|property| property.name);
        let mut writer = RowWriter::with_capacity(properties.len());
        for property in properties {
            let value = match property.value {
                ValueRef::Double(number) => ValueRef::Double(number + 0.0),
                value => value,
            };
            writer.property(property.name, value);
        }
        Ok(writer.finish().with_timestamp(row.timestamp()))
    }

    /// Sets the script and resets the counters.
    pub(crate) fn script(&self, script: impl FnMut(Call, usize) -> Fault + Send + 'static) {
        self.calls.lock().unwrap().clear();
        self.rows.store(0, Ordering::SeqCst);
        self.most_waiting.store(0, Ordering::SeqCst);
        *self.script.lock().unwrap() = Box::new(script);
    }

    /// Makes request `number` fail without effect. Other requests are not affected.
    pub(crate) fn fail_at(&self, number: usize) {
        let fault =
            move |_, at| if at == number { Fault::Before(ErrorCode::InternalError) } else { Fault::None };
        self.script(fault);
    }

    /// Makes reads hang for all rows for which `hangs` returns `true`.
    pub(crate) fn hang_gets(&self, hangs: impl Fn(&TableName, &EntityKey) -> bool + Send + 'static) {
        *self.hangs.lock().unwrap() = Some(Box::new(hangs));
    }

    /// Makes a property invalid in all rows for which `is_strange` returns `true`. This simulates rows that Azurite or Cosmos DB accepted from another program.
    /// A read of such a row fails with `code` if it selects the property, and pages omit the row.
    pub(crate) fn misread(
        &self,
        (property, code): (&'static str, ErrorCode),
        is_strange: impl Fn(&TableName, &EntityKey) -> bool + Send + 'static,
    ) {
        *self.strange.lock().unwrap() = Some((property, code, Box::new(is_strange)));
    }

    /// Returns the error code for a read of a row that the store cannot represent. Returns `None` for any other row.
    fn strange(&self, table: &TableName, key: &EntityKey, select: &Select) -> Option<ErrorCode> {
        let strange = self.strange.lock().unwrap();
        let (property, code, is_strange) = strange.as_ref()?;
        (select.contains(property) && is_strange(table, key)).then_some(*code)
    }

    /// Removes the script, stops reads from hanging, and resets the counters.
    pub(crate) fn heal(&self) {
        *self.hangs.lock().unwrap() = None;
        *self.strange.lock().unwrap() = None;
        self.script(|_, _| Fault::None);
    }

    /// Returns the kind of each request since the script was last set or removed.
    pub(crate) fn calls(&self) -> Vec<Call> {
        self.calls.lock().unwrap().clone()
    }

    /// Returns the number of rows that queries have returned since the script was last set or removed.
    pub(crate) fn rows_read(&self) -> usize {
        self.rows.load(Ordering::SeqCst)
    }

    /// Returns the maximum number of requests that have waited at the same time since the script was last set or removed.
    pub(crate) fn most_waiting(&self) -> usize {
        self.most_waiting.load(Ordering::SeqCst)
    }

    async fn run<T>(&self, call: Call, request: impl Future<Output = Result<T>> + Send) -> Result<T> {
        let drawn = self.draw(call);
        self.run_with(drawn, request).await
    }

    /// Counts a request. Returns its number and its fault.
    fn draw(&self, call: Call) -> (usize, Fault) {
        let number = {
            let mut calls = self.calls.lock().unwrap();
            calls.push(call);
            calls.len() - 1
        };
        (number, (self.script.lock().unwrap())(call, number))
    }

    async fn run_with<T>(
        &self,
        (number, fault): (usize, Fault),
        request: impl Future<Output = Result<T>> + Send,
    ) -> Result<T> {
        let failed = |code| Error::new(code, format!("injected failure of request {number}"));
        match fault {
            Fault::None | Fault::Unversioned => request.await,
            Fault::Before(code) => Err(failed(code)),
            Fault::After(code) => {
                request.await?;
                Err(failed(code))
            }
            Fault::Meanwhile(act) => {
                act();
                request.await
            }
            Fault::Later => {
                let waiting = self.waiting.fetch_add(1, Ordering::SeqCst) + 1;
                self.most_waiting.fetch_max(waiting, Ordering::SeqCst);
                let mut has_waited = false;
                poll_fn(|context| {
                    if std::mem::replace(&mut has_waited, true) {
                        return Poll::Ready(());
                    }
                    context.waker().wake_by_ref();
                    Poll::Pending
                })
                .await;
                self.waiting.fetch_sub(1, Ordering::SeqCst);
                request.await
            }
        }
    }
}

impl<S: fmt::Debug> fmt::Debug for FaultyStore<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FaultyStore").field("inner", &self.inner).finish_non_exhaustive()
    }
}

impl<S: fmt::Display> fmt::Display for FaultyStore<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

impl<S: TableStore> TableStore for FaultyStore<S> {
    fn capabilities(&self) -> &Capabilities {
        self.inner.capabilities()
    }

    fn attached(&self) -> Option<&(dyn Any + Send + Sync)> {
        self.inner.attached()
    }

    async fn create_table(&self, table: &TableName) -> Result<()> {
        self.run(Call::Create, self.inner.create_table(table)).await
    }

    async fn delete_table(&self, table: &TableName) -> Result<()> {
        self.run(Call::Drop, self.inner.delete_table(table)).await
    }

    async fn list_tables(&self, prefix: &str, from: Option<&str>, top: usize) -> Result<TablePage> {
        self.run(Call::List, self.inner.list_tables(prefix, from, top.min(self.page))).await
    }

    async fn get(&self, table: &TableName, key: &EntityKey, select: &Select) -> Result<Option<StoredRow>> {
        let hangs = self.hangs.lock().unwrap().as_ref().is_some_and(|hangs| hangs(table, key));
        if hangs {
            pending::<()>().await;
        }
        let found = self.run(Call::Get, self.inner.get(table, key, select)).await?;
        if found.is_some()
            && let Some(code) = self.strange(table, key, select)
        {
            return Err(Error::new(code, "the stored row is not a valid entity"));
        }
        let returned =
            |found: StoredRow| Ok::<_, Error>(StoredRow { row: self.returned(found.row.view())?, ..found });
        found.map(returned).transpose()
    }

    async fn query(&self, table: &TableName, query: &Query, from: Option<&Continuation>) -> Result<Page> {
        let top = query.top.unwrap_or(usize::MAX).min(self.page);
        let query = Query { top: (top != usize::MAX).then_some(top), ..query.clone() };
        let page = self.run(Call::Query, self.inner.query(table, &query, from)).await?;
        self.rows.fetch_add(page.rows.len(), Ordering::SeqCst);
        if !self.sorts_properties && self.strange.lock().unwrap().is_none() {
            return Ok(page);
        }
        let (mut rows, mut skipped) = (Rows::default(), page.skipped);
        for found in page.rows.iter() {
            let key = EntityKey::new(found.partition_key, found.row_key)?;
            if self.strange(table, &key, &query.select).is_some() {
                skipped += 1;
                continue;
            }
            let row = self.returned(found.row)?;
            rows.push(found.partition_key, found.row_key, row.view(), Some(found.etag()));
        }
        Ok(Page { rows, skipped, ..page })
    }

    async fn submit(&self, table: &TableName, transaction: Transaction) -> Result<Committed> {
        let drawn = self.draw(Call::Submit);
        let is_unversioned = matches!(drawn.1, Fault::Unversioned);
        let committed = self.run_with(drawn, self.inner.submit(table, transaction)).await?;
        Ok(if is_unversioned { vec![None; committed.len()] } else { committed })
    }
}
