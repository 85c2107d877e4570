//! The handle to an engine. Its functions open, maintain and close the engine.

mod read;
mod start;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::thread;

use async_channel::Sender;
use futures_channel::oneshot;
use table_store::store::Capabilities;
use table_store::{Error, Result};

use crate::base::{Verification, VerifiedFiles};
use crate::committer::Direct;
use crate::disk::fault::is_shortage;
use crate::fault::EngineFault;
use crate::gaps::FoundGap;
use crate::options::{EngineOptions, FaultInjection};
use crate::request::Request;
use crate::shared::Shared;
use crate::statistics::Statistics;
use crate::threads::Thread;
use crate::timestamps::SteadyClock;
use crate::waker::contained;

/// The embedded engine: tables in a folder or in memory, with the semantics and limits of Azure Table Storage.
///
/// Cloning creates another handle to the same engine. Dropping the last handle stops the engine. A write is durable when it is acknowledged, unless
/// [`Durability::Relaxed`](crate::Durability::Relaxed) was chosen. Concurrent writers share one sync of the disk.
///
/// The futures do not require a particular runtime.
///
/// - **Writes.** A write waits for its commit. In an in-memory engine, a caller without concurrent writers performs the write on its own thread. If the future
///   of a write is dropped after it has been polled, the write may still be applied, but never in part.
/// - **Reads.** Reads of an engine on disk do not wait for writes. They block the thread while they read blocks that are not cached. A read of an in-memory
///   engine may wait for a write that another thread is performing.
///
/// ```
/// use table_core::embedded::Engine;
/// use table_core::{TableName, TableStore};
///
/// let folder = tempfile::tempdir()?;
/// let engine = Engine::open(folder.path())?; // or Engine::in_memory()
/// let employees = TableName::new("Employee")?;
/// pollster::block_on(engine.create_table(&employees))?;
/// pollster::block_on(engine.close())?;
///
/// let engine = Engine::open(folder.path())?;
/// let page = pollster::block_on(engine.list_tables("", None, 1_000))?;
/// assert_eq!(page.names, [employees]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Engine {
    pub(crate) inner: Arc<Inner>,
    /// The faults to inject into calls on this handle.
    pub(crate) faults: FaultInjection,
}

pub(crate) struct Inner {
    pub(crate) shared: Arc<Shared>,
    pub(crate) requests: Sender<Request>,
    pub(crate) capabilities: Capabilities,
    pub(crate) options: EngineOptions,
    /// The clock that measures leases and waiting times.
    pub(crate) steady: SteadyClock,
    pub(crate) calls: Calls,
    folder: Option<PathBuf>,
    /// The committer of an in-memory engine, which callers can run on their own threads.
    pub(crate) direct: Option<Arc<Direct>>,
    /// The committer's thread. It is `None` if the engine is read-only or the thread could not be started.
    committer: Option<Thread>,
    /// The id of the process in which the engine's threads run. A forked child process has a different id, and does not have these threads.
    pub(crate) process: u32,
}

/// Call counters, used to inject a fault into every n-th call.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    pub(crate) all: AtomicU32,
    pub(crate) pages: AtomicU32,
    pub(crate) transactions: AtomicU32,
}

impl Engine {
    /// Opens a folder with the default options, and recovers its content. If the folder does not exist, it is created.
    ///
    /// # Errors
    /// Any error from [`EngineOptions::open`].
    pub fn open(folder: impl AsRef<Path>) -> Result<Self> {
        EngineOptions::new().open(folder)
    }

    /// Creates an engine that keeps all data in memory. The data is lost when the last handle is dropped.
    #[must_use]
    pub fn in_memory() -> Self {
        EngineOptions::new().in_memory()
    }

    /// Returns options for opening an engine.
    pub fn builder() -> EngineOptions {
        EngineOptions::new()
    }

    /// Returns another handle to the same engine. The [`FaultInjection`] in the engine's options does not affect calls on this handle, so a test can use it to
    /// prepare and check data.
    ///
    /// ```
    /// use std::num::NonZeroU32;
    /// use table_core::embedded::{EngineOptions, FaultInjection};
    /// use table_core::{TableName, TableStore};
    ///
    /// # pollster::block_on(async {
    /// let busy = FaultInjection { busy_every: NonZeroU32::new(1), ..FaultInjection::default() };
    /// let (engine, employees) = (EngineOptions::new().faults(busy).in_memory(), TableName::new("Employee")?);
    /// assert!(engine.create_table(&employees).await.unwrap_err().is_throttled());
    /// engine.without_fault_injection().create_table(&employees).await?;
    /// # Ok::<(), table_core::Error>(())
    /// # }).unwrap();
    /// ```
    #[must_use]
    pub fn without_fault_injection(&self) -> Self {
        Self { faults: FaultInjection::default(), ..self.clone() }
    }

    /// Writes all rows in memory to the base (the engine's data files). Journal files that are no longer needed are deleted.
    ///
    /// The engine also starts checkpoints automatically. An explicit checkpoint makes the next open faster. It is useful before the folder is copied or the
    /// program stops.
    ///
    /// # Errors
    /// - `DiskFull` if the disk has no space for the rows.
    /// - `ServerBusy` if the process has run out of file descriptors or memory.
    /// - `EnginePoisoned` if a write failed.
    /// - `EngineClosed` if the engine is closed.
    /// - `ReadOnly` if it was opened for reading only.
    pub async fn checkpoint(&self) -> Result<()> {
        self.ask(|answer| Request::Checkpoint { compact: false, answer }).await
    }

    /// Runs a checkpoint, and then merges the base until it contains no replaced or deleted rows. Readers and writers continue during the compaction. A
    /// compaction works in steps, and needs free disk space for only one step at a time.
    ///
    /// # Errors
    /// - `Corrupted` if a part of the base cannot be read. This part is left unchanged, and the other parts are compacted.
    /// - `Io` if the disk fails. The engine remains usable.
    /// - Any error from [`checkpoint`](Self::checkpoint).
    pub async fn compact(&self) -> Result<()> {
        self.ask(|answer| Request::Checkpoint { compact: true, answer }).await
    }

    /// Returns the sizes of the engine's data, and counters of operations since the engine was opened. For a single table, use
    /// [`table_statistics`](Self::table_statistics).
    ///
    /// # Errors
    /// - `EngineClosed` if the engine is closed.
    /// - `EnginePoisoned` if a panic has interrupted a write to an in-memory engine.
    pub fn statistics(&self) -> Result<Statistics> {
        let mut statistics = Statistics::default();
        self.inner.state()?.describe(&mut statistics);
        self.inner.shared.groups.describe(&mut statistics);
        Ok(statistics)
    }

    /// Reads the entire base from the disk, and checks every checksum, every row, and the order of keys. The call blocks until the base has been read. Readers
    /// and writers can continue during this time.
    ///
    /// The journal is not checked here, because it is checked each time the folder is opened.
    ///
    /// ```
    /// use table_core::embedded::Engine;
    ///
    /// let folder = tempfile::tempdir()?;
    /// let engine = Engine::open(folder.path())?;
    /// assert!(engine.verify()?.is_whole());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// - `EngineClosed` if the engine is closed.
    /// - `ServerBusy` if the process has run out of file descriptors or memory.
    ///
    /// Corruption is reported in the result, not as an error.
    pub fn verify(&self) -> Result<Verification> {
        self.verify_rest(&mut VerifiedFiles::default())
    }

    /// Verifies the base like [`verify`](Self::verify), except the row files in `verified`, and adds the files that it reads to `verified`. The counts and the
    /// corruption in the result are those of the files read. This verifies several backups of a folder: backups share files, which are then read only once.
    ///
    /// ```
    /// use table_core::embedded::{Engine, VerifiedFiles};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let engine = Engine::open(folder.path())?;
    /// let mut verified = VerifiedFiles::default();
    /// assert!(engine.verify_rest(&mut verified)?.is_whole());
    /// assert_eq!(engine.verify_rest(&mut verified)?.runs, 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Any error from [`verify`](Self::verify).
    pub fn verify_rest(&self, verified: &mut VerifiedFiles) -> Result<Verification> {
        let state = self.inner.state_to_keep()?;
        let found = state.base.as_ref().map(|base| base.verify_rest(verified)).unwrap_or_default();
        // Another engine may have opened the folder and removed files if this engine was closed in the meantime.
        self.inner.shared.check_open()?;
        // The verification fails if a file could not be read for lack of resources, because it is unknown whether the file is intact.
        match found.damage.iter().find(|error| is_shortage(error)) {
            Some(shortage) => Err(shortage.clone()),
            None => Ok(found),
        }
    }

    /// Makes all accepted writes durable, stops the engine, and releases the folder. Remaining handles and snapshots return `EngineClosed`.
    ///
    /// # Errors
    /// - `EnginePoisoned` if an earlier write failed, and `Io` if the last sync fails. The folder is released even then.
    /// - `EngineClosed` if the engine is already closed.
    pub async fn close(self) -> Result<()> {
        if self.inner.shared.is_read_only() {
            let outcome = self.inner.shared.check_open();
            self.inner.shared.close();
            return outcome;
        }
        let outcome = self.ask(|answer| Request::Close { answer }).await;
        self.inner.join();
        outcome
    }

    /// Reports a gap (a key range without rows) that a scan has found. The committer adds the gap to the state together with the next group of writes, and
    /// later scans can then skip it. If the committer has not processed an earlier report yet, this call wakes it.
    pub(crate) fn remember(&self, found: Option<FoundGap>) {
        if found.is_some_and(|found| self.inner.shared.leave_gap(found)) {
            // If the committer's queue is full, the committer is already awake.
            let _ = self.inner.requests.try_send(Request::Wake);
        }
    }

    /// Sends a request and waits for its result.
    pub(crate) async fn ask<T>(
        &self,
        request: impl FnOnce(oneshot::Sender<Result<T>>) -> Request,
    ) -> Result<T> {
        self.inner.shared.check_writable()?;
        let (answer, mut outcome) = oneshot::channel();
        let gone = || self.inner.shared.gone();
        let request = request(answer);
        let left = match &self.inner.direct {
            Some(direct) => direct.take(request),
            None => Some(request),
        };
        let Some(request) = left else {
            // The result is available now, unless it was lost in a panic.
            return outcome.try_recv().ok().flatten().unwrap_or_else(|| Err(gone()));
        };
        self.inner.check_process()?;
        contained(async {
            self.inner.requests.send(request).await.map_err(|_| gone())?;
            outcome.await.map_err(|_| gone())?
        })
        .await
    }
}

impl EngineOptions {
    /// Opens a folder and recovers its content. If the folder does not exist, it is created.
    ///
    /// # Errors
    /// - `FolderLocked` if another engine has the folder open.
    /// - `ReadOnly` if it is a backup.
    /// - `FolderNotOurs` if it contains other files or an incomplete restore.
    /// - `FormatTooNew` or `FormatTooOld` if this library cannot read its format.
    /// - `Corrupted` if it is corrupted.
    /// - `Io` if the disk fails.
    /// - `DiskFull` if the disk has no space for a new file.
    /// - `ServerBusy` if the process has run out of file descriptors or memory.
    ///
    /// `FolderNotOurs`, `FormatTooNew`, `FormatTooOld` and `Corrupted` leave the folder unchanged.
    pub fn open(self, folder: impl AsRef<Path>) -> Result<Engine> {
        Engine::start_on_disk(self, folder.as_ref())
    }

    /// Creates an engine that keeps all data in memory. The data is lost when the last handle is dropped.
    #[must_use]
    pub fn in_memory(self) -> Engine {
        Engine::start_in_memory(self)
    }
}

impl Inner {
    /// Checks that the engine's threads run in this process. A forked process does not have these threads, so its requests would never receive a response.
    fn check_process(&self) -> Result<()> {
        if self.process == std::process::id() { Ok(()) } else { Err(Error::of(EngineFault::OtherProcess)) }
    }

    /// Waits until the committer has stopped and released the folder. The last handle may be dropped by a waker that the committer itself calls. In that case,
    /// the committer does not wait for itself, and stops after the waker returns.
    fn join(&self) {
        if self.check_process().is_err() {
            return;
        }
        self.requests.close();
        let is_other = |committer: &&Thread| committer.id() != thread::current().id();
        if let Some(committer) = self.committer.as_ref().filter(is_other) {
            self.options.threads.join(committer);
        }
    }
}

impl Drop for Inner {
    /// Waits until all accepted requests are done and the folder is released.
    fn drop(&mut self) {
        self.join();
    }
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.inner.folder {
            Some(folder) => write!(f, "embedded engine in {}", folder.display()),
            None => f.write_str("embedded engine in memory"),
        }
    }
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine").field("folder", &self.inner.folder).finish_non_exhaustive()
    }
}
