//! The checkpoint thread. It writes frozen rows to the base, releases the journal files with these rows, and merges the base step by step.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvError, RecvTimeoutError, Sender, TryRecvError};
use std::time::Duration;

use table_store::row::Row;
use table_store::{Error, ErrorCode, Result};

use crate::base::{Base, BaseView, Debt, Merged, Meta};
use crate::disk::Disk;
use crate::disk::fault::{Task, is_shortage};
use crate::event::{self, event};
use crate::failpoint::{Hook, Step, reach};
use crate::folder;
use crate::journal::{Tail, file, reuse};
use crate::memtable::Memtable;
use crate::request::Request;
use crate::reserve::{Loan, Reserve};
use crate::threads::Threads;

/// The pause between two checks for free space.
const PAUSE: Duration = Duration::from_millis(200);

/// A job for the checkpoint thread.
pub(crate) enum Job {
    /// Write the rows of a checkpoint to the base.
    Checkpoint(Checkpoint),
    /// Free the memory of a memtable and a base view that the committer no longer needs.
    Discard(Option<Memtable>, Option<BaseView>),
    /// Omit a dropped table from the checkpoint that is waiting for disk space. The drop is already durable.
    Dropped(u32),
    /// Remove the files of obsolete runs, because the disk is full. Readers may have dropped the views that needed these files.
    RemoveObsolete,
}

/// A checkpoint: the rows to write, and the metadata to record with them. `meta.dropped` lists the tables dropped since the last checkpoint.
///
/// If `compact` is `true`, a compaction follows.
pub(crate) struct Checkpoint {
    pub(crate) frozen: Memtable,
    pub(crate) meta: Meta,
    pub(crate) compact: bool,
}

/// The result of a job or a merge.
pub(crate) enum Done {
    /// The frozen rows are now in the base. The `Tail` is the next journal file if an obsolete file has been reused as that file.
    Checkpointed(BaseView, Option<Tail>),
    /// The frozen rows could not be written because disk space or file descriptors ran out. The thread will retry.
    NoRoom(Error),
    /// A merge step or the removal of dropped tables has created a new version of the base. Its visible rows are unchanged.
    Merged(BaseView),
    /// The response to [`Job::RemoveObsolete`]. The thread removes the files of obsolete runs next.
    RemovesObsolete,
    /// The compaction has ended. If a part of the base could not be merged, the result is an error.
    Compacted(Result<()>),
    /// The base has failed and is never written to again.
    Failed(Error),
}

/// A flush or merge that ran out of disk space, file descriptors or memory. It is retried when enough space may be free again. Checking for free space writes
/// no data.
#[derive(Debug)]
pub(crate) struct Shortage {
    error: Error,
    /// The minimum space required, in bytes, or 0 if file descriptors or memory ran out.
    bytes: u64,
    /// The pause before the next check for free space. It is 0 after files have been removed.
    pause: Duration,
}

/// The state of the checkpoint thread.
pub(crate) struct Checkpointer {
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) folder: PathBuf,
    pub(crate) hook: Option<Hook>,
    pub(crate) threads: Threads,
    /// The maximum length in bytes of a reused journal file. A longer file is truncated.
    pub(crate) room: u64,
    pub(crate) reserve: Arc<Reserve>,
    pub(crate) base: Base,
    pub(crate) jobs: Receiver<Job>,
    pub(crate) done: Sender<Done>,
    pub(crate) wake: Wake,
    /// `true` if the last merge failed for a reason other than a full disk. In that case, no merge starts before the next checkpoint.
    pub(crate) resting: bool,
    /// The failure of the last flush, if disk space or file descriptors ran out.
    pub(crate) unflushed: Option<Shortage>,
    /// The failure of the last merge, if disk space ran out.
    pub(crate) unmerged_part: Option<Shortage>,
    /// The number of view exchanges in progress. In an exchange, the committer has received a new view, but has not returned the old one yet. Until it does,
    /// the files of the runs in the old view are kept.
    pub(crate) exchanges: usize,
    /// The error that prevented the current compaction from merging a part of the base.
    pub(crate) unmerged: Option<Error>,
}

/// A guard that wakes the committer when it is dropped. This includes the case that the checkpoint thread ends or panics.
pub(crate) struct Wake(pub(crate) async_channel::Sender<Request>);

impl Wake {
    fn wake(&self) {
        // If the committer's queue is full, the committer is already awake.
        let _ = self.0.try_send(Request::Wake);
    }
}

impl Drop for Wake {
    fn drop(&mut self) {
        self.wake();
    }
}

impl Checkpointer {
    /// Runs until the committer closes the channel, or the base fails.
    pub(crate) fn run(mut self) {
        let mut waiting: Option<Checkpoint> = None;
        while let Ok(job) = self.next(waiting.is_some()) {
            let outcome = match (job, waiting.take()) {
                (Some(Job::Checkpoint(next)), _) => {
                    waiting = Some(next);
                    Ok(())
                }
                (Some(Job::Discard(frozen, view)), still) => {
                    self.exchanges -= 1;
                    drop((frozen, view));
                    waiting = still;
                    Ok(())
                }
                (Some(Job::RemoveObsolete), still) => {
                    // The committer is deliberately not woken. If the disk is full, an idle committer would otherwise request the next removal immediately.
                    let _ = self.done.send(Done::RemovesObsolete);
                    waiting = still;
                    Ok(())
                }
                (Some(Job::Dropped(table)), still) => {
                    // The rows of this table are not written any more, so the flush may need less space than before.
                    if let Some(shortage) = &mut self.unflushed {
                        shortage.bytes = 0;
                    }
                    waiting = still.map(|mut next| {
                        next.meta.catalog.remove(table);
                        next.meta.dropped.push(table);
                        next
                    });
                    Ok(())
                }
                (None, Some(next)) => {
                    // A flush is delayed while merges are far behind. The memtable then fills up, which throttles writers.
                    if self.base.debt() == Debt::Much && self.can_merge() {
                        waiting = Some(next);
                        self.merge()
                    } else if self.can_flush() {
                        self.checkpoint(next).map(|left| waiting = left)
                    } else {
                        waiting = Some(next);
                        Ok(())
                    }
                }
                (None, None) if self.can_merge() => self.merge(),
                (None, None) => {
                    self.end_compaction();
                    Ok(())
                }
            };
            if self.base.remove_obsolete() {
                // Removing files has freed space, so the next check for free space is made without a pause.
                for shortage in [&mut self.unflushed, &mut self.unmerged_part].into_iter().flatten() {
                    shortage.pause = Duration::ZERO;
                }
            }
            self.reserve.set_base(self.base.file_bytes());
            // If the disk is full, a later step restores the reserve.
            let _ = self.reserve.restore();
            if let Err(error) = outcome {
                self.tell(Done::Failed(error));
                // IMPORTANT: a failed base is never written to again. Rows that are not in the base are still in the journal (CON-1).
                while self.threads.receive(&self.jobs).is_ok() {}
                return;
            }
        }
    }

    /// Returns the next job. Returns `None` if no job is queued, and a flush or merge should be attempted or checked for space.
    fn next(&mut self, waiting: bool) -> std::result::Result<Option<Job>, RecvError> {
        if !waiting && (self.resting || self.base.debt() == Debt::None) {
            return self.threads.receive(&self.jobs).map(Some);
        }
        let shortage = if waiting { &mut self.unflushed } else { &mut self.unmerged_part };
        let Some(shortage) = shortage else {
            return match self.jobs.try_recv() {
                Ok(job) => Ok(Some(job)),
                Err(TryRecvError::Empty) => Ok(None),
                Err(TryRecvError::Disconnected) => Err(RecvError),
            };
        };
        match self.threads.receive_within(&self.jobs, shortage.pause) {
            Ok(job) => Ok(Some(job)),
            Err(RecvTimeoutError::Timeout) => {
                shortage.pause = PAUSE;
                Ok(None)
            }
            Err(RecvTimeoutError::Disconnected) => Err(RecvError),
        }
    }

    /// Returns `true` if the next merge may start. This is the case if the last merge did not fail, or if the space that it needed may now be free.
    fn can_merge(&self) -> bool {
        !self.resting
            && self.unmerged_part.as_ref().is_none_or(|shortage| self.reserve.covers(shortage.bytes))
    }

    /// Returns `true` if the next flush may start. This is the case if the last flush did not fail, or if the space that it needed may now be free. Otherwise,
    /// the function reports the shortage to the committer again.
    fn can_flush(&self) -> bool {
        let missing = self.unflushed.as_ref().filter(|shortage| !self.reserve.covers(shortage.bytes));
        if let Some(shortage) = missing {
            self.tell(Done::NoRoom(shortage.error.clone()));
        }
        missing.is_none()
    }

    /// Performs a write. If the disk is full, frees obsolete files and the reserve, and retries once, unless the write already uses the reserve.
    ///
    /// Returns three values: the result, the loan of the reserve, if one was taken, and the number of bytes that the last attempt submitted to the disk.
    fn attempt<T>(
        &mut self,
        write: impl Fn(&mut Base) -> Result<T>,
        full: impl Fn(&Result<T>) -> bool,
    ) -> (Result<T>, Option<Loan>, u64) {
        // IMPORTANT: while the reserve is incomplete, the loan is taken before the first byte is written. Without the loan, the committer would try to reserve
        // the free space at the same time. On a full disk, a deletion would then fail instead of waiting.
        let mut loan = self.reserve.restore().is_err().then(|| self.reserve.lend()).flatten();
        let mut before = self.base.attempted_bytes();
        let mut written = write(&mut self.base);
        if full(&written) && loan.is_none() {
            loan = self.reserve.lend();
            let has_removed = self.base.remove_obsolete();
            if has_removed || loan.is_some() {
                before = self.base.attempted_bytes();
                written = write(&mut self.base);
            }
        }
        (written, loan, self.base.attempted_bytes() - before)
    }

    /// Sends a new view to the committer. The committer returns the old view with a [`Job::Discard`].
    fn exchange(&mut self, done: Done) {
        self.exchanges += 1;
        self.tell(done);
    }

    fn tell(&self, done: Done) {
        let _ = self.done.send(done);
        self.wake.wake();
    }

    /// Writes a checkpoint. If disk space or file descriptors run out, returns the checkpoint for a later attempt.
    fn checkpoint(&mut self, checkpoint: Checkpoint) -> Result<Option<Checkpoint>> {
        let Checkpoint { frozen, meta, compact } = &checkpoint;
        let _entered = event::entered(|| {
            tracing::debug_span!(
                target: "table_core::engine", "checkpoint", rows = frozen.len(), bytes = frozen.bytes(), compact
            )
        });
        let flush = |base: &mut Base| {
            base.flush(frozen.iter().map(|(key, row)| (&**key, row.as_ref().map(Row::view))), meta.clone())
        };
        // A flush may use the reserve, because it allows journal files to be deleted.
        let (flushed, loan, bytes) = self.attempt(flush, |flushed| {
            flushed.as_ref().is_err_and(|error| error.code() == ErrorCode::DiskFull)
        });
        match flushed {
            Err(error) if is_shortage(&error) => {
                self.base.view().give_files_back();
                self.forget_tables(&meta.dropped)?;
                let bytes = if error.code() == ErrorCode::DiskFull { bytes } else { 0 };
                self.unflushed = Some(Shortage { error: error.clone(), bytes, pause: PAUSE });
                drop(loan);
                self.tell(Done::NoRoom(error));
                return Ok(Some(checkpoint));
            }
            outcome => outcome?,
        }
        // Earlier failures are forgotten, because the next merge may be a different one that needs less space.
        (self.unflushed, self.unmerged_part, self.resting) = (None, None, false);
        if *compact {
            self.unmerged = None;
            self.base.merge_all();
        }
        // IMPORTANT: the journal is released after the checkpoint has been recorded. Before that, the base does not contain the rows of the journal file.
        let next = self.release_covered().unwrap_or_else(|error| {
            // This failure is harmless. The next checkpoint or the next open releases the file.
            event!(warn, %error, "a covered journal file was not released");
            None
        });
        // The reserve must be returned before the committer accepts the next write.
        drop(loan);
        self.exchange(Done::Checkpointed(self.base.view(), next));
        Ok(None)
    }

    /// Frees the space of dropped tables before a waiting checkpoint is retried.
    fn forget_tables(&mut self, dropped: &[u32]) -> Result<()> {
        match self.base.forget_tables(dropped) {
            // When the committer receives the new view, it gives up its old view, which still refers to the files of the dropped tables.
            Ok(true) => self.exchange(Done::Merged(self.base.view())),
            Err(error) if !is_shortage(&error) => return Err(error),
            Ok(false) | Err(_) => {}
        }
        Ok(())
    }

    /// Releases the journal files whose rows are all in the base. The last of these files is reused as the next journal file, and the others are deleted. If
    /// the reserve is incomplete, all of them are deleted to free space for it.
    fn release_covered(&self) -> Result<Option<Tail>> {
        reach(self.hook.as_ref(), Step::JournalDelete)?;
        let (disk, folder) = (&*self.disk, &*self.folder);
        let Meta { journal, sequence, .. } = *self.base.meta();
        let is_covered = |name: &str| file::number(name).is_some_and(|number| number < journal);
        let names = disk.list(folder).map_err(|error| Task::ReadFolder(folder.into()).failed(error))?;
        let last = names.iter().filter(|name| is_covered(name)).filter_map(|name| file::number(name)).max();
        let next = last
            .filter(|_| self.reserve.is_whole())
            .map(|last| reuse(disk, folder, (last, journal + 1), sequence, self.room))
            .transpose()?
            .flatten();
        folder::delete(disk, folder, is_covered)?;
        Ok(next)
    }

    /// Ends a compaction that ran out of space. If the committer has not returned an old view yet, the compaction continues for now. When the view is returned,
    /// the space of replaced runs may become free.
    fn end_compaction(&mut self) {
        if let Some(Shortage { error, .. }) = &self.unmerged_part
            && self.exchanges == 0
            && self.base.abandon_merge_all()
        {
            self.tell(Done::Compacted(Err(error.clone())));
        }
    }

    /// Performs the most urgent merge step.
    fn merge(&mut self) -> Result<()> {
        let is_full =
            |merged: &Merged| matches!(merged, Merged::Failed(error) if error.code() == ErrorCode::DiskFull);
        // A merge may use the reserve, because it frees the space of the runs it replaces.
        let (merged, _loan, bytes) = self.attempt(Base::merge, |merged| merged.as_ref().is_ok_and(is_full));
        let merged = merged?;
        let shortage = self.unmerged_part.take();
        match merged {
            Merged::Nothing => {}
            Merged::Slice => self.exchange(Done::Merged(self.base.view())),
            Merged::All => {
                let outcome = self.unmerged.take().map_or(Ok(()), Err);
                self.tell(Done::Compacted(outcome));
            }
            Merged::Apart(error) => {
                event!(warn, %error, "a part of the base was set apart from merges");
                self.unmerged = Some(error);
            }
            Merged::Failed(error) => {
                if error.code() == ErrorCode::DiskFull {
                    self.unmerged_part = Some(Shortage { error: error.clone(), bytes, pause: PAUSE });
                    self.end_compaction();
                } else {
                    self.resting = true;
                    if self.base.abandon_merge_all() {
                        self.tell(Done::Compacted(Err(error.clone())));
                    }
                }
                if shortage.is_none() {
                    event!(warn, %error, "a part of the base was not merged");
                }
            }
        }
        Ok(())
    }
}
