//! The runtime of a pool of connections. It drives the connections, and polls the requests of callers that have no tokio runtime.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::OnceLock;
use std::task::{Context, Poll};

use table_core::{Error, Result};
use tokio::runtime::{Builder, Handle};
use tokio::task::JoinHandle;
use tracing::Instrument;

use crate::http::fault::HttpFault;

/// A lazily created runtime with one thread.
#[derive(Debug, Default)]
pub(crate) struct Runtime(OnceLock<Own>);

#[derive(Debug)]
struct Own(Option<tokio::runtime::Runtime>);

impl Drop for Own {
    fn drop(&mut self) {
        // Dropping a runtime blocks, which is not allowed in async code. The last handle of the client may be dropped in async code.
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

    /// Lets the task continue without its handle.
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
    /// Runs a future to completion, under any executor. Without a tokio runtime of the caller, its timers belong to this runtime.
    pub(crate) async fn run<T>(&self, future: impl Future<Output = Result<T>>) -> Result<T> {
        if Handle::try_current().is_ok() {
            return future.await;
        }
        let handle = self.handle()?;
        let mut future = pin!(future);
        poll_fn(|context| {
            let _context_of_timers = handle.enter();
            future.as_mut().poll(context)
        })
        .await
    }

    /// Runs a future to completion as a task. After the first poll it makes progress without further polling, until the caller drops it.
    pub(crate) async fn run_apart<T: Send + 'static>(
        &self,
        future: impl Future<Output = Result<T>> + Send + 'static,
    ) -> Result<T> {
        let handle = Handle::try_current().or_else(|_| self.handle().cloned())?;
        Task::new(handle.spawn(future.in_current_span())).await.flatten()
    }

    /// Starts a task on this runtime, whose thread always runs. The runtime of a caller may pause or end while other callers use its connections.
    ///
    /// # Errors
    /// `Io` if the thread cannot be started.
    pub(crate) fn start<T: Send + 'static>(
        &self,
        future: impl Future<Output = T> + Send + 'static,
    ) -> Result<Task<T>> {
        Ok(Task::new(self.handle()?.spawn(future.in_current_span())))
    }

    fn handle(&self) -> Result<&Handle> {
        if self.0.get().is_none() {
            let runtime = Builder::new_multi_thread()
                .worker_threads(1)
                .thread_name("table-azure")
                .enable_all()
                .build()
                .map_err(|error| Error::of(HttpFault::Thread(error)))?;
            // Two concurrent first calls may both build a runtime. The second runtime is shut down unused.
            let _ = self.0.set(Own(Some(runtime)));
        }
        let own = self.0.get().and_then(|own| own.0.as_ref());
        own.map(tokio::runtime::Runtime::handle).ok_or_else(|| Error::of(HttpFault::Ended))
    }
}
