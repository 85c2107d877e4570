//! The checkpoint thread: writes what is frozen into the base, deletes the journal it covers, reclaims dropped tables, compacts.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, TryRecvError};

use crate::embedded::base::{Base, BaseView, Change, Meta};
use crate::embedded::committer::request::Request;
use crate::embedded::disk::Disk;
use crate::embedded::failpoint::{Hook, Step, reach};
use crate::embedded::folder;
use crate::embedded::journal::file;
use crate::embedded::key::{self, Span};
use crate::embedded::recent::Recent;
use crate::error::Result;

/// Rows of dropped tables that one commit takes out of the base.
const RECLAIM_ROWS: usize = 20_000;

/// Work for the thread.
pub(crate) enum Job {
    /// Write these rows and this record. `meta.dropped` are the tables dropped since the last one.
    Checkpoint { frozen: Recent, meta: Meta, compact: bool },
    /// Free this.
    Discard(Option<Recent>, Option<BaseView>),
}

/// What became of it.
pub(crate) enum Done {
    /// The base holds what was frozen.
    Checkpointed(BaseView),
    /// The base holds fewer rows of dropped tables.
    Reclaimed(BaseView),
    /// The base cannot be written.
    Failed(crate::error::Error),
}

/// What the thread works with.
pub(crate) struct Checkpointer {
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) folder: PathBuf,
    pub(crate) hook: Option<Hook>,
    pub(crate) cache_bytes: usize,
    pub(crate) base: Base,
    /// The number of the base's file.
    pub(crate) number: u64,
    /// Bases that were compacted, kept while a snapshot may read them.
    pub(crate) retired: Vec<Base>,
    /// What the base recorded last.
    pub(crate) meta: Meta,
    pub(crate) jobs: Receiver<Job>,
    pub(crate) done: Sender<Done>,
    pub(crate) wake: async_channel::Sender<Request>,
}

impl Checkpointer {
    /// Works until the committer lets go of the channel, or the base fails.
    pub(crate) fn run(mut self) {
        while let Some(job) = self.next() {
            let done = match job {
                Some(Job::Checkpoint { frozen, meta, compact }) => {
                    self.checkpoint(&frozen, meta, compact).map(Done::Checkpointed)
                }
                Some(Job::Discard(frozen, view)) => {
                    drop((frozen, view));
                    continue;
                }
                None => self.reclaim().map(Done::Reclaimed),
            };
            let done = done.unwrap_or_else(Done::Failed);
            let failed = matches!(done, Done::Failed(_));
            let _ = self.done.send(done);
            // A full queue needs no waking.
            let _ = self.wake.try_send(Request::Wake);
            if failed {
                // IMPORTANT: a base that failed is not touched again; the journal still has everything (CON-1).
                while self.jobs.recv().is_ok() {}
            }
        }
    }

    /// The next job; an empty one while there is something to reclaim.
    #[expect(clippy::option_option, reason = "the end of the work, and a pause in it")]
    fn next(&mut self) -> Option<Option<Job>> {
        self.retired.retain(Base::has_views);
        if self.meta.dropped.is_empty() {
            return self.jobs.recv().ok().map(Some);
        }
        match self.jobs.try_recv() {
            Ok(job) => Some(Some(job)),
            Err(TryRecvError::Empty) => Some(None),
            Err(TryRecvError::Disconnected) => None,
        }
    }

    fn reach(&self, step: Step) -> Result<()> {
        reach(self.hook.as_ref(), step)
    }

    fn checkpoint(&mut self, frozen: &Recent, mut meta: Meta, compact: bool) -> Result<BaseView> {
        let span = tracing::debug_span!(
            target: "table_core::engine", "checkpoint", rows = frozen.len(), bytes = frozen.bytes(), compact
        );
        let _entered = span.enter();
        let mut dropped = self.meta.dropped.clone();
        dropped.append(&mut meta.dropped);
        meta.dropped = dropped;
        self.reach(Step::CheckpointWrite)?;
        // The pages that the last checkpoint replaced are free only from a commit on that comes after it, and after the last
        // reader of the state before: without this one, a third copy of what changes often would stay in the file.
        self.base.begin()?.commit(&self.meta)?;
        let writer = self.base.begin()?;
        let mut rows = writer.rows()?;
        // Rows of a table dropped by now would only be reclaimed.
        let kept = |key: &[u8]| key::table_of(key).is_some_and(|table| meta.catalog.contains(table));
        rows.apply(frozen.iter().filter(|(key, _)| kept(key)).map(|(key, row)| {
            Ok(Change { key: key.to_vec(), row: row.as_ref().map(|row| row.as_bytes().to_vec()) })
        }))?;
        drop(rows);
        self.reach(Step::CheckpointCommit)?;
        // IMPORTANT: rows and journal position become durable in one commit: replay never begins too late, and what it does
        // twice has the same result.
        writer.commit(&meta)?;
        self.meta = meta;
        if compact {
            self.compact()?;
        }
        let view = self.base.view()?;
        // IMPORTANT: after the commit. A journal file is deleted only once the base has what it holds.
        if let Err(error) = self.delete_covered() {
            // Harmless: the next checkpoint, or the next open, deletes them.
            tracing::warn!(target: "table_core::engine", %error, "a covered journal file was not deleted");
        }
        Ok(view)
    }

    fn delete_covered(&self) -> Result<()> {
        self.reach(Step::JournalDelete)?;
        let covered = |name: &str| file::number(name).is_some_and(|number| number < self.meta.journal);
        folder::delete(&*self.disk, &self.folder, covered)
    }

    /// Takes a slice of a dropped table's rows out of the base.
    fn reclaim(&mut self) -> Result<BaseView> {
        self.reach(Step::Reclaim)?;
        let mut meta = self.meta.clone();
        let writer = self.base.begin()?;
        if let Some(table) = meta.dropped.last() {
            let deleted = writer.rows()?.delete_some(&Span::table(*table), RECLAIM_ROWS)?;
            if deleted < RECLAIM_ROWS {
                meta.dropped.pop();
            }
        }
        writer.commit(&meta)?;
        self.meta = meta;
        self.base.view()
    }

    /// Writes the base anew, without holes, into a file of its own. Readers of the old one are not disturbed.
    fn compact(&mut self) -> Result<()> {
        self.reach(Step::CompactWrite)?;
        let number = self.number + 1;
        let mut meta = self.meta.clone();
        // What is dropped is not copied.
        meta.dropped.clear();
        let new = folder::base_new_path(&self.folder, number);
        {
            let mut copy = folder::create_base(&*self.disk, &new, self.cache_bytes)?;
            let writer = copy.begin()?;
            let mut rows = writer.rows()?;
            let old = self.base.view()?;
            for table in meta.catalog.iter() {
                let mut cursor = old.range(&Span::table(table.id))?;
                rows.apply(std::iter::from_fn(|| {
                    let (key, row) = cursor.current()?;
                    let change = Change { key: key.to_vec(), row: Some(row.to_vec()) };
                    Some(cursor.advance().map(|()| change))
                }))?;
            }
            drop(rows);
            writer.commit(&meta)?;
            copy.compact()?;
        }
        self.reach(Step::CompactRename)?;
        // IMPORTANT: the copy gets its name only when it is whole and closed; until then the old base is the base. From then
        // on the larger number is the base, and nothing is written to the old one.
        folder::name_base(&*self.disk, &self.folder, number)?;
        let base = folder::open_base(&*self.disk, &self.folder, number, self.cache_bytes)?;
        self.retired.push(std::mem::replace(&mut self.base, base));
        self.number = number;
        self.meta = meta;
        self.reach(Step::CompactDelete)?;
        folder::delete(&*self.disk, &self.folder, |name| {
            folder::base_number(name).is_some_and(|old| old < number)
        })
    }
}
