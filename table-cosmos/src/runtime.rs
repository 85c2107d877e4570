//! The runtime that runs the requests of a connection pool.
//!
//! A caller's runtime is unsuitable for this. It may be blocked, paused or shut down while other callers use a connection that it opened.

use std::sync::{Arc, LazyLock, OnceLock};

use table_core::{Error, ErrorCode, Result};
use tokio::runtime::{Builder, Handle};
use tokio::task::JoinHandle;
use tracing::Instrument;

/// The runtime for connection pools of clients created by the program. Several stores may share a pool, so no store owns its runtime.
static SHARED: LazyLock<Arc<Runtime>> = LazyLock::new(Arc::default);

/// A runtime with one worker thread that starts on first use. With it, requests work on any executor, at the cost of a thread switch per request.
#[derive(Debug, Default)]
pub(crate) struct Runtime {
    own: OnceLock<Own>,
    /// `true` if requests run on the caller's tokio runtime, whose clock a test can pause.
    follows_callers: bool,
}

#[derive(Debug)]
struct Own(Option<tokio::runtime::Runtime>);

impl Drop for Own {
    fn drop(&mut self) {
        // The last store handle may be dropped in async code. There, a runtime must not be dropped directly, because dropping it blocks.
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

/// A task that is aborted when its handle is dropped. This cancels the request if the caller's future is dropped.
struct AbortOnDrop<T>(JoinHandle<T>);

impl<T> Drop for AbortOnDrop<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Runtime {
    /// Returns the runtime shared by all stores whose client was created by the program.
    pub(crate) fn shared() -> Arc<Self> {
        Arc::clone(&SHARED)
    }

    /// Creates a runtime for an in-memory account, which has no connections. Requests run on the caller's tokio runtime, if it has one.
    #[cfg(feature = "emulator")]
    pub(crate) fn of_callers() -> Arc<Self> {
        Arc::new(Self { own: OnceLock::new(), follows_callers: true })
    }

    /// Runs a future to completion as a task. Returns an error if the task panics or its runtime shuts down. If `is_change` is `true`, this error is ambiguous.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        is_change: bool,
        future: impl Future<Output = Result<T>> + Send + 'static,
    ) -> Result<T> {
        let handle = match Handle::try_current() {
            Ok(handle) if self.follows_callers => handle,
            _ => self.handle()?.clone(),
        };
        // The client's futures are large. Boxing them avoids copies when they are moved.
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
            // Two concurrent first calls may each build a runtime. The second one is then shut down unused.
            let _ = self.own.set(Own(Some(runtime)));
        }
        let own = self.own.get().and_then(|own| own.0.as_ref());
        own.map(tokio::runtime::Runtime::handle)
            .ok_or_else(|| Error::new(ErrorCode::InternalError, "the thread for requests has ended"))
    }
}
