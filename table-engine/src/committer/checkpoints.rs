//! Checkpoint scheduling for the committer. It starts checkpoints when they are due, passes them to the checkpoint thread, and throttles writers if necessary.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, TryRecvError};
use std::time::Duration;

use futures_channel::oneshot;
use table_store::{Error, Result};

use crate::base::Meta;
use crate::checkpointer::{Checkpoint, Done, Job};
use crate::committer::{Committer, OnDisk};
use crate::disk::fault::is_shortage;
use crate::failpoint::{Step, reach};
use crate::fault::EngineFault;
use crate::key::Span;
use crate::memtable::Memtable;
use crate::reserve::{Reserve, SMALL_CHECKPOINT};
use crate::state::State;
use crate::threads::{Thread, Threads};

/// The maximum delay before a commit group. The delay throttles writers while the checkpoint thread catches up.
const LONGEST_PAUSE: Duration = Duration::from_millis(20);

/// The number of tombstones in the memtable at which a checkpoint starts. Scans must skip each tombstone until a merge removes it.
const DELETIONS: usize = 4_096;

/// Estimates the number of bytes written by a checkpoint that only reclaims dropped tables. Such a checkpoint starts once it would free at least as many bytes.
const fn reclaim_threshold(tables: usize) -> u64 {
    // The first term is the first extent of a journal file. The second term is the space of each table in both copies of `BASE`, doubled because a merge may
    // write them again.
    (1 << 20) + 256 * tables as u64
}

type Waiting = Vec<oneshot::Sender<Result<()>>>;

/// The sizes in bytes at which a checkpoint starts, and at which writers block until a checkpoint completes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Thresholds {
    pub(crate) checkpoint_bytes: usize,
    pub(crate) memtable_bytes: usize,
}

/// The handle to the checkpoint thread, and the state used to decide when to start a checkpoint.
pub(crate) struct Checkpoints {
    thresholds: Thresholds,
    reserve: Arc<Reserve>,
    jobs: Option<Sender<Job>>,
    done: Receiver<Done>,
    threads: Threads,
    thread: Thread,
    /// Set this flag to cancel the checkpoint in progress.
    stop: Arc<AtomicBool>,
    /// The tables that were dropped after the last checkpoint started and may have rows in the base.
    dropped: Vec<u32>,
    /// The estimated size in bytes of dropped tables in the base.
    dropped_bytes: u64,
    /// The error of the last flush if it ran out of disk space or file descriptors. The frozen rows are then not completely written.
    disk_full: Option<Error>,
    /// `true` if the disk has been too full for a write or for the reserve since the last checkpoint.
    lacks_room: bool,
    /// `true` if [`Job::RemoveObsolete`] has been sent, but the checkpoint thread has not responded yet.
    removes_obsolete: bool,
    /// `true` if a checkpoint was requested explicitly.
    requested: bool,
    /// Callers waiting for the next checkpoint to finish.
    next: Waiting,
    /// Callers waiting for the checkpoint in progress.
    running: Waiting,
    /// Callers waiting for the compaction after the next checkpoint.
    next_compaction: Waiting,
    /// Callers waiting for the compaction after the checkpoint in progress.
    running_compaction: Waiting,
    compacting: Waiting,
}

impl Checkpoints {
    pub(crate) fn new(
        thresholds: Thresholds,
        (jobs, done): (Sender<Job>, Receiver<Done>),
        (threads, thread, stop): (Threads, Thread, Arc<AtomicBool>),
        dropped: Vec<u32>,
        reserve: Arc<Reserve>,
    ) -> Self {
        Self {
            thresholds,
            reserve,
            jobs: Some(jobs),
            done,
            threads,
            thread,
            stop,
            dropped,
            dropped_bytes: 0,
            disk_full: None,
            lacks_room: false,
            removes_obsolete: false,
            requested: false,
            next: Waiting::new(),
            running: Waiting::new(),
            next_compaction: Waiting::new(),
            running_compaction: Waiting::new(),
            compacting: Waiting::new(),
        }
    }

    /// Requests a checkpoint. If `compact` is `true`, also requests a compaction. The response is sent when both have finished.
    pub(super) fn ask(&mut self, compact: bool, answer: oneshot::Sender<Result<()>>) {
        self.requested = true;
        if compact { self.next_compaction.push(answer) } else { self.next.push(answer) }
    }

    /// Removes and returns all waiting callers.
    pub(super) fn waiting(&mut self) -> impl Iterator<Item = oneshot::Sender<Result<()>>> {
        let compactions = [&mut self.next_compaction, &mut self.running_compaction, &mut self.compacting];
        let all = [&mut self.next, &mut self.running].into_iter().chain(compactions);
        all.flat_map(std::mem::take)
    }

    /// Registers a dropped table, whose rows the next checkpoint removes from the base. A checkpoint is triggered if these rows take up much space, or if disk
    /// space is short.
    pub(super) fn dropped(&mut self, id: u32, state: &State) -> Result<()> {
        let in_base = state.base.as_ref().is_some_and(|base| base.may_hold(&Span::table(id)));
        // The frozen rows may include rows of this table. These rows enter the base when the checkpoint in progress completes.
        if in_base || state.frozen.is_some() {
            self.dropped.push(id);
            self.dropped_bytes += state.base.as_ref().map_or(0, |base| base.bytes_of(id));
            self.request_reclaim(state);
        }
        if self.waits_for_room() { self.send(Job::Dropped(id)) } else { Ok(()) }
    }

    /// Returns `true` if a checkpoint is waiting for disk space.
    pub(super) fn waits_for_room(&self) -> bool {
        self.disk_full.is_some()
    }

    /// Returns `true` if the disk is full and a checkpoint would free more space than it needs. The checkpoint frees the journal, which also contains earlier
    /// versions of the memtable's rows.
    fn frees_room(&self, state: &State, journal_bytes: u64) -> bool {
        let written = state.memtable.bytes() as u64 + reclaim_threshold(state.catalog.len());
        self.lacks_room && journal_bytes > written
    }

    /// Requests a checkpoint if it would free at least as much space as it writes, or if the disk is full.
    fn request_reclaim(&mut self, state: &State) {
        self.requested |= self.dropped_bytes >= reclaim_threshold(state.catalog.len())
            || self.disk_full.is_some()
            || (!self.dropped.is_empty() && !self.reserve.is_whole());
    }

    /// Recomputes the estimated size of dropped tables from the current base. If a checkpoint would free enough space, requests one.
    pub(crate) fn count_dropped(&mut self, state: &State) {
        let bytes = |id: &u32| state.base.as_ref().map_or(0, |base| base.bytes_of(*id));
        self.dropped_bytes = self.dropped.iter().map(bytes).sum();
        self.request_reclaim(state);
    }

    /// Called if the next checkpoint cannot start. Sends the error to all callers that wait for this checkpoint. Writes continue while space remains.
    fn put_off(&mut self, error: &Error) {
        self.requested = !self.dropped.is_empty();
        for answer in self.next.drain(..).chain(self.next_compaction.drain(..)) {
            let _ = answer.send(Err(error.clone()));
        }
    }

    fn is_due(&self, state: &State, journal_bytes: u64) -> bool {
        // If the disk is full, deleting rows frees no space until the next checkpoint. Checkpoints therefore start early, while they still fit into the
        // smallest reserve.
        let checkpoint_bytes = self.thresholds.checkpoint_bytes;
        let most = if self.reserve.is_whole() {
            checkpoint_bytes
        } else {
            (checkpoint_bytes / 8).min(SMALL_CHECKPOINT)
        };
        self.requested
            || state.memtable.bytes() >= most
            || state.memtable.deletions() >= DELETIONS
            || journal_bytes / 2 >= most as u64
            || self.frees_room(state, journal_bytes)
    }

    /// Returns `true` if writers must block. If the disk is slow, this limits memory use and journal size. If the disk is full, this gives a checkpoint time to
    /// free space.
    fn is_full(&self, state: &State, journal_bytes: u64) -> bool {
        let frees = self.lacks_room && state.frozen.is_some();
        let held = state.memtable.bytes() + state.frozen.as_ref().map_or(0, Memtable::bytes);
        frees
            || held >= self.thresholds.memtable_bytes
            || journal_bytes / 4 >= self.thresholds.memtable_bytes as u64
    }

    /// Returns the delay before the next commit group. The delay grows with memory use. Writers are thus throttled gradually instead of being stopped.
    fn pause(&self, state: &State) -> Duration {
        let held = state.memtable.bytes() + state.frozen.as_ref().map_or(0, Memtable::bytes);
        let (half, over) =
            (self.thresholds.memtable_bytes / 2, held.saturating_sub(self.thresholds.memtable_bytes / 2));
        let part = u32::try_from(over.saturating_mul(1_000) / half.max(1)).unwrap_or(1_000).min(1_000);
        LONGEST_PAUSE * part / 1_000
    }

    fn send(&self, job: Job) -> Result<()> {
        self.jobs.as_ref().and_then(|jobs| jobs.send(job).ok()).ok_or_else(stopped)
    }
}

fn stopped() -> Error {
    Error::of(EngineFault::CheckpointsStopped)
}

impl Drop for Checkpoints {
    /// Cancels the checkpoint in progress. No data is lost, because the journal still contains the rows.
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.jobs = None;
        self.threads.join(&self.thread);
    }
}

impl Committer {
    /// Handles results from the checkpoint thread, and starts the next checkpoint if one is due.
    pub(super) fn tend(&mut self) -> Result<()> {
        self.refusal = None;
        let Some(disk) = &mut self.disk else { return Ok(()) };
        if let Err(error) = self.shared.check_writable() {
            for answer in disk.checkpoints.waiting() {
                let _ = answer.send(Err(error.clone()));
            }
            return Ok(());
        }
        while let Some(done) = self.finished()? {
            self.finish(done)?;
        }
        loop {
            let Some(disk) = &mut self.disk else { return Ok(()) };
            let bytes = disk.journal.bytes();
            if self.state.frozen.is_none() {
                if disk.checkpoints.is_due(&self.state, bytes) {
                    reach(self.hook.as_ref(), Step::Freeze)?;
                    match disk.freeze(&mut self.state, self.timestamps.last()) {
                        Err(error) if is_shortage(&error) => {
                            if let Some(base) = &self.state.base {
                                base.give_files_back();
                            }
                            disk.checkpoints.put_off(&error);
                            self.refusal = disk.checkpoints.is_full(&self.state, bytes).then_some(error);
                        }
                        outcome => {
                            outcome?;
                            self.shared.publish(self.state.clone());
                        }
                    }
                }
                return Ok(());
            }
            if !disk.checkpoints.is_full(&self.state, bytes) {
                self.threads.sleep(disk.checkpoints.pause(&self.state));
                return Ok(());
            }
            if disk.checkpoints.disk_full.is_some() {
                self.refusal.clone_from(&disk.checkpoints.disk_full);
                return Ok(());
            }
            let done = self.threads.receive(&disk.checkpoints.done).map_err(|_| stopped())?;
            self.finish(done)?;
        }
    }

    fn finished(&self) -> Result<Option<Done>> {
        let Some(disk) = &self.disk else { return Ok(None) };
        match disk.checkpoints.done.try_recv() {
            Ok(done) => Ok(Some(done)),
            Err(TryRecvError::Empty) => Ok(None),
            // If this error were ignored, callers that wait for a checkpoint would never receive a response.
            Err(TryRecvError::Disconnected) => Err(stopped()),
        }
    }

    fn finish(&mut self, done: Done) -> Result<()> {
        let Some(disk) = &mut self.disk else { return Ok(()) };
        match done {
            Done::NoRoom(error) => {
                for answer in disk.checkpoints.waiting() {
                    let _ = answer.send(Err(error.clone()));
                }
                disk.journal.give_room_back();
                disk.checkpoints.disk_full = Some(error);
                Ok(())
            }
            Done::Checkpointed(view, next) => {
                disk.checkpoints.disk_full = None;
                disk.checkpoints.lacks_room = false;
                if let Some(next) = next {
                    disk.journal.prepare(next);
                }
                reach(self.hook.as_ref(), Step::CheckpointPublish)?;
                let view = self.state.base.replace(view);
                let frozen = self.state.frozen.take();
                disk.checkpoints.count_dropped(&self.state);
                self.shared.publish(self.state.clone());
                // The memory is freed by the checkpoint thread, because freeing large maps takes a long time.
                disk.checkpoints.send(Job::Discard(frozen, view))?;
                for answer in disk.checkpoints.running.drain(..) {
                    let _ = answer.send(Ok(()));
                }
                // IMPORTANT: callers join `compacting` only now. If they joined earlier, they might receive the result of a previous compaction.
                disk.checkpoints.compacting.append(&mut disk.checkpoints.running_compaction);
                Ok(())
            }
            Done::Merged(view) => {
                let view = self.state.base.replace(view);
                self.shared.publish(self.state.clone());
                disk.checkpoints.send(Job::Discard(None, view))
            }
            Done::RemovesObsolete => {
                disk.checkpoints.removes_obsolete = false;
                Ok(())
            }
            Done::Compacted(outcome) => {
                for answer in disk.checkpoints.compacting.drain(..) {
                    let _ = answer.send(outcome.clone());
                }
                Ok(())
            }
            Done::Failed(error) => Err(error),
        }
    }
}

impl OnDisk {
    /// Frees space on a full disk. The prepared journal file and the unneeded part of the reserve are freed immediately, and obsolete runs soon afterwards. The
    /// other journal files are freed later, when a checkpoint frees more space than it needs.
    pub(super) fn free_room(&mut self) {
        self.journal.free_unused();
        self.checkpoints.lacks_room = true;
        if !std::mem::replace(&mut self.checkpoints.removes_obsolete, true) {
            // If the thread has stopped, the next checkpoint reports that.
            let _ = self.checkpoints.send(Job::RemoveObsolete);
        }
    }

    /// Starts a checkpoint of all rows in the memtable.
    fn freeze(&mut self, state: &mut State, timestamp: u64) -> Result<()> {
        // IMPORTANT: a freeze happens between two groups, so the new journal file starts exactly after the frozen rows.
        let (journal, sequence) = self.journal.rotate()?;
        let checkpoints = &mut self.checkpoints;
        let frozen = std::mem::take(&mut state.memtable);
        let dropped = std::mem::take(&mut checkpoints.dropped);
        checkpoints.dropped_bytes = 0;
        let meta = Meta { journal, sequence, timestamp, catalog: state.catalog.clone(), dropped };
        let compact = !checkpoints.next_compaction.is_empty();
        checkpoints.running_compaction.append(&mut checkpoints.next_compaction);
        state.frozen = Some(frozen.clone());
        checkpoints.requested = false;
        checkpoints.running = std::mem::take(&mut checkpoints.next);
        checkpoints.send(Job::Checkpoint(Checkpoint { frozen, meta, compact }))
    }
}
