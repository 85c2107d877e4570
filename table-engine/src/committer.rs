//! The committer: the only component that changes the state. It processes requests in groups, and uses one sync to make each group durable.

mod checkpoints;
mod direct;
mod publication;
mod writes;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use async_channel::Receiver;
use futures_channel::oneshot::Sender;
use table_store::limits::Limits;
use table_store::{Error, ErrorCode, Result};

use crate::disk::fault::Task;
use crate::failpoint::{Hook, Step, reach};
use crate::fault::EngineFault;
use crate::gaps::WrittenKeys;
use crate::journal::frame::Record;
use crate::journal::{GROUP_BYTES, Journal};
use crate::options::{Durability, EngineOptions};
use crate::recover::Lock;
use crate::request::{Answer, Request};
use crate::reserve::Reserve;
use crate::shared::Shared;
use crate::state::State;
use crate::threads::Threads;
use crate::timestamps::{SteadyClock, Timestamps};

pub(crate) use checkpoints::{Checkpoints, Thresholds};
pub(crate) use direct::Direct;
use publication::Publication;

/// The maximum number of requests in one group.
const GROUP: usize = 1_024;
/// The maximum time that the committer waits for writers to submit their next requests.
const GATHER: Duration = Duration::from_micros(200);

/// The state and resources of the committer.
pub(crate) struct Committer {
    requests: Receiver<Request>,
    pub(crate) shared: Arc<Shared>,
    hook: Option<Hook>,
    threads: Threads,
    limits: Limits,
    /// `true` if each group is synced before it is acknowledged.
    sync: bool,
    table_delete_delay: Duration,
    /// The latest state. While a group is being processed, it contains writes that are not published yet.
    state: State,
    /// The most recently written keys. Used only by an engine on disk.
    written: WrittenKeys,
    /// Determines when the state is published to readers.
    publication: Publication,
    timestamps: Timestamps,
    /// The clock that measures leases and waiting times.
    steady: SteadyClock,
    /// The journal and the base, or `None` for an in-memory engine.
    disk: Option<OnDisk>,
    /// The number of requests expected in the next group.
    expected: usize,
    /// The time it took to make the last group durable.
    commit_time: Duration,
    /// The error to return for writes that add data, or `None` if they are accepted.
    refusal: Option<Error>,
    /// Tables dropped by the current group.
    dropped: Vec<u32>,
    /// Dropped tables whose rows are still in memory.
    reclaim: Vec<u32>,
}

/// The on-disk resources of an engine. Fields are dropped in the order of their declarations, so the lock outlives the files that it protects.
pub(crate) struct OnDisk {
    pub(crate) journal: Journal,
    pub(crate) checkpoints: Checkpoints,
    pub(crate) reserve: Arc<Reserve>,
    pub(crate) _lock: Lock,
}

impl Committer {
    /// Creates a committer that starts from `state` and assigns Timestamps greater than `timestamp`.
    pub(crate) fn new(
        options: &EngineOptions,
        requests: Receiver<Request>,
        state: State,
        timestamp: u64,
        steady: SteadyClock,
        disk: Option<OnDisk>,
    ) -> Self {
        Self {
            requests,
            shared: Arc::new(Shared::new(state.clone())),
            hook: options.hook.clone(),
            threads: options.threads.clone(),
            limits: options.limits,
            sync: options.durability == Durability::Durable,
            table_delete_delay: options.table_delete_delay,
            state,
            written: WrittenKeys::default(),
            publication: Publication::default(),
            timestamps: Timestamps::new(timestamp),
            steady,
            disk,
            expected: 0,
            commit_time: Duration::ZERO,
            refusal: None,
            dropped: Vec::new(),
            reclaim: Vec::new(),
        }
    }

    /// Runs until the committer receives a close request or all handles have been dropped.
    ///
    /// Returns the callers that wait for the engine to close, and the outcome to send to them. Dropping the committer releases the folder, so send the outcome
    /// after that.
    pub(crate) fn run(mut self) -> (Vec<Sender<Result<()>>>, Result<()>) {
        let mut closers = Vec::new();
        // A panic stops all writes, but the committer keeps responding. From then on, it sends the reason to every writer.
        while let Err(error) = caught(|| self.work(&mut closers)) {
            self.shared.poison(&error);
        }
        let outcome = caught(|| self.make_durable());
        (closers, outcome)
    }

    fn work(&mut self, closers: &mut Vec<Sender<Result<()>>>) -> Result<()> {
        while closers.is_empty() {
            if let Err(error) = self.tend() {
                self.shared.poison(&error);
                continue;
            }
            if self.has_to_reclaim() {
                self.reclaim_and_publish();
                // If no request is queued, the loop continues at once. The removal of rows from memory may have made a checkpoint due.
                if self.requests.is_empty() && !self.requests.is_closed() {
                    self.threads.yield_now();
                    continue;
                }
            }
            let Some(request) = self.threads.receive_from_callers(&self.requests) else { break };
            if self.refusal.is_some() {
                // Disk space may have become available in the meantime.
                self.tend()?;
            }
            self.check_room()?;
            self.gather();
            self.group(request, closers);
        }
        Ok(())
    }

    /// Refuses writes that add data if the disk reserve cannot be fully allocated, even after any checkpoint or merge in progress has finished.
    fn check_room(&mut self) -> Result<()> {
        self.restore_reserve();
        if self.refusal.is_some() && self.state.frozen.is_some() {
            // The checkpoint in progress may have borrowed the reserve, and it may free space.
            self.tend()?;
            self.restore_reserve();
        }
        Ok(())
    }

    fn restore_reserve(&mut self) {
        let Some(disk) = &mut self.disk else { return };
        disk.reserve.create();
        if self.refusal.is_none()
            && let Err(error) = disk.reserve.restore_in_turn()
        {
            self.refusal = Some(Task::KeepReserve.refused(error));
            disk.free_room();
        }
    }

    /// Processes a request and the requests queued after it as one group.
    fn group(&mut self, first: Request, closers: &mut Vec<Sender<Result<()>>>) {
        let (mut answers, mut request, mut frees) = (Vec::new(), Some(first), false);
        while let Some(next) = request.take() {
            match next {
                Request::Write(write) => {
                    let (may_free, reading) = (write.frees(), self.steady.read());
                    let before = self.group_bytes();
                    let answer = self.apply(write, reading);
                    // A write that is refused or changes nothing frees no space.
                    frees |= may_free && !answer.grows() && self.group_bytes() > before;
                    answers.push(answer);
                }
                Request::Checkpoint { compact, answer } => self.ask_checkpoint(compact, answer),
                Request::Close { answer } => closers.push(answer),
                Request::Wake => {}
            }
            if answers.len() < GROUP && self.group_bytes() < GROUP_BYTES && closers.is_empty() {
                request = self.requests.try_recv().ok();
            }
        }
        let found = self.shared.take_gap();
        let is_added = found.is_some_and(|found| self.state.gaps.add(found, &self.written));
        // IMPORTANT: the state is published here only if the group has no writes and no earlier write has failed. In any other case, the state may contain
        // writes that are not durable.
        if is_added && answers.is_empty() && self.shared.check_writable().is_ok() {
            self.publish();
        }
        self.finish_group(&mut answers, frees);
    }

    /// Makes all accepted writes durable, and closes the journal.
    fn make_durable(&mut self) -> Result<()> {
        self.shared.check_writable()?;
        let last = self.timestamps.last();
        self.disk.as_mut().map_or(Ok(()), |disk| disk.journal.close(last))
    }

    /// Waits briefly for the writers of the last group. They have just received their responses, so they are likely to submit again.
    ///
    /// The wait is short compared with a commit. Sharing a sync saves more time than the wait costs. A single writer is not delayed.
    fn gather(&self) {
        if self.disk.is_none() || self.expected <= 1 {
            return;
        }
        let until = self.threads.now() + (self.commit_time / 8).min(GATHER);
        while self.requests.len() + 1 < self.expected && self.threads.now() < until {
            self.threads.yield_now();
        }
    }

    /// Schedules the removal of rows of tables that the group has dropped. The next checkpoint and later merges remove them from the base. They are removed
    /// from memory step by step.
    fn give_up(&mut self) -> Result<()> {
        for id in std::mem::take(&mut self.dropped) {
            self.reclaim.push(id);
            let Some(disk) = &mut self.disk else { continue };
            // The drop is passed to the base, which may record it before the next sync of the journal. The journal is therefore synced first.
            if disk.checkpoints.waits_for_room() {
                disk.journal.sync()?;
            }
            disk.checkpoints.dropped(id, &self.state)?;
        }
        Ok(())
    }

    /// Discards the writes of the current group. They could not be written because the disk is full.
    fn take_back(&mut self) -> Result<()> {
        if let Some(published) = self.shared.published()? {
            self.state = State::clone(&published);
        }
        self.written.clear();
        self.dropped.clear();
        if let Some(disk) = &mut self.disk {
            disk.free_room();
        }
        Ok(())
    }

    fn group_bytes(&self) -> usize {
        self.disk.as_ref().map_or(0, |disk| disk.journal.group_bytes())
    }

    fn record(&mut self, record: &Record) {
        if let Some(disk) = &mut self.disk {
            disk.journal.push(record);
        }
    }

    /// Makes the group durable, publishes it, and then acknowledges it.
    ///
    /// `frees` is `true` if the group contains a write that frees space. The group may then use the disk reserve, including for its writes that add data. Later
    /// writes that add data are refused until the reserve is fully allocated again.
    fn finish_group(&mut self, answers: &mut Vec<Answer>, frees: bool) {
        // The next group is expected to contain the requests already queued, and one more from each writer that receives a response now.
        self.expected = self.requests.len() + answers.len();
        if answers.is_empty() {
            return;
        }
        let mut outcome = self.shared.check_writable().and_then(|()| self.commit_group(frees));
        if outcome.as_ref().is_err_and(|error| error.code() == ErrorCode::DiskFull) {
            outcome = self.take_back().and(outcome);
        } else if let Err(error) = &outcome {
            self.shared.poison(error);
        }
        let failure = self.shared.check_writable().and(outcome).err();
        if failure.is_none() {
            self.shared.groups.add(answers.len());
        }
        for answer in answers.drain(..) {
            answer.send(failure.as_ref());
        }
    }

    fn commit_group(&mut self, frees: bool) -> Result<()> {
        // IMPORTANT: a write is durable before it is visible. A reader must never see a write that a power loss could undo.
        if let Some(disk) = &mut self.disk {
            let began = self.threads.now();
            disk.journal.commit(self.sync, frees)?;
            self.commit_time = self.threads.now() - began;
        }
        reach(self.hook.as_ref(), Step::Publish)?;
        // IMPORTANT: a write is visible before it is acknowledged. A read that begins after an acknowledged write sees the write (CON-2).
        self.publish();
        self.give_up()?;
        reach(self.hook.as_ref(), Step::Acknowledge)
    }

    fn check_writable(&self, frees: bool) -> Result<()> {
        self.shared.check_writable()?;
        self.refusal.clone().filter(|_| !frees).map_or(Ok(()), Err)
    }

    fn ask_checkpoint(&mut self, compact: bool, answer: Sender<Result<()>>) {
        match (&mut self.disk, self.shared.check_writable()) {
            (Some(disk), Ok(())) => disk.checkpoints.ask(compact, answer),
            (_, outcome) => Answer::Done(answer, outcome).send(None),
        }
    }
}

impl Drop for Committer {
    /// Closes the engine and drops all remaining requests. This notifies their callers that the engine has stopped.
    fn drop(&mut self) {
        // IMPORTANT: the readers' reference to the base is released before `self` drops the base, and the folder's lock is dropped last.
        self.shared.close();
        self.requests.close();
        while self.requests.try_recv().is_ok() {}
    }
}

/// Runs engine code, and converts a panic into an error.
fn caught<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<&str>().copied();
        let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or_default();
        Err(Error::of(EngineFault::Panicked(text.to_owned())))
    })
}
