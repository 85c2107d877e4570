//! The engine's threads, and all points at which they wait. In tests, a scheduler can decide when each thread runs.

use std::fmt::Debug;
use std::io;
use std::sync::mpsc::{self, RecvError, RecvTimeoutError, TryRecvError};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::{self, JoinHandle, ThreadId};
use std::time::{Duration, Instant};

use table_store::{Error, Result};

use crate::fault::EngineFault;

/// A scheduler that starts an engine's threads and decides which one runs.
///
/// The engine's history is reproducible if the scheduler runs one thread at a time and chooses it with a seeded random generator.
pub trait Scheduler: Debug + Send + Sync + 'static {
    /// Returns the current time, which never decreases.
    fn now(&self) -> Instant;

    /// Starts a thread with the given name.
    ///
    /// # Errors
    /// The system's error if the thread cannot be started.
    fn spawn(&self, name: &str, work: Box<dyn FnOnce() + Send>) -> io::Result<JoinHandle<()>>;

    /// Yields, so other threads can run.
    fn pass(&self);

    /// Suspends the current thread for `time`.
    fn sleep(&self, time: Duration);

    /// Waits until `ready` returns `true` or the given time has elapsed. Other threads make the condition true. They belong to the engine or to its callers.
    fn wait(&self, at_most: Option<Duration>, ready: &mut dyn FnMut() -> bool);
}

/// The system's threads, or the threads of a test's scheduler.
#[derive(Clone, Debug, Default)]
pub(crate) struct Threads(Option<Arc<dyn Scheduler>>);

/// An engine thread. Several threads may wait until it ends.
#[derive(Debug)]
pub(crate) struct Thread {
    id: ThreadId,
    /// The system's handle to the thread, or `None` after the thread has been joined.
    handle: Mutex<Option<JoinHandle<()>>>,
    ended: Arc<OnceLock<()>>,
}

impl Thread {
    pub(crate) fn id(&self) -> ThreadId {
        self.id
    }
}

/// A guard that records the end of a thread, even after a panic.
struct Ends(Arc<OnceLock<()>>);

impl Drop for Ends {
    fn drop(&mut self) {
        let _ = self.0.set(());
    }
}

impl Threads {
    #[cfg(any(test, feature = "testing"))]
    pub(crate) fn scheduled(scheduler: Arc<dyn Scheduler>) -> Self {
        Self(Some(scheduler))
    }

    /// Returns `true` if a test's scheduler decides which thread runs.
    pub(crate) const fn are_scheduled(&self) -> bool {
        self.0.is_some()
    }

    /// Starts a thread with the given name.
    pub(crate) fn spawn(&self, name: &str, work: impl FnOnce() + Send + 'static) -> Result<Thread> {
        let ended = Arc::new(OnceLock::new());
        let ends = Ends(Arc::clone(&ended));
        let work = move || {
            let _ends = ends;
            work();
        };
        let spawned = match &self.0 {
            None => thread::Builder::new().name(name.to_owned()).spawn(work),
            Some(scheduler) => scheduler.spawn(name, Box::new(work)),
        };
        let handle = spawned
            .map_err(|error| Error::of(EngineFault::Thread { name: name.to_owned(), source: error }))?;
        Ok(Thread { id: handle.thread().id(), handle: Mutex::new(Some(handle)), ended })
    }

    /// Waits until a thread has ended.
    pub(crate) fn join(&self, thread: &Thread) {
        match &self.0 {
            None => {
                thread.ended.wait();
            }
            Some(scheduler) => scheduler.wait(None, &mut || thread.ended.get().is_some()),
        }
        let handle = thread.handle.lock().unwrap_or_else(PoisonError::into_inner).take();
        let _ = handle.map(JoinHandle::join);
    }

    pub(crate) fn now(&self) -> Instant {
        self.0.as_ref().map_or_else(Instant::now, |scheduler| scheduler.now())
    }

    pub(crate) fn yield_now(&self) {
        self.0.as_ref().map_or_else(thread::yield_now, |scheduler| scheduler.pass());
    }

    pub(crate) fn sleep(&self, time: Duration) {
        self.0.as_ref().map_or_else(|| thread::sleep(time), |scheduler| scheduler.sleep(time));
    }

    /// Waits for the next message in a queue.
    pub(crate) fn receive<T>(&self, queue: &mpsc::Receiver<T>) -> Result<T, RecvError> {
        let Some(scheduler) = &self.0 else { return queue.recv() };
        let mut received = Err(TryRecvError::Empty);
        scheduler.wait(None, &mut || {
            received = queue.try_recv();
            !matches!(received, Err(TryRecvError::Empty))
        });
        received.map_err(|_| RecvError)
    }

    /// Waits for a message for at most the given time.
    pub(crate) fn receive_within<T>(
        &self,
        queue: &mpsc::Receiver<T>,
        at_most: Duration,
    ) -> Result<T, RecvTimeoutError> {
        let Some(scheduler) = &self.0 else { return queue.recv_timeout(at_most) };
        let mut received = Err(TryRecvError::Empty);
        scheduler.wait(Some(at_most), &mut || {
            received = queue.try_recv();
            !matches!(received, Err(TryRecvError::Empty))
        });
        received.map_err(|error| match error {
            TryRecvError::Empty => RecvTimeoutError::Timeout,
            TryRecvError::Disconnected => RecvTimeoutError::Disconnected,
        })
    }

    /// Waits for a message from a caller. Returns `None` once the queue is closed and empty.
    pub(crate) fn receive_from_callers<T>(&self, queue: &async_channel::Receiver<T>) -> Option<T> {
        let Some(scheduler) = &self.0 else { return queue.recv_blocking().ok() };
        let mut received = Err(async_channel::TryRecvError::Empty);
        scheduler.wait(None, &mut || {
            received = queue.try_recv();
            !matches!(received, Err(async_channel::TryRecvError::Empty))
        });
        received.ok()
    }
}
