//! The base: all rows that are no longer in the journal. They are stored on disk in sorted files called runs (`docs/format.md`, "Base").
//!
//! A flush writes the memtable's rows to new runs, which lie above the existing ones. A merge replaces several layers of runs with one. After each flush or
//! merge, the new version of the base is recorded before readers see it.

mod block;
mod cache;
mod copy;
mod cursor;
mod excluded;
pub(crate) mod fault;
mod figures;
mod filter;
#[cfg(feature = "testing")]
pub(crate) mod fuzz;
mod lineage;
mod merge;
mod meta;
mod open;
mod policy;
mod pool;
mod proof;
mod run;
mod runs;
mod salvage;
mod tally;
mod verify;
mod version;
mod view;

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use table_store::row::RowView;
use table_store::{Error, Result};
use uuid::Uuid;

use crate::disk::Disk;
use crate::disk::fault::{Task, is_shortage};
use crate::event::event;
use crate::failpoint::{Hook, Step, reach};
use crate::fault::EngineFault;
use crate::key;

pub use copy::{BackupFile, CopyReport};
pub(crate) use cursor::{BaseCursor, Skipped};
pub(crate) use merge::Merged;
pub(crate) use meta::Meta;
pub(crate) use policy::Debt;
pub(crate) use salvage::Unreadable;
pub use verify::{Verification, VerifiedFiles};
pub(crate) use version::stored::{BASE, BASE_NEW};
pub(crate) use view::BaseView;

use lineage::Lineage;
use merge::Merges;
use pool::Pool;
use run::Run;
use runs::RunsWriter;
use version::Version;
use version::stored::Stored;

/// The location and the options of a base.
#[derive(Clone)]
pub(crate) struct Place {
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) folder: Arc<Path>,
    pub(crate) cache_bytes: usize,
    /// The size in bytes at which a flush finishes a run and starts the next one. A merge step usually reads at most twice as many bytes.
    pub(crate) run_bytes: u64,
    pub(crate) hook: Option<Hook>,
}

impl Place {
    fn new_pool(&self) -> Pool {
        Pool::new(Arc::clone(&self.disk), self.folder.to_path_buf(), self.cache_bytes)
    }
}

/// The base. It is owned and changed by a single thread.
pub(crate) struct Base {
    pool: Arc<Pool>,
    run_bytes: u64,
    hook: Option<Hook>,
    stored: Stored,
    /// The length of the `BASE` file, in bytes.
    file_bytes: u64,
    version: Arc<Version>,
    merges: Merges,
    /// A random identifier of the session. Each time the folder is opened, a new one is generated.
    opening: Uuid,
    /// `true` if a file of the version is missing. In that case, `BASE` may be outdated, so files that `BASE` does not list are kept.
    is_incomplete: bool,
    /// Runs removed from the version. Their files are kept while a reader's view contains them.
    obsolete: Vec<Arc<Run>>,
    /// Set to cancel the flush or merge in progress.
    stop: Arc<AtomicBool>,
}

/// Returns `true` if a file name is the name of a run.
pub(crate) fn is_run(name: &str) -> bool {
    pool::number(name).is_some()
}

/// Returns the error for a cancelled flush or merge.
fn stopped() -> Error {
    Error::of(EngineFault::Closed)
}

impl Base {
    /// Durably creates an empty base in a folder.
    pub(crate) fn create(place: &Place, meta: Meta) -> Result<Self> {
        let stored = Stored {
            engine: Uuid::new_v4(),
            lineage: Lineage::default(),
            meta,
            next: 1,
            version: Arc::default(),
        };
        let pool = Arc::new(place.new_pool());
        let file_bytes = stored.write(&*pool.disk, &pool.folder)?;
        Ok(Self::of(pool, place, stored, file_bytes))
    }

    /// Opens the base of a folder.
    pub(crate) fn open(place: &Place) -> Result<Self> {
        let pool = Arc::new(place.new_pool());
        let stored = Stored::read(&pool)?;
        let file_bytes = stored.bytes().len() as u64;
        Ok(Self::of(pool, place, stored, file_bytes))
    }

    /// Checks whether a run of the version is missing. `names` contains the names of all files in the folder. If a run is missing, files that the version does
    /// not need are neither deleted nor overwritten.
    pub(crate) fn check_files(&mut self, names: &[String]) {
        let present: HashSet<u64> = names.iter().filter_map(|name| pool::number(name)).collect();
        self.is_incomplete = self.version.runs().iter().any(|run| !present.contains(&run.number));
        if self.is_incomplete {
            let last = present.iter().max().copied().unwrap_or_default();
            self.stored.next = self.stored.next.max(last.saturating_add(1));
        }
    }

    /// Records the first version in a new folder. From then on, a missing journal is treated as data loss.
    ///
    /// If there is not enough disk space, memory or file descriptors, the next flush or merge records the first version instead.
    ///
    /// # Errors
    /// Any disk error except a lack of disk space, file descriptors or memory.
    pub(crate) fn establish(&mut self) -> Result<()> {
        if !self.stored.lineage.is_empty() {
            return Ok(());
        }
        match self.record(self.stored.clone()) {
            Err(error) if is_shortage(&error) => Ok(()),
            recorded => recorded,
        }
    }

    fn of(pool: Arc<Pool>, place: &Place, stored: Stored, file_bytes: u64) -> Self {
        Self {
            pool,
            run_bytes: place.run_bytes,
            hook: place.hook.clone(),
            version: Arc::clone(&stored.version),
            stored,
            file_bytes,
            merges: Merges::default(),
            opening: Uuid::new_v4(),
            is_incomplete: false,
            obsolete: Vec::new(),
            stop: Arc::default(),
        }
    }

    /// Returns the metadata of the last recorded version.
    pub(crate) fn meta(&self) -> &Meta {
        &self.stored.meta
    }

    /// Returns the engine's unique identifier.
    pub(crate) fn engine(&self) -> Uuid {
        self.stored.engine
    }

    /// Returns a view of the last recorded version.
    pub(crate) fn view(&self) -> BaseView {
        BaseView { pool: Arc::clone(&self.pool), stored: Arc::new(self.stored.clone()) }
    }

    /// Returns the flag that cancels the flush or merge in progress. A cancelled flush or merge has no effect.
    pub(crate) fn stop(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.stop)
    }

    fn check_running(&self) -> Result<()> {
        if self.stop.load(Ordering::Relaxed) { Err(stopped()) } else { Ok(()) }
    }

    /// Returns a predicate that is `true` for the names of files that the version does not need.
    pub(crate) fn left_over(&self) -> impl Fn(&str) -> bool + use<> {
        let runs: HashSet<u64> = self.version.runs().iter().map(|run| run.number).collect();
        let is_incomplete = self.is_incomplete;
        move |name| {
            let is_left = |number| !is_incomplete && !runs.contains(&number);
            name == BASE_NEW || pool::number(name).is_some_and(is_left)
        }
    }

    /// Adds rows and tombstones above all existing rows, and records the new version. The entries must be in key order. `meta.dropped` lists the tables dropped
    /// since the last flush.
    ///
    /// # Errors
    /// `DiskFull` or `ServerBusy` if disk space, file descriptors or memory run out. In that case, the base is unchanged and the flush can be retried. After
    /// any other error, the base must not be written to.
    pub(crate) fn flush<'r>(
        &mut self,
        rows: impl Iterator<Item = (&'r [u8], Option<RowView<'r>>)>,
        mut meta: Meta,
    ) -> Result<()> {
        reach(self.hook.as_ref(), Step::CheckpointWrite)?;
        meta.dropped.extend(&self.stored.meta.dropped);
        let mut writer = RunsWriter::new(&self.pool, self.stored.next, self.run_bytes);
        let mut segment = None;
        for (key, row) in rows {
            self.check_running()?;
            // Rows of dropped tables are skipped, because the next merge would remove them.
            if !key::table_of(key).is_some_and(|table| meta.catalog.contains(table)) {
                continue;
            }
            let index = self.version.find(key);
            if row.is_none() && !self.version.may_hold(index, key) {
                continue;
            }
            // A block never spans two segments, so the index can tell which entries belong to a segment.
            if segment.replace(index) != Some(index) {
                writer.end_block()?;
            }
            writer.push(key, row)?;
        }
        let (runs, next) = writer.finish()?;
        let mut version = Version::clone(&self.version);
        version.add_all(&runs, self.run_bytes / policy::NEIGHBOURS as u64)?;
        reach(self.hook.as_ref(), Step::CheckpointCommit)?;
        // IMPORTANT: the rows and the new start of the journal become durable together, so a replay never starts too late. Replaying a frame twice is harmless.
        let bytes = runs.iter().map(|run| run.length).sum();
        self.record(Stored { meta, next, version: Arc::new(version), ..self.stored.clone() })?;
        self.pool.counters.flush(bytes);
        event!(
            debug,
            written_runs = runs.len(),
            written_bytes = bytes,
            runs = self.version.runs().len(),
            segments = self.version.segments().len(),
            tables = self.stored.meta.catalog.len(),
            "checkpoint recorded"
        );
        Ok(())
    }

    /// Records a version that omits the given tables and adds no rows. Returns `false` if the base contains none of these tables. If the disk is full, this
    /// function frees the space that a flush needs.
    ///
    /// The start of the journal does not change, so frames that wrote to a dropped table will be replayed. The journal must already contain the drop durably.
    /// Its frame is then also replayed, and drops the table again.
    pub(crate) fn forget_tables(&mut self, dropped: &[u32]) -> Result<bool> {
        let mut meta = self.stored.meta.clone();
        let known: Vec<u32> = dropped.iter().copied().filter(|id| meta.catalog.contains(*id)).collect();
        for id in &known {
            meta.catalog.remove(*id);
        }
        if known.is_empty() {
            return Ok(false);
        }
        meta.dropped.extend(known);
        reach(self.hook.as_ref(), Step::CheckpointCommit)?;
        self.record(Stored { meta, ..self.stored.clone() })?;
        Ok(true)
    }

    /// Returns the length of the `BASE` file, in bytes.
    pub(crate) const fn file_bytes(&self) -> u64 {
        self.file_bytes
    }

    /// Returns the total number of bytes submitted to the disk for runs, and for versions that could not be recorded.
    ///
    /// If an attempt fails, the increase during the attempt is a lower bound on the space that a retry needs.
    pub(crate) fn attempted_bytes(&self) -> u64 {
        self.pool.attempted.load(Ordering::Relaxed)
    }

    /// Durably records a version and makes it current. Layers that contain only rows of dropped tables are omitted.
    fn record(&mut self, mut stored: Stored) -> Result<()> {
        let version = Arc::make_mut(&mut stored.version);
        version.drop_dead(&stored.meta.catalog);
        version.join_empty();
        stored.lineage = stored.lineage.with(self.opening, stored.meta.sequence, stored.next);
        match stored.write(&*self.pool.disk, &self.pool.folder) {
            Ok(file_bytes) => self.file_bytes = file_bytes,
            Err(error) => {
                if is_shortage(&error) {
                    self.pool.attempted.fetch_add(stored.bytes().len() as u64, Ordering::Relaxed);
                    // The new runs are marked as obsolete, so their files are removed later.
                    let old = self.version.runs();
                    let is_new = |run: &Arc<Run>| old.iter().all(|old| old.number != run.number);
                    self.obsolete.extend(stored.version.runs().into_iter().filter(is_new));
                    // IMPORTANT: a run number is never reused while its file exists.
                    self.stored.next = stored.next;
                }
                return Err(error);
            }
        }
        let old = std::mem::replace(&mut self.version, Arc::clone(&stored.version)).runs();
        let kept = stored.version.runs();
        let is_kept = |run: &Arc<Run>| kept.binary_search_by_key(&run.number, |kept| kept.number).is_ok();
        self.obsolete.extend(old.into_iter().filter(|run| !is_kept(run)));
        self.stored = stored;
        Ok(())
    }

    /// Removes the files of obsolete runs that no view uses any more. Returns `true` if such runs existed.
    pub(crate) fn remove_obsolete(&mut self) -> bool {
        let (kept, gone) =
            std::mem::take(&mut self.obsolete).into_iter().partition(|run| Arc::strong_count(run) > 1);
        self.obsolete = kept;
        let has_removed = !gone.is_empty();
        for run in gone {
            let removed = reach(self.hook.as_ref(), Step::RunDelete)
                .and_then(|()| run.remove().map_err(|error| Task::RemoveRun.failed(error)));
            if let Err(error) = removed {
                // This failure is harmless, because the next open removes the file.
                event!(warn, %error, "an obsolete run was not removed");
            }
        }
        has_removed
    }
}

#[cfg(test)]
pub(crate) mod tests;
