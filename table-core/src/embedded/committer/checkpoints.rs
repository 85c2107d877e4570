//! The committer's side of checkpoints: when one begins, its input, and its result.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, TryRecvError};
use std::time::Duration;

use futures_channel::oneshot;

use crate::embedded::base::Meta;
use crate::embedded::checkpointer::{Checkpoint, Done, Job};
use crate::embedded::committer::{Committer, OnDisk};
use crate::embedded::failpoint::{Step, reach};
use crate::embedded::fault::EngineFault;
use crate::embedded::key::Span;
use crate::embedded::mend::Mend;
use crate::embedded::recent::Recent;
use crate::embedded::state::State;
use crate::embedded::threads::{Thread, Threads};
use crate::error::{Error, ErrorCode, Result};

/// How long a group waits, at most, before writers wait for a checkpoint.
const LONGEST_PAUSE: Duration = Duration::from_millis(20);

/// About what a checkpoint for the sake of dropped tables writes: the first piece of a journal file, and twice a line for each table in
/// `BASE`, twice over because a merge may follow. One begins when as much is given back.
const fn worth_reclaiming(tables: usize) -> u64 {
    (1 << 20) + 256 * tables as u64
}

type Waiting = Vec<oneshot::Sender<Result<()>>>;

/// When a checkpoint begins, and when writers wait for one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Thresholds {
    pub(crate) checkpoint_bytes: usize,
    pub(crate) recent_bytes: usize,
}

/// What the committer knows of the checkpoint thread.
pub(crate) struct Checkpoints {
    thresholds: Thresholds,
    jobs: Option<Sender<Job>>,
    done: Receiver<Done>,
    threads: Threads,
    thread: Option<Thread>,
    /// Ends what the thread is at.
    stop: Arc<AtomicBool>,
    /// Tables dropped since the last checkpoint began, which may have rows in the base.
    dropped: Vec<u32>,
    /// About how many bytes the base has of them.
    dropped_bytes: u64,
    /// Why what is frozen is not in the base yet, where the disk is full.
    no_room: Option<Error>,
    /// A checkpoint is wanted whatever the size of what is recent.
    wanted: bool,
    /// The callers that wait for the checkpoint to come.
    next: Waiting,
    /// The callers that wait for the one that runs.
    running: Waiting,
    /// The callers that wait for the compaction that is to begin with the next one, and for the one under way.
    next_compaction: Waiting,
    compacting: Waiting,
}

impl Checkpoints {
    pub(crate) fn new(
        thresholds: Thresholds,
        (jobs, done): (Sender<Job>, Receiver<Done>),
        (threads, thread, stop): (Threads, Thread, Arc<AtomicBool>),
        dropped: Vec<u32>,
    ) -> Self {
        Self {
            thresholds,
            jobs: Some(jobs),
            done,
            threads,
            thread: Some(thread),
            stop,
            dropped,
            dropped_bytes: 0,
            no_room: None,
            wanted: false,
            next: Waiting::new(),
            running: Waiting::new(),
            next_compaction: Waiting::new(),
            compacting: Waiting::new(),
        }
    }

    /// Begins one as soon as it can; answers when the base has what is recent now, or has it in one layer.
    pub(super) fn ask(&mut self, compact: bool, answer: oneshot::Sender<Result<()>>) {
        self.wanted = true;
        if compact { self.next_compaction.push(answer) } else { self.next.push(answer) }
    }

    /// All callers that wait for something.
    pub(super) fn waiting(&mut self) -> impl Iterator<Item = oneshot::Sender<Result<()>>> {
        let all = [&mut self.next, &mut self.running, &mut self.next_compaction, &mut self.compacting];
        all.into_iter().flat_map(std::mem::take)
    }

    /// A table was dropped: its rows in the base go, if it has any, with the next checkpoint. Small tables alone do not begin one.
    pub(super) fn dropped(&mut self, id: u32, state: &State) {
        let in_base = state.base.as_ref().is_some_and(|base| base.may_hold(&Span::table(id)));
        // What is frozen is on its way into the base.
        if in_base || state.frozen.is_some() {
            self.dropped.push(id);
            self.dropped_bytes += state.base.as_ref().map_or(0, |base| base.bytes_of(id));
            self.want_reclaimed(state);
        }
    }

    /// Begins a checkpoint if it gives back what it costs, or where there is no room.
    fn want_reclaimed(&mut self, state: &State) {
        self.wanted |= self.dropped_bytes >= worth_reclaiming(state.catalog.len()) || self.no_room.is_some();
    }

    /// What was frozen is in the base now: tables that were dropped meanwhile may have rows there.
    pub(crate) fn count_dropped(&mut self, state: &State) {
        let bytes = |id: &u32| state.base.as_ref().map_or(0, |base| base.bytes_of(*id));
        self.dropped_bytes = self.dropped.iter().map(bytes).sum();
        self.want_reclaimed(state);
    }

    /// No checkpoint can begin. Writes go on as long as there is room.
    fn put_off(&mut self, error: &Error) {
        self.wanted = !self.dropped.is_empty();
        for answer in self.next.drain(..).chain(self.next_compaction.drain(..)) {
            let _ = answer.send(Err(error.clone()));
        }
    }

    fn is_due(&self, state: &State, journal_bytes: u64) -> bool {
        let most = self.thresholds.checkpoint_bytes;
        self.wanted || state.recent.bytes() >= most || journal_bytes >= 2 * most as u64
    }

    /// Whether writers must wait: memory and journal do not grow without end beside a slow disk.
    fn is_full(&self, state: &State, journal_bytes: u64) -> bool {
        let held = state.recent.bytes() + state.frozen.as_ref().map_or(0, Recent::bytes);
        held >= self.thresholds.recent_bytes || journal_bytes >= 4 * self.thresholds.recent_bytes as u64
    }

    /// How long the next group waits: the fuller memory is, the longer, so that writers come to the pace of the disk by and by,
    /// and not to a stop.
    fn pause(&self, state: &State) -> Duration {
        let held = state.recent.bytes() + state.frozen.as_ref().map_or(0, Recent::bytes);
        let (half, over) =
            (self.thresholds.recent_bytes / 2, held.saturating_sub(self.thresholds.recent_bytes / 2));
        let part = u32::try_from(over * 1_000 / half.max(1)).unwrap_or(1_000).min(1_000);
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
    /// Ends what the checkpoint thread is at: the journal has what it was to write.
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            self.threads.join(thread);
        }
    }
}

impl Committer {
    /// Takes up what the checkpoint thread has finished, and begins the next checkpoint if one is due.
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
                        Err(error)
                            if error.code() == ErrorCode::DiskFull && Mend::PutOffCheckpoints.is_in() =>
                        {
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
            if disk.checkpoints.no_room.is_some() {
                self.refusal.clone_from(&disk.checkpoints.no_room);
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
            Err(TryRecvError::Disconnected) if !Mend::TellEndOfCheckpoints.is_in() => Ok(None),
            // A caller that waits for a checkpoint would wait for ever.
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
                disk.checkpoints.no_room = Some(error);
                Ok(())
            }
            Done::Checkpointed(view, next) => {
                disk.checkpoints.no_room = None;
                if let Some(next) = next {
                    disk.journal.prepare(next);
                }
                reach(self.hook.as_ref(), Step::CheckpointPublish)?;
                let view = self.state.base.replace(view);
                let frozen = self.state.frozen.take();
                disk.checkpoints.count_dropped(&self.state);
                self.shared.publish(self.state.clone());
                // Freeing large maps takes a while: not on this thread.
                disk.checkpoints.send(Job::Discard(frozen, view))?;
                for answer in disk.checkpoints.running.drain(..) {
                    let _ = answer.send(Ok(()));
                }
                Ok(())
            }
            Done::Merged(view) => {
                let view = self.state.base.replace(view);
                self.shared.publish(self.state.clone());
                disk.checkpoints.send(Job::Discard(None, view))
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
    /// Begins a checkpoint of all that is recent.
    fn freeze(&mut self, state: &mut State, timestamp: u64) -> Result<()> {
        // IMPORTANT: between groups, so that the new file begins exactly where what is frozen ends.
        let (journal, sequence) = self.journal.rotate()?;
        let checkpoints = &mut self.checkpoints;
        let frozen = std::mem::take(&mut state.recent);
        let dropped = std::mem::take(&mut checkpoints.dropped);
        checkpoints.dropped_bytes = 0;
        let meta = Meta { journal, sequence, timestamp, catalog: state.catalog.clone(), dropped };
        let compact = !checkpoints.next_compaction.is_empty();
        checkpoints.compacting.append(&mut checkpoints.next_compaction);
        state.frozen = Some(frozen.clone());
        checkpoints.wanted = false;
        checkpoints.running = std::mem::take(&mut checkpoints.next);
        checkpoints.send(Job::Checkpoint(Checkpoint { frozen, meta, compact }))
    }
}
