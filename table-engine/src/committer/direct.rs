//! The committer of an in-memory engine. Callers run it themselves while it is idle, which saves waking a thread for the write and waking the caller for the
//! response.
//!
//! The thread that holds the lock acts as the committer. The committer's own thread handles requests that find the lock taken, creates and drops
//! tables, and removes the rows of dropped tables from memory.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_channel::{Receiver, TryRecvError};
use futures_channel::oneshot::Sender;
use table_store::Result;

use super::{Committer, caught};
use crate::key::Span;
use crate::request::{Request, Write};
use crate::threads::Threads;

/// The number of rows of dropped tables that are removed from memory in one step.
const RECLAIM_ROWS: usize = 500;

/// A committer that is shared by its thread and its callers; `None` once it has stopped.
pub(crate) struct Direct(Mutex<Option<Committer>>);

impl Direct {
    pub(crate) const fn new(committer: Committer) -> Self {
        Self(Mutex::new(Some(committer)))
    }

    fn lock(&self) -> MutexGuard<'_, Option<Committer>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Processes a request on the caller's thread and responds to it. Returns the request for the committer's thread if another caller holds the
    /// lock, the request requires further work, or the committer has stopped.
    pub(crate) fn take(&self, request: Request) -> Option<Request> {
        let write = match request {
            Request::Write(write @ (Write::Submit { .. } | Write::Decide { .. })) => write,
            other => return Some(other),
        };
        let Ok(mut held) = self.0.try_lock() else { return Some(Request::Write(write)) };
        let Some(committer) = held.as_mut() else { return Some(Request::Write(write)) };
        let shared = Arc::clone(&committer.shared);
        let done = caught(|| {
            let answer = committer.apply(write);
            committer.finish_group(&mut vec![answer], false);
            Ok(())
        });
        // The panic dropped the response channel, so the caller learns the reason.
        if let Err(error) = done {
            shared.poison(&error);
        }
        None
    }

    /// Runs the thread until it is asked to close, or every handle is dropped, like [`Committer::run`].
    pub(crate) fn run(
        &self,
        requests: &Receiver<Request>,
        threads: &Threads,
    ) -> (Vec<Sender<Result<()>>>, Result<()>) {
        let mut closers = Vec::new();
        // A panic stops all writes, but requests are still answered: from then on, every writer receives the reason. IMPORTANT: a panic
        // while the lock is held poisons it. Callers treat a poisoned lock as taken, even before the reason is known, so no write is applied
        // after an incomplete one.
        while let Err(error) = caught(|| {
            self.work(requests, threads, &mut closers);
            Ok(())
        }) {
            if let Some(committer) = self.lock().as_ref() {
                committer.shared.poison(&error);
            }
        }
        let stopped = self.lock().take();
        let outcome = stopped.as_ref().map_or(Ok(()), |committer| committer.shared.check_writable());
        drop(stopped);
        (closers, outcome)
    }

    fn work(&self, requests: &Receiver<Request>, threads: &Threads, closers: &mut Vec<Sender<Result<()>>>) {
        while closers.is_empty() {
            let Some(request) = self.next(requests, threads) else { break };
            if let Some(committer) = self.lock().as_mut() {
                committer.group(request, closers);
            }
        }
    }

    /// Returns the next request for the thread. Until a request arrives, removes rows of dropped tables from memory.
    fn next(&self, requests: &Receiver<Request>, threads: &Threads) -> Option<Request> {
        while self.lock().as_ref().is_some_and(Committer::has_to_reclaim) {
            // The callers that have just been answered should run first.
            threads.yield_now();
            let next = requests.try_recv();
            if matches!(next, Err(TryRecvError::Closed)) {
                return None;
            }
            if let Some(committer) = self.lock().as_mut() {
                committer.reclaim_and_publish();
            }
            if let Ok(request) = next {
                return Some(request);
            }
        }
        threads.receive_from_callers(requests)
    }
}

impl Committer {
    /// Returns `true` if rows of dropped tables must be removed from memory. After the engine has stopped writing, they are not removed.
    fn has_to_reclaim(&self) -> bool {
        !self.reclaim.is_empty() && self.shared.check_writable().is_ok()
    }

    fn reclaim_and_publish(&mut self) {
        if let Some(table) = self.reclaim.last()
            && !self.state.memtable.remove_some(&Span::table(*table), RECLAIM_ROWS)
        {
            self.reclaim.pop();
        }
        self.shared.publish(self.state.clone());
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::mem::ManuallyDrop;
    use std::pin::pin;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::task::{Context, Poll, Wake, Waker};
    use std::thread::{self, JoinHandle};
    use std::time::{Duration, Instant};

    use pollster::block_on;
    use table_store::ErrorCode;
    use table_store::clock::Clock;
    use table_store::key::EntityKey;
    use table_store::limits::Limits;
    use table_store::name::TableName;
    use table_store::operation::{Operation, OperationKind};
    use table_store::query::Select;
    use table_store::row::RowWriter;
    use table_store::store::TableStore;
    use table_store::transaction::Transaction;
    use table_store::{PartitionKey, RowKey};

    use crate::Engine;
    use crate::options::EngineOptions;
    use crate::threads::Scheduler;

    fn employees() -> TableName {
        TableName::new("Employee").unwrap()
    }

    fn engine() -> Engine {
        started(EngineOptions::new())
    }

    fn started(options: EngineOptions) -> Engine {
        let engine = options.in_memory();
        block_on(engine.create_table(&employees())).unwrap();
        engine
    }

    fn insert(row: &str) -> Transaction {
        let mut transaction =
            Transaction::new(PartitionKey::new("Sales").unwrap(), Limits::UNLIMITED).unwrap();
        let kind = OperationKind::Insert(RowWriter::new().finish());
        transaction.push(Operation { row_key: RowKey::new(row).unwrap(), kind }).unwrap();
        transaction
    }

    #[test]
    fn in_memory_writes_complete_at_their_first_poll() {
        let engine = engine();
        let direct = engine.inner.direct.clone().unwrap();
        let table = employees();
        let is_done_at_once = |number: &usize| {
            // The thread releases the committer after it has answered, which may be much later on a busy machine.
            drop(direct.lock());
            let mut written = pin!(engine.submit(&table, insert(&number.to_string())));
            match written.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
                Poll::Ready(outcome) => outcome.map(|_| true).unwrap(),
                // The thread may be checking for work at this time.
                Poll::Pending => block_on(written).map(|_| false).unwrap(),
            }
        };
        let at_once = (0..100).filter(is_done_at_once).count();
        assert!(at_once > 50, "{at_once} of 100");
    }

    #[test]
    fn a_write_while_the_committer_is_busy_is_done_by_its_thread() {
        let engine = engine();
        let direct = engine.inner.direct.clone().unwrap();
        let table = employees();
        let held = direct.lock();
        let mut written = pin!(engine.submit(&table, insert("1")));
        assert!(written.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        drop(held);
        block_on(written).unwrap();
    }

    #[test]
    fn a_closed_engine_writes_nothing() {
        let engine = engine();
        let left = engine.clone();
        block_on(engine.close()).unwrap();
        let refused = block_on(left.submit(&employees(), insert("1"))).unwrap_err();
        assert_eq!(refused.code(), ErrorCode::EngineClosed);
    }

    fn is_there(engine: &Engine, row: &str) -> bool {
        let key = EntityKey::new("Sales", row).unwrap();
        block_on(engine.get(&employees(), &key, &Select::All)).unwrap().is_some()
    }

    #[test]
    fn a_panic_in_a_callers_write_stops_writes_but_not_reads() {
        let panics = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&panics);
        let now = move || {
            assert!(!seen.load(Ordering::Relaxed), "the clock panics");
            1
        };
        let engine = started(EngineOptions::new().clock(Clock::new(now)));
        block_on(engine.submit(&employees(), insert("1"))).unwrap();
        panics.store(true, Ordering::Relaxed);
        let refused = |row| block_on(engine.submit(&employees(), insert(row))).unwrap_err().code();
        assert_eq!(refused("2"), ErrorCode::EnginePoisoned);
        panics.store(false, Ordering::Relaxed);
        assert_eq!(refused("2"), ErrorCode::EnginePoisoned);
        assert_eq!((is_there(&engine, "1"), is_there(&engine, "2")), (true, false));
        assert_eq!(block_on(engine.close()).unwrap_err().code(), ErrorCode::EnginePoisoned);
    }

    /// A scheduler that runs system threads, but makes a thread panic when it yields while it removes the rows of a dropped table.
    #[derive(Debug)]
    struct PanicsAtPass;

    impl Scheduler for PanicsAtPass {
        fn now(&self) -> Instant {
            Instant::now()
        }

        fn spawn(&self, _: &str, work: Box<dyn FnOnce() + Send>) -> io::Result<JoinHandle<()>> {
            thread::Builder::new().spawn(work)
        }

        fn pass(&self) {
            panic!("a thread panics as it passes");
        }

        fn sleep(&self, time: Duration) {
            thread::sleep(time);
        }

        fn wait(&self, _: Option<Duration>, ready: &mut dyn FnMut() -> bool) {
            while !ready() {
                thread::yield_now();
            }
        }
    }

    #[test]
    fn a_thread_panic_between_requests_leaves_no_caller_unanswered() {
        let engine = started(EngineOptions::new().scheduler(Arc::new(PanicsAtPass)));
        block_on(engine.delete_table(&employees())).unwrap();
        // The request completes before the panic, or is refused after the panic.
        drop(block_on(engine.create_table(&employees())));
        assert_eq!(block_on(engine.close()).unwrap_err().code(), ErrorCode::EnginePoisoned);
    }

    struct Panics;

    impl Wake for Panics {
        fn wake(self: Arc<Self>) {
            panic!("a waker panics");
        }
    }

    #[test]
    fn a_panicking_waker_or_a_dropped_future_does_not_undo_a_write() {
        let engine = engine();
        let direct = engine.inner.direct.clone().unwrap();
        let table = employees();
        // The test's own handle to the waker is leaked, because dropping it would panic here.
        let waker = ManuallyDrop::new(Waker::from(Arc::new(Panics)));
        let held = direct.lock();
        let mut written = pin!(engine.submit(&table, insert("1")));
        assert!(written.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        let mut dropped = Box::pin(engine.submit(&table, insert("2")));
        assert!(dropped.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        drop(dropped);
        drop(held);
        // This request is queued after both requests of the thread.
        block_on(engine.checkpoint()).unwrap();
        block_on(written).unwrap();
        assert_eq!((is_there(&engine, "1"), is_there(&engine, "2")), (true, true));
    }
}
