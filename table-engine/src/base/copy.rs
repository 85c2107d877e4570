//! Copies a version of the base to another folder, and verifies the copy of each run.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use table_store::{Error, Result};
use uuid::Uuid;

use crate::base::fault::BaseFault;
use crate::base::pool::{self, Pool};
use crate::base::run::Run;
use crate::base::verify::verify_run;
use crate::base::version::stored::{BASE, BASE_NEW, Stored};
use crate::base::{BaseView, Meta, Place, Verification};
use crate::disk::{Disk, DiskLock, fault::Task};
use crate::event::event;
use crate::folder;

/// The result of a backup or a restore.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CopyReport {
    /// The number of row files copied.
    pub copied_files: u64,
    /// The total size in bytes of the copied row files.
    pub copied_bytes: u64,
    /// The number of row files that the backup already contained.
    pub kept_files: u64,
    /// The total size in bytes of the row files that the backup already contained.
    pub kept_bytes: u64,
    /// The number of files removed because the backup no longer needs them.
    pub removed_files: u64,
}

/// A backup file that contains rows.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BackupFile {
    /// The name of the file.
    pub name: String,
    /// The length of the file in bytes.
    pub bytes: u64,
    /// `true` if the earlier backup already contains the file.
    pub kept: bool,
    number: u64,
}

impl BackupFile {
    fn of(run: &Run) -> Self {
        Self { name: pool::name(run.number), bytes: run.length, kept: false, number: run.number }
    }
}

/// The runs of the earlier backup in a folder: the identity and length of each run, keyed by run number.
type Earlier = HashMap<u64, (Uuid, u64)>;

impl BaseView {
    /// Returns the metadata recorded with the version.
    pub(crate) fn meta(&self) -> &Meta {
        &self.stored.meta
    }

    /// Updates the backup in a folder to this version. The earlier backup remains complete until the new one is durable.
    ///
    /// `before_record` is called after all runs have been copied. It may return a lock, which is then held until the backup is complete.
    pub(crate) fn back_up(
        &self,
        disk: &Arc<dyn Disk>,
        folder: &Path,
        before_record: impl FnOnce() -> Result<Option<Box<dyn DiskLock>>>,
    ) -> Result<CopyReport> {
        let pool = pool_in(disk, folder);
        let earlier = self.earlier(&pool)?;
        let report = self.copy_runs(&pool, &earlier)?;
        let runs = self.stored.version.runs();
        let obsolete = |number| runs.binary_search_by_key(&number, |run| run.number).is_err();
        let left_over = |name: &str| name == BASE_NEW || pool::number(name).is_some_and(obsolete);
        let remove = || folder::delete(&*pool.disk, folder, left_over);
        let _lock = before_record()?;
        self.stored.write(&*pool.disk, folder)?;
        // IMPORTANT: the old runs are removed only after the new version has been recorded. Until the record is durable, the earlier backup needs its runs.
        let removed = remove().unwrap_or_else(|error| {
            // This failure is harmless, because the next backup removes the files.
            event!(warn, %error, "obsolete files of a backup were not removed");
            0
        });
        Ok(CopyReport { removed_files: removed, ..report })
    }

    /// Copies this version into a folder that contains no other version.
    pub(crate) fn restore_to(&self, disk: &Arc<dyn Disk>, folder: &Path) -> Result<CopyReport> {
        let pool = pool_in(disk, folder);
        let report = self.copy_runs(&pool, &Earlier::new())?;
        self.stored.restored().write(&*pool.disk, folder)?;
        Ok(report)
    }

    /// Returns the runs of the backup in a folder.
    ///
    /// # Errors
    /// `FolderNotOurs` if the backup belongs to another engine, or to a later state of this engine.
    fn earlier(&self, pool: &Arc<Pool>) -> Result<Earlier> {
        let names = pool
            .disk
            .list(&pool.folder)
            .map_err(|error| Task::ReadFolder(pool.folder.clone()).failed(error))?;
        // The folder has no `BASE`, because the first backup into it was interrupted.
        if !names.iter().any(|name| name == BASE) {
            return Ok(Earlier::new());
        }
        self.runs_of(&Stored::read(pool)?, &pool.folder)
    }

    fn runs_of(&self, earlier: &Stored, place: &Path) -> Result<Earlier> {
        let follows = self.stored.check_follows(earlier);
        follows.map_err(|earlier| Error::of(BaseFault::Occupied { place: place.into(), earlier }))?;
        let runs = earlier.version.runs();
        Ok(runs.iter().map(|run| (run.number, (run.identity, run.length))).collect())
    }

    /// Returns the run files of this version. If the destination already has a backup, `earlier` contains the bytes of its `BASE`. A file that this backup
    /// contains is marked as `kept`.
    pub(crate) fn files(&self, earlier: Option<&[u8]>, place: &Path) -> Result<Vec<BackupFile>> {
        let earlier = match earlier {
            None => Earlier::new(),
            Some(bytes) => self.runs_of(
                &Stored::parse(bytes, &place.join(BASE), &pool_in(&self.pool.disk, place))?,
                place,
            )?,
        };
        let mut files = self.all_files();
        for (file, run) in files.iter_mut().zip(self.stored.version.runs()) {
            file.kept = earlier.get(&run.number) == Some(&(run.identity, run.length));
        }
        Ok(files)
    }

    /// Returns the run files of this version.
    pub(crate) fn all_files(&self) -> Vec<BackupFile> {
        self.stored.version.runs().iter().map(|run| BackupFile::of(run)).collect()
    }

    /// Returns the bytes of this version's `BASE` file.
    pub(crate) fn base_bytes(&self) -> Vec<u8> {
        self.stored.bytes()
    }

    fn run(&self, file: &BackupFile) -> Result<Arc<Run>> {
        let run = self.stored.version.run(file.number);
        run.ok_or_else(|| Error::of(BaseFault::OtherBackup(file.name.clone())))
    }

    /// Reads an entire file and verifies it.
    pub(crate) fn check_file(&self, file: &BackupFile) -> Result<()> {
        check(&*self.run(file)?)
    }

    /// Reads bytes from a file, starting at an offset, until the buffer is full.
    pub(crate) fn read_file(&self, file: &BackupFile, offset: u64, buffer: &mut [u8]) -> Result<()> {
        let run = self.run(file)?;
        let read = run.file()?.read_at(offset, buffer);
        read.map_err(|error| Task::ReadFile(file.name.clone().into()).refused(error))
    }

    /// Creates a view from the bytes of a `BASE` file, before its run files are written to the folder.
    pub(crate) fn to_be_fetched(place: &Place, base: &[u8]) -> Result<Self> {
        let pool = Arc::new(place.new_pool());
        let stored = Stored::parse(base, &place.folder.join(BASE), &pool)?;
        Ok(Self { pool, stored: Arc::new(stored) })
    }

    /// Writes part of a file that belongs to the version being restored. A write at offset 0 creates the file.
    pub(crate) fn write_file(&self, file: &BackupFile, offset: u64, bytes: &[u8]) -> Result<()> {
        let run = self.run(file)?;
        let opened = match offset {
            0 => self.pool.create(run.number),
            _ => self.pool.open_to_write(run.number),
        };
        let written = opened.and_then(|to| to.write_at(offset, bytes));
        written.map_err(|error| Task::WriteFile(file.name.clone().into()).refused(error))
    }

    /// Verifies the written files, and durably records the version.
    pub(crate) fn end_fetch(&self) -> Result<CopyReport> {
        let mut report = CopyReport::default();
        for run in self.stored.version.runs() {
            check(&run)?;
            let synced = self.pool.open_to_write(run.number).and_then(|file| file.sync_data());
            synced.map_err(|error| Task::SyncRun.failed(error))?;
            report.copied_files += 1;
            report.copied_bytes += run.length;
        }
        self.stored.restored().write(&*self.pool.disk, &self.pool.folder)?;
        Ok(report)
    }

    fn copy_runs(&self, pool: &Arc<Pool>, earlier: &Earlier) -> Result<CopyReport> {
        let mut report = CopyReport::default();
        for run in self.stored.version.runs() {
            let copy = run.in_pool(pool);
            // If the earlier copy of a run is unreadable, the earlier backup is corrupted. The run is then copied again.
            if earlier.get(&run.number) == Some(&(run.identity, run.length)) && copy.read_directory().is_ok()
            {
                report.kept_files += 1;
                report.kept_bytes += run.length;
                continue;
            }
            run.copy_to(pool)?;
            check_copy(&run, &copy)?;
            report.copied_files += 1;
            report.copied_bytes += run.length;
        }
        Ok(report)
    }
}

/// Creates a pool for a copy in another folder.
pub(super) fn pool_in(disk: &Arc<dyn Disk>, folder: &Path) -> Arc<Pool> {
    Arc::new(Pool::new(Arc::clone(disk), folder.to_owned(), 0))
}

/// Reads the copy of a run and verifies it. If both the copy and the original are corrupted, returns the error for the original.
pub(super) fn check_copy(run: &Run, copy: &Run) -> Result<()> {
    check(copy).or_else(|error| check(run).and(Err(error)))
}

/// Reads an entire run and verifies it.
fn check(run: &Run) -> Result<()> {
    let mut found = Verification::default();
    verify_run(run, &mut found)?;
    found.damage.into_iter().next().map_or(Ok(()), Err)
}
