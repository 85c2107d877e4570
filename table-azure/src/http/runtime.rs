//! The runtime on which requests run: the caller's tokio runtime or, without one, a runtime owned by the client.

use std::sync::OnceLock;

use table_core::{Error, Result};
use tokio::runtime::{Builder, Handle};
use tokio::task::JoinHandle;
use tracing::Instrument;

use crate::http::fault::HttpFault;

/// A lazily created runtime. It works under any executor's `block_on`, at the cost of one thread switch.
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

/// A task that is aborted when its handle is dropped, as a request on the caller's runtime would be.
struct AbortOnDrop<T>(JoinHandle<T>);

impl<T> Drop for AbortOnDrop<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Runtime {
    /// Runs a future to completion.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        future: impl Future<Output = Result<T>> + Send + 'static,
    ) -> Result<T> {
        if Handle::try_current().is_ok() {
            return future.await;
        }
        self.run_apart(future).await
    }

    /// Runs a future to completion as a task. After the first poll it makes progress without further polling, until the caller drops it.
    pub(crate) async fn run_apart<T: Send + 'static>(
        &self,
        future: impl Future<Output = Result<T>> + Send + 'static,
    ) -> Result<T> {
        let handle = Handle::try_current().or_else(|_| self.handle().cloned())?;
        let mut task = AbortOnDrop(handle.spawn(future.in_current_span()));
        (&mut task.0).await.unwrap_or_else(|error| Err(Error::of(HttpFault::Aborted(error))))
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
