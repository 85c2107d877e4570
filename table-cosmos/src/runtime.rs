//! Runtime of requests: the caller's tokio runtime, or one of the store's own.

use std::sync::OnceLock;

use table_core::{Error, ErrorCode, Result};
use tokio::runtime::{Builder, Handle};
use tokio::task::JoinHandle;
use tracing::Instrument;

/// A runtime that exists from the first call that needs it: `block_on` of any executor works, with one thread hop.
#[derive(Debug, Default)]
pub(crate) struct Runtime(OnceLock<Own>);

#[derive(Debug)]
struct Own(Option<tokio::runtime::Runtime>);

impl Drop for Own {
    fn drop(&mut self) {
        // A runtime must not be awaited for in another one's thread, and its last owner may be anywhere.
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

/// Dropping the future ends the request, as it would on the caller's own runtime.
struct AbortOnDrop<T>(JoinHandle<T>);

impl<T> Drop for AbortOnDrop<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Runtime {
    /// Runs a future to its end as a task of its own.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        future: impl Future<Output = Result<T>> + Send + 'static,
    ) -> Result<T> {
        let handle = Handle::try_current().or_else(|_| self.handle().cloned())?;
        // The client's futures are large: on the heap they are moved for nothing.
        let mut task = AbortOnDrop(handle.spawn(Box::pin(future.in_current_span())));
        (&mut task.0).await.unwrap_or_else(|error| {
            Err(Error::new(ErrorCode::InternalError, "the request was broken off").with_source(error))
        })
    }

    fn handle(&self) -> Result<&Handle> {
        if self.0.get().is_none() {
            let runtime = Builder::new_multi_thread()
                .worker_threads(1)
                .thread_name("table-cosmos")
                .enable_all()
                .build()
                .map_err(|error| {
                    Error::new(ErrorCode::Io, "no thread for requests could be started").with_source(error)
                })?;
            // Two first calls may both build one; the second is shut down again unused.
            let _ = self.0.set(Own(Some(runtime)));
        }
        let own = self.0.get().and_then(|own| own.0.as_ref());
        own.map(tokio::runtime::Runtime::handle)
            .ok_or_else(|| Error::new(ErrorCode::InternalError, "the thread for requests has ended"))
    }
}
