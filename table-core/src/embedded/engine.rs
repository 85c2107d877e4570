//! The engine: the handle that programs hold, and how it starts and stops.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU32;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;

use async_channel::Sender;
use futures_channel::oneshot;

use crate::clock::Clock;
use crate::embedded::base::{BaseView, Verification};
use crate::embedded::checkpointer::{Checkpointer, Wake};
use crate::embedded::committer::{Checkpoints, Committer, Direct, OnDisk, Thresholds};
use crate::embedded::folder;
use crate::embedded::options::{EngineOptions, Faults};
use crate::embedded::recover::{self, Recovered};
use crate::embedded::request::Request;
use crate::embedded::shared::Shared;
use crate::embedded::state::State;
use crate::embedded::statistics::Statistics;
use crate::embedded::threads::Thread;
use crate::embedded::timestamps::steady;
use crate::embedded::waker::contained;
use crate::error::Result;
use crate::store::Capabilities;

/// Requests that wait for the committer. Writers beyond wait for room.
const QUEUE: usize = 1_024;

/// The embedded engine: tables in a folder or in memory, with the service's semantics and limits.
///
/// Cloning makes another handle of the same engine; the last one that goes stops it. A write is durable when it is
/// acknowledged, unless [`Durability::Relaxed`](crate::embedded::Durability::Relaxed) was chosen; writers that wait together share one sync of the disk.
///
/// The futures need no particular runtime. Waiting for a commit is a real wait, but in memory, where a caller that finds no other at
/// work writes on its own thread; reads answer at once, from memory or with blocking reads of pages that are not cached. Dropping the future of a write does not take the write back.
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
    /// Those of this handle.
    pub(crate) faults: Faults,
}

pub(crate) struct Inner {
    pub(crate) shared: Arc<Shared>,
    pub(crate) requests: Sender<Request>,
    pub(crate) capabilities: Capabilities,
    pub(crate) options: EngineOptions,
    /// What leases and waits are measured by.
    pub(crate) steady: Clock,
    pub(crate) calls: Calls,
    folder: Option<PathBuf>,
    /// What callers of an engine in memory work with themselves.
    pub(crate) direct: Option<Arc<Direct>>,
    committer: Mutex<Option<Thread>>,
}

/// How requests reach the committer.
struct Writer {
    requests: Sender<Request>,
    direct: Option<Arc<Direct>>,
    thread: Option<Thread>,
}

/// Starts the committer's thread; an engine without one reads alone.
fn start(
    options: &EngineOptions,
    shared: &Shared,
    run: impl FnOnce() -> (Vec<oneshot::Sender<Result<()>>>, Result<()>) + Send + 'static,
) -> Option<Thread> {
    let run = move || {
        let (closers, outcome) = run();
        for closer in closers {
            let _ = closer.send(outcome.clone());
        }
    };
    options.threads.spawn("tables-commit", run).inspect_err(|error| shared.poison(error)).ok()
}

/// Counts calls, for faults that come every n-th time.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    pub(crate) all: AtomicU32,
    pub(crate) pages: AtomicU32,
    pub(crate) transactions: AtomicU32,
}

impl Engine {
    /// Opens a folder with the default options, creating it if it is not there, and recovers what it holds.
    ///
    /// # Errors
    /// Those of [`EngineOptions::open`].
    pub fn open(folder: impl AsRef<Path>) -> Result<Self> {
        EngineOptions::new().open(folder)
    }

    /// An engine that keeps everything in memory and forgets it in the end.
    #[must_use]
    pub fn in_memory() -> Self {
        EngineOptions::new().in_memory()
    }

    /// Options to open an engine with.
    pub fn builder() -> EngineOptions {
        EngineOptions::new()
    }

    /// Another handle of the same engine, which the [`Faults`] of its options do not hit: for what a program keeps for itself beside
    /// what is tried.
    ///
    /// ```
    /// use std::num::NonZeroU32;
    /// use table_core::embedded::{EngineOptions, Faults};
    /// use table_core::{TableName, TableStore};
    ///
    /// # pollster::block_on(async {
    /// let busy = Faults { busy_every: NonZeroU32::new(1), ..Faults::default() };
    /// let (engine, employees) = (EngineOptions::new().faults(busy).in_memory(), TableName::new("Employee")?);
    /// assert!(engine.create_table(&employees).await.unwrap_err().is_throttled());
    /// engine.without_faults().create_table(&employees).await?;
    /// # Ok::<(), table_core::Error>(())
    /// # }).unwrap();
    /// ```
    #[must_use]
    pub fn without_faults(&self) -> Self {
        Self { faults: Faults::default(), ..self.clone() }
    }

    fn start_in_memory(options: EngineOptions) -> Self {
        let (requests, queue) = async_channel::bounded(QUEUE);
        let steady = steady(options.clock.clone(), 0);
        let committer = Committer::new(&options, queue.clone(), State::default(), 0, steady.clone(), None);
        let (shared, threads) = (Arc::clone(&committer.shared), options.threads.clone());
        let direct = Arc::new(Direct::new(committer));
        // A test that decides who goes on, and where a panic is, has each write done by the one thread.
        let by_callers = !options.threads.are_scheduled() && options.hook.is_none();
        let own = by_callers.then(|| Arc::clone(&direct));
        let thread = start(&options, &shared, move || direct.run(&queue, &threads));
        Self::handle(options, steady, None, shared, Writer { requests, direct: own, thread })
    }

    fn start_on_disk(options: EngineOptions, folder: &Path) -> Result<Self> {
        let folder = &*folder::absolute(folder)?;
        let recovered = recover::open(&options, folder)?;
        let Recovered { state, timestamp, dropped, disk, reserve, journal, base, lock } = recovered;
        let (requests, queue) = async_channel::bounded(QUEUE);
        let (jobs, job_queue) = mpsc::channel();
        let (done, done_queue) = mpsc::channel();
        let checkpointer = Checkpointer {
            disk,
            folder: folder.to_owned(),
            hook: options.hook.clone(),
            threads: options.threads.clone(),
            room: options.recent_bytes as u64,
            reserve: Arc::clone(&reserve),
            base,
            jobs: job_queue,
            done,
            wake: Wake(requests.clone()),
            resting: false,
            no_room: false,
            unmerged: None,
        };
        let stop = checkpointer.base.stop();
        let thread = options.threads.spawn("tables-checkpoint", move || checkpointer.run())?;
        let thresholds =
            Thresholds { checkpoint_bytes: options.checkpoint_bytes, recent_bytes: options.recent_bytes };
        let mut checkpoints = Checkpoints::new(
            thresholds,
            (jobs, done_queue),
            (options.threads.clone(), thread, stop),
            dropped,
            Arc::clone(&reserve),
        );
        checkpoints.count_dropped(&state);
        let disk = OnDisk { journal, checkpoints, reserve, _lock: lock };
        let steady = steady(options.clock.clone(), timestamp);
        let committer = Committer::new(&options, queue, state, timestamp, steady.clone(), Some(disk));
        let shared = Arc::clone(&committer.shared);
        let thread = start(&options, &shared, move || committer.run());
        shared.check_writable()?;
        let writer = Writer { requests, direct: None, thread };
        Ok(Self::handle(options, steady, Some(folder.to_owned()), shared, writer))
    }

    pub(crate) fn start_read_only(
        options: EngineOptions,
        folder: &Path,
        state: State,
        timestamp: u64,
    ) -> Self {
        let (requests, _) = async_channel::bounded(1);
        let steady = steady(options.clock.clone(), timestamp);
        let shared = Arc::new(Shared::read_only(state));
        let writer = Writer { requests, direct: None, thread: None };
        Self::handle(options, steady, Some(folder.to_owned()), shared, writer)
    }

    fn handle(
        options: EngineOptions,
        steady: Clock,
        folder: Option<PathBuf>,
        shared: Arc<Shared>,
        Writer { requests, direct, thread }: Writer,
    ) -> Self {
        Self {
            faults: options.faults,
            inner: Arc::new(Inner {
                shared,
                requests,
                capabilities: Capabilities::service(options.limits),
                options,
                steady,
                calls: Calls::default(),
                folder,
                direct,
                committer: Mutex::new(thread),
            }),
        }
    }

    /// Writes what is not in the base yet into it, and deletes the journal it covers. The engine does so by itself as rows
    /// come in; before a copy of the folder is taken, or a long pause, it shortens the next open.
    ///
    /// # Errors
    /// `EnginePoisoned`, `EngineClosed`.
    pub async fn checkpoint(&self) -> Result<()> {
        self.ask(|answer| Request::Checkpoint { compact: false, answer }).await
    }

    /// Does a checkpoint and merges the base, so that it has each row once, and nothing of what was replaced or deleted before. It
    /// goes slice by slice beside readers and writers, and needs room for a slice.
    ///
    /// # Errors
    /// `Corrupted` if a part of the base cannot be read: that part is left as it is, the rest is compact. `EnginePoisoned`,
    /// `EngineClosed`; `Io`, after which the engine works on as before.
    pub async fn compact(&self) -> Result<()> {
        self.ask(|answer| Request::Checkpoint { compact: true, answer }).await
    }

    /// Figures of what the engine holds, and of what it has done since it was opened. Those of one table are
    /// [`table_statistics`](Self::table_statistics).
    ///
    /// # Errors
    /// `EngineClosed`.
    pub fn statistics(&self) -> Result<Statistics> {
        let (shared, mut statistics) = (&self.inner.shared, Statistics::default());
        shared.state()?.describe(&mut statistics);
        shared.groups.describe(&mut statistics);
        Ok(statistics)
    }

    /// Reads all that the base has from the disk and checks it: every checksum, the order of keys, every row. Readers and writers
    /// go on meanwhile. It blocks for as long as the disk takes to read the folder. The journal is checked by the next open.
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
    /// `EngineClosed`. What is broken is not an error but part of the answer.
    pub fn verify(&self) -> Result<Verification> {
        let state = self.inner.shared.state_to_keep()?;
        let found = state.base.as_ref().map(BaseView::verify).unwrap_or_default();
        // The next engine on the folder may have removed files meanwhile.
        self.inner.shared.check_open().map(|()| found)
    }

    /// Makes everything durable, stops, and frees the folder. Handles and snapshots that are left answer `EngineClosed`.
    ///
    /// # Errors
    /// `EnginePoisoned`, if an earlier write failed; the folder is free all the same. `EngineClosed`.
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

    /// Sends a request and waits for its answer.
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
            // It is answered already, or a panic took the answer.
            return outcome.try_recv().ok().flatten().unwrap_or_else(|| Err(gone()));
        };
        contained(async {
            self.inner.requests.send(request).await.map_err(|_| gone())?;
            outcome.await.map_err(|_| gone())?
        })
        .await
    }
}

impl EngineOptions {
    /// Opens a folder, creating it if it is not there, and recovers what it holds.
    ///
    /// # Errors
    /// `FolderLocked` if another engine has it open; `ReadOnly` if it is a backup; `FolderNotOurs`, `FormatTooNew`, `FormatTooOld` and
    /// `Corrupted`, which leave it untouched; `Io`.
    pub fn open(self, folder: impl AsRef<Path>) -> Result<Engine> {
        Engine::start_on_disk(self, folder.as_ref())
    }

    /// An engine that keeps everything in memory and forgets it in the end.
    #[must_use]
    pub fn in_memory(self) -> Engine {
        Engine::start_in_memory(self)
    }
}

impl Inner {
    /// Waits until the committer has stopped and let go of the folder. The committer itself, where a waker that it calls lets
    /// go of the last handle, does not wait: it stops as soon as it comes back.
    fn join(&self) {
        self.requests.close();
        let committer = self.committer.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(committer) = committer.filter(|committer| committer.id() != thread::current().id()) {
            self.options.threads.join(committer);
        }
    }
}

impl Drop for Inner {
    /// Waits for what was accepted to be done, so that the folder is free afterwards.
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
