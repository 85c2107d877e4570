//! The runtime of a connection pool, which drives the connections and timers of all calls.
//!
//! The runtime of a caller is unsuitable for this, because it may be blocked, paused or shut down.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::OnceLock;
use std::task::{Context, Poll};

use table_core::{Error, Result};
use tokio::runtime::{Builder, Handle};
use tokio::task::JoinHandle;
use tracing::Instrument;

use crate::http::fault::HttpFault;

/// A runtime with one worker thread that starts on first use. It is independent of the callers' runtimes.
#[derive(Debug, Default)]
pub(crate) struct Runtime {
    own: OnceLock<Own>,
    /// `true` if calls use the timers of their caller's runtime, whose clock a test can pause. Tasks then also run on that runtime.
    follows_callers: bool,
}

#[derive(Debug)]
struct Own(Option<tokio::runtime::Runtime>);

impl Drop for Own {
    fn drop(&mut self) {
        // The last client handle may be dropped in async code. There, a runtime must not be dropped directly, because dropping it blocks.
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

/// A task that is aborted when its handle is dropped, unless it is detached.
#[derive(Debug)]
pub(crate) struct Task<T> {
    handle: JoinHandle<T>,
    is_detached: bool,
}

impl<T> Task<T> {
    fn new(handle: JoinHandle<T>) -> Self {
        Self { handle, is_detached: false }
    }

    /// Detaches the task, which then continues after its handle is dropped.
    pub(crate) fn detach(mut self) {
        self.is_detached = true;
    }
}

impl<T> Drop for Task<T> {
    fn drop(&mut self) {
        if !self.is_detached {
            self.handle.abort();
        }
    }
}

impl<T> Future for Task<T> {
    type Output = Result<T>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.handle).poll(context).map_err(|error| Error::of(HttpFault::Aborted(error)))
    }
}

impl Runtime {
    /// Creates a runtime for tests. Its calls use the timers of their caller's runtime.
    pub(crate) const fn of_callers() -> Self {
        Self { own: OnceLock::new(), follows_callers: true }
    }

    /// Runs a future to completion, on any executor. Its timers belong to this runtime, so time limits apply even if the caller's runtime is blocked.
    pub(crate) async fn run<T>(&self, future: impl Future<Output = Result<T>>) -> Result<T> {
        let handle = self.of_call()?;
        let mut future = pin!(future);
        poll_fn(|context| {
            let _context_of_timers = handle.enter();
            future.as_mut().poll(context)
        })
        .await
    }

    /// Runs a future to completion as a task of this runtime.
    ///
    /// Once the returned future has been polled for the first time, the task makes progress without further polling. Dropping the returned future aborts the
    /// task.
    pub(crate) async fn run_apart<T: Send + 'static>(
        &self,
        future: impl Future<Output = Result<T>> + Send + 'static,
    ) -> Result<T> {
        Task::new(self.of_call()?.spawn(future.in_current_span())).await.flatten()
    }

    /// Starts a task on this runtime, such as one that drives a connection or renews a token.
    ///
    /// # Errors
    /// `Io` if the runtime's thread cannot be started.
    pub(crate) fn start<T: Send + 'static>(
        &self,
        future: impl Future<Output = T> + Send + 'static,
    ) -> Result<Task<T>> {
        Ok(Task::new(self.handle()?.spawn(future.in_current_span())))
    }

    /// Returns the runtime used for a call's timers and tasks.
    fn of_call(&self) -> Result<Handle> {
        match Handle::try_current() {
            Ok(handle) if self.follows_callers => Ok(handle),
            _ => self.handle().cloned(),
        }
    }

    fn handle(&self) -> Result<&Handle> {
        if self.own.get().is_none() {
            let runtime = Builder::new_multi_thread()
                .worker_threads(1)
                .thread_name("table-azure")
                .enable_all()
                .build()
                .map_err(|error| Error::of(HttpFault::Thread(error)))?;
            // Two concurrent first calls may each build a runtime. The second one is then shut down unused.
            let _ = self.own.set(Own(Some(runtime)));
        }
        let own = self.own.get().and_then(|own| own.0.as_ref());
        own.map(tokio::runtime::Runtime::handle).ok_or_else(|| Error::of(HttpFault::Ended))
    }
}
