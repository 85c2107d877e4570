//! Backups outside a folder, such as in an object store: lists their files, and restores them to a folder.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use table_store::Result;

use crate::backup::{end_restore, make_empty};
use crate::base::{BackupFile, BaseView, CopyReport};
use crate::disk::{Disk, DiskLock};
use crate::engine::Engine;
use crate::folder;
use crate::manifest;
use crate::options::EngineOptions;

/// The files of an engine at one point in time. Use it for a backup outside a folder, such as in an object store (`docs/format.md`, "Backup").
///
/// The files stay readable until the image is dropped or the engine is closed. The engine keeps running while an image exists.
///
/// Store the files in this order:
///
/// 1. [`manifest`](Self::manifest) as `BACKUP`;
/// 2. every file in [`files`](Self::files) whose `kept` is `false`;
/// 3. [`base`](Self::base) as `BASE`, which completes the backup.
///
/// Files that are not part of this backup may then be deleted.
///
/// ```
/// use table_core::embedded::Engine;
///
/// let folder = tempfile::tempdir()?;
/// let engine = Engine::open(folder.path())?;
/// let image = pollster::block_on(engine.backup_image())?;
/// assert!(image.files(None, "the archive")?.is_empty()); // no rows yet
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct BackupImage {
    // IMPORTANT: field order matters. This field must be dropped before the engine handle, because dropping the last handle blocks until the base is closed.
    base: BaseView,
    engine: Engine,
}

impl std::fmt::Debug for BackupImage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BackupImage").finish_non_exhaustive()
    }
}

impl Engine {
    /// Runs a checkpoint, then returns the files for a backup of all data acknowledged before the call.
    ///
    /// # Errors
    /// `InvalidInput` if the engine is in memory; any error from [`checkpoint`](Self::checkpoint).
    pub async fn backup_image(&self) -> Result<BackupImage> {
        Ok(BackupImage { base: self.base_to_back_up().await?, engine: self.clone() })
    }
}

impl BackupImage {
    /// Returns the bytes of the `BACKUP` file.
    #[must_use]
    pub fn manifest(&self) -> Vec<u8> {
        manifest::bytes()
    }

    /// Returns the bytes of the `BASE` file.
    #[must_use]
    pub fn base(&self) -> Vec<u8> {
        self.base.base_bytes()
    }

    /// Returns the files that contain rows. If the destination already has a backup, pass its `BASE` as `earlier`. `place` identifies the destination in error
    /// messages.
    ///
    /// # Errors
    /// - `FolderNotOurs` if the destination contains another engine's backup. If this engine's folder was restored from a backup, the engine of that backup is
    ///   another engine.
    /// - `Corrupted` if the bytes of `earlier` are corrupted.
    pub fn files(&self, earlier: Option<&[u8]>, place: &str) -> Result<Vec<BackupFile>> {
        self.after_read(self.base.files(earlier, Path::new(place)))
    }

    /// Reads an entire file and verifies its checksums.
    ///
    /// # Errors
    /// - `Corrupted`, with the file and the offset, if the file is corrupted.
    /// - `Io` if it cannot be read.
    /// - `ServerBusy` if the process has run out of file descriptors or memory.
    /// - `EngineClosed` if the engine is closed.
    pub fn check(&self, file: &BackupFile) -> Result<()> {
        self.after_read(self.base.check_file(file))
    }

    /// Fills the buffer with bytes from a file, starting at an offset.
    ///
    /// # Errors
    /// - `Io` if the file cannot be read.
    /// - `ServerBusy` if the process has run out of file descriptors or memory.
    /// - `InvalidInput` if the file belongs to another image.
    /// - `EngineClosed` if the engine is closed.
    pub fn read(&self, file: &BackupFile, offset: u64, buffer: &mut [u8]) -> Result<()> {
        self.after_read(self.base.read_file(file, offset, buffer))
    }

    fn after_read<T>(&self, outcome: Result<T>) -> Result<T> {
        self.engine.inner.shared.after_read(outcome)
    }
}

/// An engine folder during a restore from a backup outside a folder, such as in an object store. `Engine::open` refuses the folder until
/// [`finish`](Self::finish) has succeeded.
///
/// ```
/// use table_core::BlockOn;
/// use table_core::embedded::{Engine, EngineOptions};
///
/// # let folder = tempfile::tempdir()?;
/// let (engine, backup) = (Engine::open(folder.path().join("company.db"))?, folder.path().join("backup"));
/// engine.backup(&backup).block_on()?;
/// engine.close().block_on()?;
///
/// // The three parts of a backup, from wherever they are kept.
/// let part = |name: &str| std::fs::read(backup.join(name));
/// let to = folder.path().join("restored.db");
/// let restoration = EngineOptions::new().restoration(&part("BACKUP")?, &part("BASE")?, &to)?;
/// for file in restoration.files() {
///     restoration.write(&file, 0, &part(&file.name)?)?;
/// }
/// restoration.finish()?;
/// Engine::open(&to)?.close().block_on()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Restoration {
    options: EngineOptions,
    base: BaseView,
    disk: Arc<dyn Disk>,
    folder: PathBuf,
    _lock: Box<dyn DiskLock>,
}

impl std::fmt::Debug for Restoration {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Restoration").field("folder", &self.folder).finish_non_exhaustive()
    }
}

impl EngineOptions {
    /// Starts restoring a backup to an empty or missing folder. The backup is given by its `BACKUP` and `BASE`, and need not be in a folder.
    ///
    /// # Errors
    /// - `FolderNotOurs` if `to` is not empty, or the bytes are not a backup.
    /// - `FormatTooNew` or `FormatTooOld` if this library cannot read the format.
    /// - `Corrupted` if the bytes are corrupted.
    /// - `Io` if the folder cannot be written.
    pub fn restoration(&self, manifest: &[u8], base: &[u8], to: impl AsRef<Path>) -> Result<Restoration> {
        let folder = folder::absolute(to.as_ref())?;
        manifest::check_backup(manifest, &folder)?;
        BaseView::to_be_fetched(&self.place(&self.disk, &folder), base)?;
        let (disk, lock) = make_empty(&self.disk, &folder)?;
        let base = BaseView::to_be_fetched(&self.place(&disk, &folder), base)?;
        Ok(Restoration { options: self.clone(), base, disk, folder, _lock: lock })
    }
}

impl Restoration {
    /// Returns the backup files that must be written.
    #[must_use]
    pub fn files(&self) -> Vec<BackupFile> {
        self.base.all_files()
    }

    /// Writes a part of a file at an offset. Write each file from start to end.
    ///
    /// # Errors
    /// - `Io` or `DiskFull` if the file cannot be written.
    /// - `InvalidInput` if it belongs to another backup.
    pub fn write(&self, file: &BackupFile, offset: u64, bytes: &[u8]) -> Result<()> {
        self.base.write_file(file, offset, bytes)
    }

    /// Switches to a newer `BASE`. Use this function if a later backup has replaced the backup while it is being restored.
    ///
    /// Files that both versions list need not be written again. Files that only the older version lists are removed when the restored folder is opened.
    ///
    /// # Errors
    /// - `Corrupted` if the bytes are corrupted.
    /// - `FormatTooNew` or `FormatTooOld` if this library cannot read the format.
    ///
    /// After an error, the restore can continue with the previous `BASE`.
    pub fn replace_base(&mut self, base: &[u8]) -> Result<()> {
        self.base = BaseView::to_be_fetched(&self.options.place(&self.disk, &self.folder), base)?;
        Ok(())
    }

    /// Checks every written block and completes the engine's folder.
    ///
    /// # Errors
    /// - `Corrupted`, with the file and the offset, if a block is corrupted.
    /// - `Io` or `DiskFull` if the folder cannot be written.
    pub fn finish(self) -> Result<CopyReport> {
        let report = self.base.end_fetch()?;
        end_restore(&*self.disk, &self.folder, &self.base)?;
        Ok(report)
    }
}
