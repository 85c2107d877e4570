//! Backs up an engine whose disk is failing: copies all data that can be read, and lists the rows that cannot.

use std::path::Path;

use table_store::{Error, Result};

use crate::backup::lock;
use crate::base::{BASE, CopyReport, Unreadable};
use crate::catalog::Catalog;
use crate::disk::fault::Task;
use crate::engine::Engine;
use crate::folder::{self, fault::FolderFault};
use crate::key;
use crate::manifest::{self, BACKUP, Folder, LOCK};

/// The result of a backup of all data that can be read.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PartialBackup {
    /// The files that were copied.
    pub copied: CopyReport,
    /// The rows that could not be read, as key ranges. Empty if the backup is complete.
    pub lost: Vec<LostRows>,
}

/// A key range whose rows could not be read. In the backup, rows from `first` to `last` may be missing or outdated, or may exist
/// although they were deleted.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LostRows {
    /// The first row of the range.
    pub first: RowPlace,
    /// The last row of the range.
    pub last: RowPlace,
    /// The cause, with the file and the offset.
    pub cause: Error,
}

/// The key of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RowPlace {
    /// The name of the table; `None` if the table has been deleted.
    pub table: Option<String>,
    /// The `PartitionKey` of the row.
    pub partition_key: String,
    /// The `RowKey` of the row.
    pub row_key: String,
}

impl Engine {
    /// Copies all rows that can be read into a folder that is empty or missing, and lists the rows that cannot be read.
    ///
    /// [`backup`](Self::backup) fails if a part of the base cannot be read, because a partial backup must not replace a complete
    /// earlier one. Use this function for an engine without another backup. It also starts with a checkpoint, and its result is
    /// restored in the same way.
    ///
    /// ```
    /// use table_core::embedded::Engine;
    ///
    /// let folder = tempfile::tempdir()?;
    /// let engine = Engine::open(folder.path().join("engine"))?;
    /// let backup = pollster::block_on(engine.salvage_backup(folder.path().join("backup")))?;
    /// assert!(backup.lost.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// `InvalidInput` if the engine is in memory; `FolderNotOurs` if the folder is not empty; `FolderLocked` if another backup
    /// is being written to it; `Io` or `DiskFull` if the copy cannot be written; any error from
    /// [`checkpoint`](Self::checkpoint).
    pub async fn salvage_backup(&self, folder: impl AsRef<Path>) -> Result<PartialBackup> {
        let base = self.base_to_back_up().await?;
        let target = &*folder::absolute(folder.as_ref())?;
        let disk = &self.inner.options.disk;
        if manifest::check(&**disk, target)? == Folder::Empty {
            folder::make(&**disk, target)?;
        }
        let disk = folder::hold(disk, target)?;
        let _lock = lock(&*disk, target, LOCK)?;
        let _manifest = match manifest::check(&*disk, target)? {
            Folder::Empty => manifest::write(&*disk, target, BACKUP)?,
            // The folder contains the remains of a backup that was interrupted before it had any content.
            Folder::Backup(version) if version.is_current() => {
                let names =
                    disk.list(target).map_err(|error| Task::ReadFolder(target.into()).refused(error))?;
                if names.iter().any(|name| name == BASE) {
                    return Err(Error::of(FolderFault::NotEmpty(target.into())));
                }
                lock(&*disk, target, BACKUP)?
            }
            _ => return Err(Error::of(FolderFault::NotEmpty(target.into()))),
        };
        let salvaged = base.salvage_to(&disk, target);
        let (copied, lost) = self.inner.shared.after_read(salvaged)?;
        let catalog = &base.meta().catalog;
        let lost = lost.into_iter().map(|lost| lost_rows(catalog, lost)).collect::<Result<Vec<_>>>()?;
        let is_needed = |lost: &LostRows| lost.first.table.is_some() || lost.last.table.is_some();
        Ok(PartialBackup { copied, lost: lost.into_iter().filter(is_needed).collect() })
    }
}

fn lost_rows(catalog: &Catalog, Unreadable { first, last, cause }: Unreadable) -> Result<LostRows> {
    Ok(LostRows { first: place(catalog, &first)?, last: place(catalog, &last)?, cause })
}

fn place(catalog: &Catalog, bytes: &[u8]) -> Result<RowPlace> {
    let id = key::table_of(bytes);
    let table = catalog.iter().find(|entry| Some(entry.id) == id).map(|entry| entry.name.as_str().to_owned());
    let mut reader = key::KeyReader::default();
    let (partition_key, row_key) = reader.read(bytes)?;
    Ok(RowPlace { table, partition_key: partition_key.to_owned(), row_key: row_key.to_owned() })
}
