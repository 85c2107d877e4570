//! The runtime on which the requests over a connection pool run. They do not run on a caller's runtime, because that may be blocked, pause or end while other
//! callers use a connection that it opened.

use std::sync::{Arc, LazyLock, OnceLock};

use table_core::{Error, ErrorCode, Result};
use tokio::runtime::{Builder, Handle};
use tokio::task::JoinHandle;
use tracing::Instrument;

/// The runtime for connection pools of clients that programs have created themselves. Several stores may use such a pool, so no store owns its runtime.
static SHARED: LazyLock<Arc<Runtime>> = LazyLock::new(Arc::default);

/// A lazily created runtime with one thread, which never stops running. It works under any executor's `block_on`, at the cost of a thread switch per request.
#[derive(Debug, Default)]
pub(crate) struct Runtime {
    own: OnceLock<Own>,
    /// `true` if requests run on their caller's tokio runtime, whose clock a test can pause.
    follows_callers: bool,
}

#[derive(Debug)]
struct Own(Option<tokio::runtime::Runtime>);

impl Drop for Own {
    fn drop(&mut self) {
        // Dropping a runtime blocks, which is not allowed in async code. The last handle of the store may be dropped in async code.
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

/// A task that is aborted when its handle is dropped, so dropping the caller's future cancels the request.
struct AbortOnDrop<T>(JoinHandle<T>);

impl<T> Drop for AbortOnDrop<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Runtime {
    /// Returns the runtime shared by all stores that use a client created by the program.
    pub(crate) fn shared() -> Arc<Self> {
        Arc::clone(&SHARED)
    }

    /// Creates a runtime for an account in memory, which has no connections. Requests run on their caller's tokio runtime, if there is one.
    #[cfg(feature = "emulator")]
    pub(crate) fn of_callers() -> Arc<Self> {
        Arc::new(Self { own: OnceLock::new(), follows_callers: true })
    }

    /// Runs a future to completion as a task. If the task panics, or its runtime shuts down, a change may have been applied.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        is_change: bool,
        future: impl Future<Output = Result<T>> + Send + 'static,
    ) -> Result<T> {
        let handle = match Handle::try_current() {
            Ok(handle) if self.follows_callers => handle,
            _ => self.handle()?.clone(),
        };
        // The client's futures are large. They are boxed, so moving them does not copy them.
        let mut task = AbortOnDrop(handle.spawn(Box::pin(future.in_current_span())));
        (&mut task.0).await.unwrap_or_else(|error| {
            let error = Error::new(ErrorCode::InternalError, "the request was aborted").with_source(error);
            Err(if is_change { error.into_ambiguous() } else { error })
        })
    }

    fn handle(&self) -> Result<&Handle> {
        if self.own.get().is_none() {
            let runtime = Builder::new_multi_thread()
                .worker_threads(1)
                .thread_name("table-cosmos")
                .enable_all()
                .build()
                .map_err(|error| {
                    Error::new(ErrorCode::Io, "the thread for requests could not be started")
                        .with_source(error)
                })?;
            // Two concurrent first calls may both build a runtime. The second runtime is shut down without being used.
            let _ = self.own.set(Own(Some(runtime)));
        }
        let own = self.own.get().and_then(|own| own.0.as_ref());
        own.map(tokio::runtime::Runtime::handle)
            .ok_or_else(|| Error::new(ErrorCode::InternalError, "the thread for requests has ended"))
    }
}
