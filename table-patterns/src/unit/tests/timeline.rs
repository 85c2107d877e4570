//! Virtual time for tests. Tasks run one at a time. When no task can run, the clock jumps to the next event. A seed determines the entire run.

use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Wake, Waker};
use std::time::Duration;

use futures_channel::oneshot;
use futures_util::future::{LocalBoxFuture, join_all};
use table_core::Result;
use table_core::clock::Clock;
use table_core::etag::IfMatch;
use table_core::key::EntityKey;
use table_core::name::TableName;
use table_core::operation::OperationKind;
use table_core::query::{Continuation, Page, Query, Select};
use table_core::runtime::{Runtime, ticks_of};
use table_core::store::{Capabilities, Committed, StoredRow, TablePage, TableStore};
use table_core::transaction::Transaction;

use crate::unit::reservation::PREFIX;

/// A virtual clock that all tasks of a test share.
#[derive(Clone, Default)]
pub(super) struct Timeline(Arc<Mutex<Schedule>>);

#[derive(Default)]
struct Schedule {
    now: Duration,
    /// The channels that wake the sleeping tasks, ordered by the time of the wake-up and then by the start of the sleep.
    due: BTreeMap<(Duration, usize), oneshot::Sender<()>>,
    asleep: usize,
}

/// A flag that is set when a task can run.
#[derive(Default)]
struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Timeline {
    /// Returns the time since the start of the test.
    pub(super) fn now(&self) -> Duration {
        self.0.lock().unwrap().now
    }

    /// Sleeps for the given time.
    pub(super) fn sleep(&self, time: Duration) -> impl Future<Output = ()> + Send + use<> {
        let mut schedule = self.0.lock().unwrap();
        let (sender, receiver) = oneshot::channel();
        schedule.asleep += 1;
        let at = (schedule.now + time, schedule.asleep);
        schedule.due.insert(at, sender);
        async move { receiver.await.unwrap() }
    }

    /// Returns a runtime with the virtual clock and sleep function, for code that waits.
    pub(super) fn runtime(&self, seed: u64) -> Runtime {
        let (clock, sleep) = (self.clone(), self.clone());
        let clock = Clock::new(move || ticks_of(Duration::from_hours(1) + clock.now()));
        Runtime::new().clock(clock).sleep_by(move |time| Box::pin(sleep.sleep(time))).seed(seed)
    }

    /// Runs all tasks to completion.
    pub(super) fn run(&self, tasks: Vec<LocalBoxFuture<'_, ()>>) {
        let woken = Arc::new(Woken::default());
        let waker = Waker::from(Arc::clone(&woken));
        let mut context = Context::from_waker(&waker);
        let mut all = Box::pin(join_all(tasks));
        loop {
            if all.as_mut().poll(&mut context).is_ready() {
                return;
            }
            if !woken.0.swap(false, Ordering::Relaxed) {
                self.advance();
            }
        }
    }

    /// Advances the clock to the next event.
    fn advance(&self) {
        let mut schedule = self.0.lock().unwrap();
        let ((at, _), sender) = schedule.due.pop_first().expect("all tasks wait for each other");
        schedule.now = at;
        drop(schedule);
        // The sleeping task may have been dropped.
        let _awake = sender.send(());
    }
}

/// A distant store. Each request takes between one and two times the latency. Half of that time passes before the request is executed.
#[derive(Clone)]
pub(super) struct Distant<S> {
    pub(super) inner: S,
    pub(super) timeline: Timeline,
    pub(super) latency: Duration,
    /// The source of the random numbers that vary the latencies.
    pub(super) runtime: Runtime,
    pub(super) sent: Arc<Sent>,
}

/// The numbers of requests sent by one process.
#[derive(Default)]
pub(super) struct Sent {
    pub(super) transactions: AtomicUsize,
    /// The number of transactions that delete the reservations of other transactions. A transaction deletes its own reservation unconditionally.
    pub(super) expiries: AtomicUsize,
}

impl<S> Distant<S> {
    async fn run<T>(&self, request: impl Future<Output = T>) -> T {
        let more = u32::try_from(self.runtime.random() % 1_000).unwrap_or_default();
        let half = (self.latency + self.latency * more / 1_000) / 2;
        self.timeline.sleep(half).await;
        let answer = request.await;
        self.timeline.sleep(half).await;
        answer
    }
}

impl<S: fmt::Debug> fmt::Debug for Distant<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Distant").field("inner", &self.inner).finish_non_exhaustive()
    }
}

impl<S: fmt::Display> fmt::Display for Distant<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

impl<S: TableStore> TableStore for Distant<S> {
    fn capabilities(&self) -> &Capabilities {
        self.inner.capabilities()
    }

    fn attached(&self) -> Option<&(dyn Any + Send + Sync)> {
        self.inner.attached()
    }

    async fn create_table(&self, table: &TableName) -> Result<()> {
        self.run(self.inner.create_table(table)).await
    }

    async fn delete_table(&self, table: &TableName) -> Result<()> {
        self.run(self.inner.delete_table(table)).await
    }

    async fn list_tables(&self, prefix: &str, from: Option<&str>, top: usize) -> Result<TablePage> {
        self.run(self.inner.list_tables(prefix, from, top)).await
    }

    async fn get(&self, table: &TableName, key: &EntityKey, select: &Select) -> Result<Option<StoredRow>> {
        self.run(self.inner.get(table, key, select)).await
    }

    async fn query(&self, table: &TableName, query: &Query, from: Option<&Continuation>) -> Result<Page> {
        self.run(self.inner.query(table, query, from)).await
    }

    async fn submit(&self, table: &TableName, transaction: Transaction) -> Result<Committed> {
        let is_expiry = transaction.operations().iter().any(|operation| {
            operation.row_key.as_str().starts_with(PREFIX)
                && matches!(operation.kind, OperationKind::Delete(IfMatch::ETag(_)))
        });
        self.sent.transactions.fetch_add(1, Ordering::Relaxed);
        self.sent.expiries.fetch_add(usize::from(is_expiry), Ordering::Relaxed);
        self.run(self.inner.submit(table, transaction)).await
    }
}
