//! Starts an engine: in memory, on a folder, or for reading only.

use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};

use async_channel::Sender;
use futures_channel::oneshot;
use table_store::Result;
use table_store::store::{Capabilities, Exclusive};

use super::{Calls, Engine, Inner};
use crate::checkpointer::{Checkpointer, Wake};
use crate::committer::{Checkpoints, Committer, Direct, OnDisk, Thresholds};
use crate::folder;
use crate::options::EngineOptions;
use crate::recover::{self, Recovered};
use crate::request::Request;
use crate::shared::Shared;
use crate::state::State;
use crate::threads::Thread;
use crate::timestamps::SteadyClock;

/// The capacity of the committer's request queue. When the queue is full, further writers block.
const QUEUE: usize = 1_024;

/// The connection from an engine's handles to the committer.
struct Writer {
    requests: Sender<Request>,
    direct: Option<Arc<Direct>>,
    thread: Option<Thread>,
}

/// Starts the committer's thread.
///
/// # Errors
/// The system's error if the thread cannot be started.
fn start(
    options: &EngineOptions,
    run: impl FnOnce() -> (Vec<oneshot::Sender<Result<()>>>, Result<()>) + Send + 'static,
) -> Result<Thread> {
    let run = move || {
        let (closers, outcome) = run();
        for closer in closers {
            let _ = closer.send(outcome.clone());
        }
    };
    options.threads.spawn("tables-commit", run)
}

impl Engine {
    pub(super) fn start_in_memory(options: EngineOptions) -> Self {
        let (requests, queue) = async_channel::bounded(QUEUE);
        let steady = SteadyClock::new(options.clock.clone(), 0);
        let committer = Committer::new(&options, queue.clone(), State::default(), 0, steady.clone(), None);
        let (shared, threads) = (Arc::clone(&committer.shared), options.threads.clone());
        // Tests that schedule threads or inject panics require every write to run on the committer's thread.
        let by_callers = !options.threads.are_scheduled() && options.hook.is_none();
        let direct = Arc::new(Direct::new(committer, by_callers));
        let own = by_callers.then(|| Arc::clone(&direct));
        // If the thread cannot be started, every write fails with the error.
        let thread = start(&options, move || direct.run(&queue, &threads));
        let thread = thread.inspect_err(|error| shared.poison(error)).ok();
        Self::handle(options, steady, None, shared, Writer { requests, direct: own, thread })
    }

    pub(super) fn start_on_disk(options: EngineOptions, folder: &Path) -> Result<Self> {
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
            room: options.memtable_bytes as u64,
            reserve: Arc::clone(&reserve),
            base,
            jobs: job_queue,
            done,
            wake: Wake(requests.clone()),
            resting: false,
            unflushed: None,
            unmerged_part: None,
            exchanges: 0,
            unmerged: None,
        };
        let stop = checkpointer.base.stop();
        let thread = options.threads.spawn("tables-checkpoint", move || checkpointer.run())?;
        let thresholds =
            Thresholds { checkpoint_bytes: options.checkpoint_at(), memtable_bytes: options.memtable_bytes };
        let mut checkpoints = Checkpoints::new(
            thresholds,
            (jobs, done_queue),
            (options.threads.clone(), thread, stop),
            dropped,
            Arc::clone(&reserve),
        );
        checkpoints.count_dropped(&state);
        let disk = OnDisk { journal, checkpoints, reserve, _lock: lock };
        let steady = SteadyClock::new(options.clock.clone(), timestamp);
        let committer = Committer::new(&options, queue, state, timestamp, steady.clone(), Some(disk));
        let shared = Arc::clone(&committer.shared);
        let thread = start(&options, move || committer.run())?;
        let writer = Writer { requests, direct: None, thread: Some(thread) };
        Ok(Self::handle(options, steady, Some(folder.to_owned()), shared, writer))
    }

    pub(crate) fn start_read_only(
        options: EngineOptions,
        folder: &Path,
        state: State,
        timestamp: u64,
    ) -> Self {
        let (requests, _) = async_channel::bounded(1);
        let steady = SteadyClock::new(options.clock.clone(), timestamp);
        let shared = Arc::new(Shared::read_only(state));
        let writer = Writer { requests, direct: None, thread: None };
        Self::handle(options, steady, Some(folder.to_owned()), shared, writer)
    }

    fn handle(
        options: EngineOptions,
        steady: SteadyClock,
        folder: Option<PathBuf>,
        shared: Arc<Shared>,
        Writer { requests, direct, thread }: Writer,
    ) -> Self {
        let mut capabilities = Capabilities::service(options.limits);
        capabilities.checks = true;
        capabilities.exclusive = Some(Exclusive::default());
        Self {
            faults: options.faults,
            inner: Arc::new(Inner {
                shared,
                requests,
                capabilities,
                options,
                steady,
                calls: Calls::default(),
                folder,
                direct,
                committer: thread,
                process: std::process::id(),
            }),
        }
    }
}
