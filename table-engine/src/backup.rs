//! Backs up a running engine to a folder, and restores backups from folders.

mod image;
mod readable;

use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

use table_store::{Error, Result};

use crate::base::{BASE, BaseView, CopyReport};
use crate::disk::fault::Task;
use crate::disk::{Disk, DiskLock};
use crate::engine::Engine;
use crate::fault::EngineFault;
use crate::folder::{self, fault::FolderFault};
use crate::journal::Journal;
use crate::manifest::{self, BACKUP, Folder, LOCK};
use crate::options::EngineOptions;
pub use image::{BackupImage, Restoration};
pub use readable::{LostRows, PartialBackup};

impl Engine {
    /// Copies all data acknowledged before the call to a folder.
    ///
    /// The folder must be empty or missing, or contain an earlier backup of this engine. An earlier backup is updated incrementally: only new data is copied,
    /// and data that is no longer needed is removed.
    ///
    /// The backup starts with a checkpoint. Readers and writers continue during the copy. The call blocks until the data has been copied.
    ///
    /// All copied data is read back and checked. Data in an earlier backup is not read again until it is restored or verified. If the update of
    /// an earlier backup is interrupted, the folder still contains a complete backup: the earlier one or the new one.
    ///
    /// A backup cannot be opened for writing. Use [`restore`](Self::restore) to create an engine's folder from it.
    ///
    /// ```
    /// use table_core::embedded::Engine;
    ///
    /// let folder = tempfile::tempdir()?;
    /// let (copy, restored) = (folder.path().join("backup"), folder.path().join("restored"));
    /// let engine = Engine::open(folder.path().join("engine"))?;
    /// pollster::block_on(engine.backup(&copy))?;
    /// pollster::block_on(engine.backup(&copy))?; // copies only new data
    /// Engine::restore(&copy, &restored)?;
    /// assert!(Engine::open(&restored)?.verify()?.is_whole());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// - `InvalidInput` if the engine is in memory.
    /// - `FolderNotOurs` if the folder contains anything other than an earlier backup of this engine, such as an engine or another engine's backup. If this
    ///   engine's folder was restored from a backup, the engine of that backup is another engine.
    /// - `FolderLocked` if another backup is being written to it.
    /// - `Corrupted` if a part of the base cannot be read. [`salvage_backup`](Self::salvage_backup) copies the other parts.
    /// - `Io` or `DiskFull` if the copy cannot be written.
    /// - Any error from [`checkpoint`](Self::checkpoint).
    pub async fn backup(&self, folder: impl AsRef<Path>) -> Result<CopyReport> {
        let base = self.base_to_back_up().await?;
        let copied = back_up(&self.inner.options.disk, &base, &folder::absolute(folder.as_ref())?);
        self.inner.shared.after_read(copied)
    }

    async fn base_to_back_up(&self) -> Result<BaseView> {
        self.checkpoint().await?;
        self.inner.state_to_keep()?.base.clone().ok_or_else(|| Error::of(EngineFault::InMemory))
    }

    /// Restores a backup to an empty or missing folder. The backup is not changed and may be read-only.
    ///
    /// Every block is checked. If a restore is interrupted or finds corrupted data, the folder cannot be opened. Delete its contents before retrying. The call
    /// blocks until the data has been copied.
    ///
    /// # Errors
    /// - `FolderNotOurs` if `from` contains no complete backup, or `to` is not empty.
    /// - `Corrupted`, with the file and the offset, if the backup is corrupted.
    /// - `FormatTooNew` or `FormatTooOld` if this library cannot read its format.
    /// - `Io` or `DiskFull` if the copy cannot be written.
    pub fn restore(from: impl AsRef<Path>, to: impl AsRef<Path>) -> Result<CopyReport> {
        EngineOptions::new().restore(from, to)
    }
}

impl EngineOptions {
    /// Restores a backup like [`Engine::restore`], but on the disk set in these options.
    ///
    /// # Errors
    /// Any error from [`Engine::restore`].
    pub fn restore(&self, from: impl AsRef<Path>, to: impl AsRef<Path>) -> Result<CopyReport> {
        let (from, to) = (&*folder::absolute(from.as_ref())?, &*folder::absolute(to.as_ref())?);
        let source = folder::hold_existing(&self.disk, from)?;
        if !matches!(manifest::check(&*source, from)?, Folder::Backup(_)) {
            return Err(Error::of(FolderFault::NoBackup(from.into())));
        }
        let names = source.list(from).map_err(|error| Task::ReadFolder(from.into()).failed(error))?;
        if !names.iter().any(|name| name == BASE) {
            return Err(Error::of(FolderFault::NothingToRestore(from.into())));
        }
        let place = self.place(&source, from);
        let mut version = BaseView::bytes_in(&place)?;
        let mut base = BaseView::open_alone(&place)?;
        let (target, _lock) = make_empty(&self.disk, to)?;
        let report = loop {
            let copied = base.restore_to(&target, to);
            // A concurrent backup to `from` may have replaced the version and removed its files. The next attempt overwrites the runs copied so far. Runs that
            // the new version does not need are removed when the restored folder is opened.
            let now = BaseView::bytes_in(&place)?;
            if copied.is_ok() || now == version {
                break copied?;
            }
            version = now;
            base = BaseView::open_alone(&place)?;
        };
        end_restore(&*target, to, &base)?;
        Ok(report)
    }
}

/// Creates a folder for a restore and locks it. Returns a handle to the folder, and the lock.
fn make_empty(disk: &Arc<dyn Disk>, folder: &Path) -> Result<(Arc<dyn Disk>, Box<dyn DiskLock>)> {
    let check = |disk: &dyn Disk| match manifest::check(disk, folder)? {
        Folder::Empty => Ok(()),
        _ => Err(Error::of(FolderFault::NotEmpty(folder.into()))),
    };
    check(&**disk)?;
    folder::make(&**disk, folder)?;
    let disk = folder::hold(disk, folder)?;
    let lock = lock(&*disk, folder, LOCK)?;
    check(&*disk)?;
    manifest::begin_restore(&*disk, folder)?;
    Ok((disk, lock))
}

/// Completes the engine's folder after a restore has copied the base into it.
fn end_restore(disk: &dyn Disk, folder: &Path, base: &BaseView) -> Result<()> {
    let meta = base.meta();
    Journal::create(disk, folder, meta.journal, meta.sequence)?;
    manifest::end_restore(disk, folder)
}

fn lock(disk: &dyn Disk, folder: &Path, name: &str) -> Result<Box<dyn DiskLock>> {
    disk.lock(&folder.join(name)).map_err(|error| match error.kind() {
        ErrorKind::WouldBlock => Error::of(FolderFault::BackupUnderWay(folder.into())),
        _ => Task::WriteFolder(folder.into()).refused(error),
    })
}

fn back_up(disk: &Arc<dyn Disk>, base: &BaseView, target: &Path) -> Result<CopyReport> {
    let check = |disk: &dyn Disk| match manifest::check(disk, target)? {
        Folder::Engine(_) => Err(Error::of(FolderFault::Engine(target.into()))),
        folder => Ok(folder),
    };
    if check(&**disk)? == Folder::Empty {
        folder::make(&**disk, target)?;
    }
    let disk = folder::hold(disk, target)?;
    let _lock = lock(&*disk, target, LOCK)?;
    // The manifest is locked as well, because a cleanup script may remove the lock file.
    let (_manifest, is_current) = match check(&*disk)? {
        Folder::Backup(version) => (lock(&*disk, target, BACKUP)?, version.is_current()),
        _ => (manifest::write(&*disk, target, BACKUP)?, true),
    };
    // IMPORTANT: a backup in an earlier format stays readable by the earlier release until the copy of all runs is complete.
    base.back_up(&disk, target, || {
        let replaced = (!is_current).then(|| manifest::write(&*disk, target, BACKUP));
        replaced.transpose()
    })
}
