//! The committer of an in-memory engine. If it is idle, a caller runs it on its own thread. Neither the write nor its response then has to wake another thread.
//!
//! The thread that holds the lock acts as the committer. Requests are processed and answered one at a time. Grouping would save nothing, because there is no
//! sync.
//!
//! The committer's own thread has three tasks:
//! - It processes the requests of callers that find the lock taken.
//! - It creates and drops tables.
//! - It removes the rows of dropped tables from memory.
//!
//! IMPORTANT: application code, such as a clock, a waker or a log subscriber, must run without the lock, because it may use the engine and may panic.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_channel::{Receiver, TryRecvError};
use futures_channel::oneshot::Sender;
use table_store::Result;

use super::{Committer, caught};
use crate::key::Span;
use crate::request::{Answer, Request, Write};
use crate::shared::{Shared, closed, log_poison};
use crate::state::State;
use crate::threads::Threads;
use crate::timestamps::{Reading, SteadyClock};

/// The number of rows of dropped tables that one step removes from memory.
const RECLAIM_ROWS: usize = 500;

/// A committer that its own thread and its callers share.
pub(crate) struct Direct {
    /// `None` once the committer has stopped.
    committer: Mutex<Option<Committer>>,
    steady: SteadyClock,
    shared: Arc<Shared>,
}

impl Direct {
    /// Creates a shared committer. If `by_callers` is `true`, callers run the committer on their own threads, and the state is published on demand.
    pub(crate) fn new(mut committer: Committer, by_callers: bool) -> Self {
        committer.publication.on_demand = by_callers;
        let (steady, shared) = (committer.steady.clone(), Arc::clone(&committer.shared));
        Self { committer: Mutex::new(Some(committer)), steady, shared }
    }

    /// Publishes the committer's state, and returns it.
    ///
    /// # Errors
    /// - `EngineClosed` if the committer has stopped.
    /// - `EnginePoisoned` if a write is incomplete.
    /// - Any error from `check_process`, which is called only if another thread holds the lock.
    pub(crate) fn state(&self, check_process: impl FnOnce() -> Result<()>) -> Result<Arc<State>> {
        let mut held = match self.committer.try_lock() {
            Ok(held) => held,
            // In a forked process, the thread that holds the lock does not exist, so waiting for the lock would never end.
            Err(_) => check_process().map(|()| self.lock())?,
        };
        held.as_mut().map_or_else(|| Err(closed()), Committer::publish_on_demand)
    }

    fn lock(&self) -> MutexGuard<'_, Option<Committer>> {
        self.committer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs `work` while holding the committer's lock. Tests use this function to simulate a slow write by a caller.
    #[cfg(test)]
    pub(crate) fn with(&self, work: impl FnOnce(&mut Committer)) {
        work(self.lock().as_mut().unwrap());
    }

    /// Processes a request on the caller's thread and responds to it. The request is returned, for the committer's thread, in three cases: another caller holds
    /// the lock, the request is neither a transaction nor a decision, or the committer has stopped.
    pub(crate) fn take(&self, request: Request) -> Option<Request> {
        let write = match request {
            Request::Write(write @ (Write::Submit { .. } | Write::Decide { .. })) => write,
            other => return Some(other),
        };
        let reading = match caught(|| Ok(self.steady.read())) {
            Ok(reading) => reading,
            Err(error) => {
                self.shared.poison(&error);
                return None;
            }
        };
        let Ok(mut held) = self.committer.try_lock() else { return Some(Request::Write(write)) };
        let Some(committer) = held.as_mut() else { return Some(Request::Write(write)) };
        let answer = caught(|| Ok(committer.process(write, reading)));
        if let Err(error) = &answer {
            // The panic has dropped the response channel, so the caller will look up the reason for the failure. The reason is stored before the lock is
            // released. No other caller can therefore write in between.
            self.shared.end_writes(error);
        }
        drop(held);
        match answer {
            Ok(answer) => answer.send(None),
            Err(error) => log_poison(&error),
        }
        None
    }

    /// Runs on the committer's thread until it receives a close request or every handle has been dropped, like [`Committer::run`].
    pub(crate) fn run(
        &self,
        requests: &Receiver<Request>,
        threads: &Threads,
    ) -> (Vec<Sender<Result<()>>>, Result<()>) {
        let mut closers = Vec::new();
        let running = Running(self);
        // A panic stops all writes, but the committer keeps responding. From then on, it sends the reason to every writer.
        // IMPORTANT: a panic while the lock is held poisons the lock. Callers treat a poisoned lock as taken, even before the reason is known, so no write is
        // applied after an incomplete one.
        while let Err(error) = caught(|| {
            self.work(requests, threads, &mut closers);
            Ok(())
        }) {
            self.shared.poison(&error);
        }
        let outcome = self.shared.check_writable();
        drop(running);
        (closers, outcome)
    }

    fn work(&self, requests: &Receiver<Request>, threads: &Threads, closers: &mut Vec<Sender<Result<()>>>) {
        while closers.is_empty() {
            let Some(request) = self.next(requests, threads) else { break };
            // The clock is read only for a write. An engine can therefore be closed even if its clock panics.
            let reading = matches!(request, Request::Write(_)).then(|| self.steady.read());
            let answer = self.lock().as_mut().and_then(|committer| {
                if committer.publication.on_demand {
                    return committer.process_any(request, reading, closers);
                }
                committer.group(request, closers);
                None
            });
            if let Some(answer) = answer {
                answer.send(None);
            }
        }
    }

    /// Returns the next request for the thread. Until a request arrives, rows of dropped tables are removed from memory.
    fn next(&self, requests: &Receiver<Request>, threads: &Threads) -> Option<Request> {
        while self.lock().as_ref().is_some_and(Committer::has_to_reclaim) {
            // Yields first, so callers that have just received their responses can run.
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

/// A guard that exists while the committer's thread runs. When it is dropped, even during a panic, the committer stops, and callers with queued requests are
/// notified.
struct Running<'a>(&'a Direct);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        let stopped = self.0.lock().take();
        drop(stopped);
    }
}

impl Committer {
    /// Applies a write, and returns its response. Nothing can fail after the write has been applied.
    fn process(&mut self, write: Write, reading: Reading) -> Answer {
        let answer = self.apply(write, reading);
        self.reclaim.append(&mut self.dropped);
        self.shared.groups.add(1);
        answer
    }

    /// Processes a request of any kind, and returns its response. A close request is answered once the committer has stopped.
    fn process_any(
        &mut self,
        request: Request,
        reading: Option<Reading>,
        closers: &mut Vec<Sender<Result<()>>>,
    ) -> Option<Answer> {
        match request {
            Request::Write(write) => {
                let reading = reading.unwrap_or_else(|| self.steady.read());
                Some(self.process(write, reading))
            }
            Request::Checkpoint { answer, .. } => Some(Answer::Done(answer, self.shared.check_writable())),
            Request::Close { answer } => {
                closers.push(answer);
                None
            }
            Request::Wake => None,
        }
    }

    /// Returns `true` if rows of dropped tables must be removed from memory. After the engine has stopped accepting writes, they stay in memory.
    pub(super) fn has_to_reclaim(&self) -> bool {
        !self.reclaim.is_empty() && self.shared.check_writable().is_ok()
    }

    pub(super) fn reclaim_and_publish(&mut self) {
        self.change(|own| {
            if let Some(table) = own.reclaim.last()
                && !own.state.memtable.remove_some(&Span::table(*table), RECLAIM_ROWS)
            {
                own.reclaim.pop();
            }
        });
        self.publish();
    }
}

#[cfg(test)]
mod tests;
