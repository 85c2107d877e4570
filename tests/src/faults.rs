//! Wrappers that control the calls to stores. With them, a test can kill a process before or after any call, or run several processes step by step.

mod blobs;
mod misread;

use std::any::Any;
use std::fmt;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

pub use blobs::{BLOBS, ControlledBlobs};
pub use misread::{BAD, bad_rows, mend, spoil};
use table_core::query::{Continuation, Page, Query, Select};
use table_core::queue::{Lease, Message, MessageId, PopReceipt, PutMessage, QueueName, QueueStore};
use table_core::store::{Capabilities, Committed, StoredRow, TablePage, TableStore};
use table_core::{Clock, EntityKey, Error, ErrorCode, Result, TableName, Transaction};

/// The time of a process's death, relative to a call to a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Death {
    /// The process dies before the call is made.
    Before,
    /// The process dies after the call is made. The outcome of the call is lost.
    After,
}

/// Outages shared by all processes of a test. During an outage, calls to one table, to one queue, or to all stores are rejected.
#[derive(Clone, Debug, Default)]
pub struct Outages(Arc<Mutex<Option<Outage>>>);

#[derive(Debug)]
struct Outage {
    /// The name of the affected table or queue. It is empty if all calls are affected.
    target: String,
    until: u64,
    clock: Clock,
}

impl Outages {
    /// Rejects calls with `ServerBusy` for the given time. If `target` is empty, all calls are rejected. Otherwise, only calls to the table or queue `target`
    /// are rejected.
    pub fn begin(&self, target: &str, time: Duration, clock: Clock) {
        let ticks = u64::try_from(time.as_nanos() / 100).unwrap_or(u64::MAX);
        let until = clock.now().saturating_add(ticks);
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) =
            Some(Outage { target: target.to_owned(), until, clock });
    }

    fn is_down(&self, target: &str) -> bool {
        let outage = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        outage.as_ref().is_some_and(|outage| {
            outage.clock.now() < outage.until && (outage.target.is_empty() || outage.target == target)
        })
    }
}

/// Injects faults into one simulated process. It can stop or reject the store calls of the process.
#[derive(Clone, Debug, Default)]
pub struct Control(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    calls: AtomicUsize,
    /// The number of the call at which the process dies (1-based), or 0 if the process never dies.
    death: AtomicUsize,
    after: AtomicBool,
    dead: AtomicBool,
    /// `true` if each call waits until it is [stepped](Control::step).
    stepped: AtomicBool,
    /// `true` if each response also waits until it is stepped.
    late: AtomicBool,
    /// The interval at which calls are rejected with `ServerBusy`. For example, 3 rejects every third call, and 0 rejects none.
    busy: AtomicUsize,
    waits: AtomicUsize,
    /// `true` if the process cannot read rows with the property [`BAD`].
    misreads: AtomicBool,
    outages: Mutex<Outages>,
}

impl Control {
    /// Creates a fault control that kills the process at the `call`-th call (1-based).
    #[must_use]
    pub fn dying(call: usize, death: Death) -> Self {
        let control = Self::default();
        control.0.death.store(call, Ordering::SeqCst);
        control.0.after.store(death == Death::After, Ordering::SeqCst);
        control
    }

    /// Creates a fault control that rejects every `every`-th call of the process with `ServerBusy`.
    #[must_use]
    pub fn busy(every: usize) -> Self {
        let control = Self::default();
        control.0.busy.store(every, Ordering::SeqCst);
        control
    }

    /// Makes each call wait until it is [stepped](Self::step).
    #[must_use]
    pub fn stepped(self) -> Self {
        self.0.stepped.store(true, Ordering::SeqCst);
        self
    }

    /// Makes each response of a [stepped](Self::stepped) process wait as well. A test can then drop a call between its effect and its response.
    #[must_use]
    pub fn answering_late(self) -> Self {
        self.0.late.store(true, Ordering::SeqCst);
        self
    }

    /// Makes this process subject to outages that it shares with other processes.
    #[must_use]
    pub fn with_outages(self, outages: &Outages) -> Self {
        *self.0.outages.lock().unwrap_or_else(PoisonError::into_inner) = outages.clone();
        self
    }

    /// Makes rows with the property [`BAD`] unreadable for this process. Pages omit them, unless the property is not selected.
    #[must_use]
    pub fn misreading(self) -> Self {
        self.0.misreads.store(true, Ordering::SeqCst);
        self
    }

    fn misreads(&self, select: &Select) -> bool {
        self.0.misreads.load(Ordering::SeqCst) && select.contains(BAD)
    }

    /// Returns the number of store calls made by the process.
    #[must_use]
    pub fn calls(&self) -> usize {
        self.0.calls.load(Ordering::SeqCst)
    }

    /// Returns `true` if the process is dead.
    #[must_use]
    pub fn is_dead(&self) -> bool {
        self.0.dead.load(Ordering::SeqCst)
    }

    /// Wraps a store. Its calls are then controlled.
    pub fn over<T>(&self, store: T) -> Controlled<T> {
        Controlled { store, control: self.clone() }
    }

    /// Runs a process until its next call or its end. Returns the result of the process if it has ended. The process must be [stepped](Self::stepped).
    pub fn step<F: Future + Unpin>(&self, process: &mut F) -> Option<F::Output> {
        let waits = self.0.waits.load(Ordering::SeqCst);
        loop {
            match pin!(&mut *process).poll(&mut Context::from_waker(Waker::noop())) {
                Poll::Ready(output) => return Some(output),
                Poll::Pending if self.0.waits.load(Ordering::SeqCst) > waits => return None,
                // The store does its work on a different thread.
                Poll::Pending => std::thread::yield_now(),
            }
        }
    }

    async fn wait(&self) {
        let mut waited = !self.0.stepped.load(Ordering::SeqCst);
        std::future::poll_fn(|context| {
            if std::mem::replace(&mut waited, true) {
                return Poll::Ready(());
            }
            self.0.waits.fetch_add(1, Ordering::SeqCst);
            context.waker().wake_by_ref();
            Poll::Pending
        })
        .await;
    }

    async fn around<T>(&self, target: &str, call: impl Future<Output = Result<T>> + Send) -> Result<T> {
        self.wait().await;
        let dead = || Err(Error::new(ErrorCode::EngineClosed, "the process is dead"));
        if self.is_dead() {
            return dead();
        }
        let call_number = self.0.calls.fetch_add(1, Ordering::SeqCst) + 1;
        let busy = self.0.busy.load(Ordering::SeqCst);
        if busy > 0 && call_number.is_multiple_of(busy) {
            return Err(Error::new(ErrorCode::ServerBusy, "busy, as asked for"));
        }
        let is_down = self.0.outages.lock().unwrap_or_else(PoisonError::into_inner).is_down(target);
        if is_down {
            return Err(Error::new(ErrorCode::ServerBusy, "an outage"));
        }
        let dies = call_number == self.0.death.load(Ordering::SeqCst);
        if dies && !self.0.after.load(Ordering::SeqCst) {
            self.0.dead.store(true, Ordering::SeqCst);
            return dead();
        }
        let outcome = call.await;
        if self.0.late.load(Ordering::SeqCst) {
            self.wait().await;
        }
        if dies {
            self.0.dead.store(true, Ordering::SeqCst);
            return dead();
        }
        outcome
    }
}

/// Wraps a store, a queue store or a blob store. A [`Control`] can stop or reject its calls.
#[derive(Clone, Debug)]
pub struct Controlled<T> {
    store: T,
    control: Control,
}

impl<T: fmt::Display> fmt::Display for Controlled<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "controlled {}", self.store)
    }
}

impl<S: TableStore> TableStore for Controlled<S> {
    fn capabilities(&self) -> &Capabilities {
        self.store.capabilities()
    }

    fn attached(&self) -> Option<&(dyn Any + Send + Sync)> {
        self.store.attached()
    }

    async fn create_table(&self, table: &TableName) -> Result<()> {
        self.control.around(table.as_str(), self.store.create_table(table)).await
    }

    async fn delete_table(&self, table: &TableName) -> Result<()> {
        self.control.around(table.as_str(), self.store.delete_table(table)).await
    }

    async fn list_tables(&self, prefix: &str, from: Option<&str>, top: usize) -> Result<TablePage> {
        self.control.around("", self.store.list_tables(prefix, from, top)).await
    }

    async fn get(&self, table: &TableName, key: &EntityKey, select: &Select) -> Result<Option<StoredRow>> {
        let found = self.control.around(table.as_str(), self.store.get(table, key, select)).await?;
        if self.control.misreads(select) { misread::row(found) } else { Ok(found) }
    }

    async fn query(&self, table: &TableName, query: &Query, from: Option<&Continuation>) -> Result<Page> {
        let page = self.control.around(table.as_str(), self.store.query(table, query, from)).await?;
        if self.control.misreads(&query.select) { misread::page(page) } else { Ok(page) }
    }

    async fn submit(&self, table: &TableName, transaction: Transaction) -> Result<Committed> {
        self.control.around(table.as_str(), self.store.submit(table, transaction)).await
    }
}

impl<Q: QueueStore> QueueStore for Controlled<Q> {
    async fn create_queue(&self, queue: &QueueName) -> Result<bool> {
        self.control.around(queue.as_str(), self.store.create_queue(queue)).await
    }

    async fn delete_queue(&self, queue: &QueueName) -> Result<()> {
        self.control.around(queue.as_str(), self.store.delete_queue(queue)).await
    }

    async fn approximate_count(&self, queue: &QueueName) -> Result<u64> {
        self.control.around(queue.as_str(), self.store.approximate_count(queue)).await
    }

    async fn put(&self, queue: &QueueName, message: PutMessage) -> Result<Lease> {
        self.control.around(queue.as_str(), self.store.put(queue, message)).await
    }

    async fn receive(&self, queue: &QueueName, count: usize, hidden: Duration) -> Result<Vec<Lease>> {
        self.control.around(queue.as_str(), self.store.receive(queue, count, hidden)).await
    }

    async fn peek(&self, queue: &QueueName, count: usize) -> Result<Vec<Message>> {
        self.control.around(queue.as_str(), self.store.peek(queue, count)).await
    }

    async fn update(
        &self,
        queue: &QueueName,
        lease: &Lease,
        hidden: Duration,
        text: Option<String>,
    ) -> Result<Lease> {
        self.control.around(queue.as_str(), self.store.update(queue, lease, hidden, text)).await
    }

    async fn delete(&self, queue: &QueueName, id: &MessageId, receipt: &PopReceipt) -> Result<()> {
        self.control.around(queue.as_str(), self.store.delete(queue, id, receipt)).await
    }

    async fn clear(&self, queue: &QueueName) -> Result<()> {
        self.control.around(queue.as_str(), self.store.clear(queue)).await
    }
}
