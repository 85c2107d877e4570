//! A copy of an engine's folder, taken while it is in use.

use std::path::Path;

use crate::embedded::base::BaseView;
use crate::embedded::disk::Disk;
use crate::embedded::engine::Engine;
use crate::embedded::folder;
use crate::embedded::journal::{Journal, failed};
use crate::embedded::manifest::{self, Folder, LOCK};
use crate::error::{Error, ErrorCode, Result};

impl Engine {
    /// Copies everything that was acknowledged before the call into a folder that is empty or missing. The copy is a folder like
    /// any other: restoring is opening it.
    ///
    /// It begins with a checkpoint; readers and writers go on meanwhile. All that is copied is read back and checked. A copy that was
    /// cut short is no folder of ours, and is refused by `open`. Copying blocks for as long as the disk takes.
    ///
    /// ```
    /// use table_core::embedded::Engine;
    ///
    /// let (folder, copy) = (tempfile::tempdir()?, tempfile::tempdir()?);
    /// let engine = Engine::open(folder.path())?;
    /// pollster::block_on(engine.backup(copy.path()))?;
    /// assert!(Engine::open(copy.path())?.verify()?.is_whole());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// `InvalidInput` for an engine in memory; `FolderNotOurs` where the folder holds something; `Corrupted` where the base cannot be
    /// read; those of [`checkpoint`](Self::checkpoint); `Io`, `DiskFull`.
    pub async fn backup(&self, folder: impl AsRef<Path>) -> Result<()> {
        self.checkpoint().await?;
        let state = self.inner.shared.state_to_keep()?;
        let Some(base) = &state.base else {
            let message = "an engine in memory has no files to copy: read its tables instead";
            return Err(Error::new(ErrorCode::InvalidInput, message));
        };
        copy(&*self.inner.options.disk, base, folder.as_ref())
    }
}

fn copy(disk: &dyn Disk, base: &BaseView, target: &Path) -> Result<()> {
    if manifest::check(disk, target)? != Folder::Empty {
        let message =
            format!("the folder {} holds a folder of an engine: choose an empty one", target.display());
        return Err(Error::new(ErrorCode::FolderNotOurs, message));
    }
    folder::make(disk, target)?;
    let io = |error| failed(&format!("the folder {} cannot be written", target.display()), error);
    let _lock = disk.lock(&target.join(LOCK)).map_err(io)?;
    let meta = base.copy_to(target)?;
    Journal::create(disk, target, meta.journal, meta.sequence)?;
    disk.sync_dir(target).map_err(io)?;
    // IMPORTANT: last: without it a folder that holds something is not ours.
    manifest::write(disk, target)
}
