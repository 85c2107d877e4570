//! Backup of an engine whose disk is failing. It copies all readable data and lists the unreadable rows.

use std::path::Path;

use table_store::key::EntityKey;
use table_store::name::TableName;
use table_store::{Error, Result};

use crate::backup::lock;
use crate::base::{BASE, CopyReport, Unreadable};
use crate::catalog::Catalog;
use crate::disk::fault::Task;
use crate::engine::Engine;
use crate::folder::{self, fault::FolderFault};
use crate::key;
use crate::manifest::{self, BACKUP, Folder, LOCK};

/// The result of [`Engine::salvage_backup`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PartialBackup {
    /// The number and size of the copied files.
    pub copied: CopyReport,
    /// The unreadable rows, as key ranges. Empty if the backup is complete.
    pub lost: Vec<LostRows>,
}

/// A key range of one table whose rows could not be read. In the backup, rows in this range may be missing or outdated. Deleted rows may reappear.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LostRows {
    /// The name of the table.
    pub table: TableName,
    /// The first key of the range, or `None` if the range starts with the first row of the table.
    pub first: Option<EntityKey>,
    /// The last key of the range, or `None` if the range ends with the last row of the table.
    pub last: Option<EntityKey>,
    /// The cause of the loss, with the file and the offset.
    pub cause: Error,
}

impl Engine {
    /// Copies all readable rows to an empty or missing folder, and lists the unreadable rows.
    ///
    /// [`backup`](Self::backup) fails if a part of the base cannot be read, because a partial backup must not replace a complete earlier one. Use this function
    /// if the engine has no other backup.
    ///
    /// Like `backup`, this function starts with a checkpoint. Use [`restore`](Self::restore) to restore the result.
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
    /// - `InvalidInput` if the engine is in memory.
    /// - `FolderNotOurs` if the folder is not empty.
    /// - `FolderLocked` if another backup is being written to it.
    /// - `Io` or `DiskFull` if the copy cannot be written.
    /// - Any error from [`checkpoint`](Self::checkpoint).
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
            // A backup without a `BASE` was interrupted before it had any content.
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
        Ok(PartialBackup { copied, lost: lost.iter().flat_map(|lost| lost_rows(catalog, lost)).collect() })
    }
}

/// Returns the lost rows of each table within an unreadable key range. Deleted tables are skipped, because their rows are not needed.
fn lost_rows<'a>(
    catalog: &'a Catalog,
    unreadable: &'a Unreadable,
) -> impl Iterator<Item = LostRows> + use<'a> {
    let Unreadable { first, last, cause } = unreadable;
    let (from, to) = (key::table_of(first), key::table_of(last));
    catalog.within(from.unwrap_or(0)..=to.unwrap_or(u32::MAX)).map(move |table| {
        let end = |id, bytes| (id == Some(table.id)).then(|| key_of(bytes)).flatten();
        LostRows {
            table: table.name.clone(),
            first: end(from, first),
            last: end(to, last),
            cause: cause.clone(),
        }
    })
}

/// Returns the key of a row, or `None` if the bytes are not a key.
fn key_of(bytes: &[u8]) -> Option<EntityKey> {
    let mut reader = key::KeyReader::default();
    let (partition_key, row_key) = reader.read(bytes).ok()?;
    EntityKey::new(partition_key, row_key).ok()
}
