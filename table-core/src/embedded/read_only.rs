//! Opening a folder for reading alone, also one that a writer of another process holds.

use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

use crate::embedded::base::{BASE, BaseView, Meta};
use crate::embedded::disk::fault::Task;
use crate::embedded::disk::{Disk, DiskFile};
use crate::embedded::engine::Engine;
use crate::embedded::folder::{self, fault::FolderFault};
use crate::embedded::journal::fault::JournalFault;
use crate::embedded::journal::file;
use crate::embedded::manifest::{self, Folder};
use crate::embedded::options::EngineOptions;
use crate::embedded::recover::{self, Replay};
use crate::embedded::state::State;
use crate::error::{Error, Result};

/// How often a folder is read, at most, whose journal stays in the same files: its end may be cut by a writer while it is read.
const ATTEMPTS: usize = 3;

impl Engine {
    /// Opens a folder for reading alone, with the default options: that of an engine, also of one that is open in this or another
    /// process, or a backup.
    ///
    /// What it shows is the folder as it was at the call, and stays so: every transaction that was acknowledged before, in the
    /// order of the writer, and perhaps the first of those that were under way. Open it again to see more. Of those under way, one may
    /// be shown that its writer is then refused, where the disk is full, or that a power loss takes back.
    ///
    /// Nothing is written or locked, and a writer is not disturbed: what it deletes meanwhile keeps its room on the disk until this
    /// handle goes. Each file of the base is open, about one for each 16 MiB: systems bound how many a process may have. The
    /// folder is to be on a file system of this computer. One over the network may show old bytes of files, in which
    /// case opening fails as `Corrupted`.
    ///
    /// ```
    /// use table_core::embedded::Engine;
    /// use table_core::{ErrorCode, TableName, TableStore};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let employees = TableName::new("Employee")?;
    /// let writer = Engine::open(folder.path())?;
    /// pollster::block_on(writer.create_table(&employees))?;
    ///
    /// let reader = Engine::open_read_only(folder.path())?; // perhaps in another process
    /// assert_eq!(pollster::block_on(reader.list_tables("", None, 10))?.names, [employees.clone()]);
    /// let refused = pollster::block_on(reader.delete_table(&employees)).unwrap_err();
    /// assert_eq!(refused.code(), ErrorCode::ReadOnly);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`EngineOptions::open_read_only`].
    pub fn open_read_only(folder: impl AsRef<Path>) -> Result<Self> {
        EngineOptions::new().open_read_only(folder)
    }
}

impl EngineOptions {
    /// Opens a folder for reading alone, as [`Engine::open_read_only`] does. Of the options those of reading count: limits, cache, clock, faults.
    ///
    /// # Errors
    /// `FolderNotOurs` if the folder is missing or empty, holds something else, or a backup that was cut short; `FormatTooNew`,
    /// `FormatTooOld`, `Corrupted`; `Io`, also where a process may not have so many files open.
    pub fn open_read_only(self, folder: impl AsRef<Path>) -> Result<Engine> {
        let folder = &*folder::absolute(folder.as_ref())?;
        let disk = folder::hold_existing(&self.disk, folder)?;
        let (mut attempt, mut files) = (1, Vec::new());
        let replay = loop {
            match read(&self, &disk, folder) {
                Ok(replay) => break replay,
                Err(error) => {
                    let now = journal(&*disk, folder).map_err(|_| error.clone())?;
                    // A writer that has come to other files may have written over one that was being read.
                    attempt = if now == files { attempt + 1 } else { 1 };
                    if attempt > ATTEMPTS {
                        return Err(error);
                    }
                    files = now;
                }
            }
        };
        Ok(Engine::start_read_only(self, folder, replay.state, replay.timestamp))
    }
}

/// The numbers of the files of the journal.
fn journal(disk: &dyn Disk, path: &Path) -> Result<Vec<u64>> {
    let mut numbers: Vec<u64> = list(disk, path)?.iter().filter_map(|name| file::number(name)).collect();
    numbers.sort_unstable();
    Ok(numbers)
}

fn read(options: &EngineOptions, held: &Arc<dyn Disk>, path: &Path) -> Result<Replay> {
    let disk = &**held;
    let folder = manifest::check(disk, path)?;
    if folder == Folder::Empty {
        return Err(Error::of(FolderFault::NoEngine(path.into())));
    }
    let is_backup = matches!(folder, Folder::Backup(_));
    let names = list(disk, path)?;
    if !names.iter().any(|name| name == BASE) && !names.iter().any(|name| file::number(name).is_some()) {
        if is_backup {
            return Err(Error::of(FolderFault::NothingToRead(path.into())));
        }
        // An engine is just making the folder, or was stopped while it did.
        return Ok(Replay::of(State::default()));
    }
    let place = options.place(held, path);
    let (base, files) = if is_backup {
        (BaseView::open_alone(&place)?, Vec::new())
    } else {
        BaseView::open_beside_writers(&place, |meta| open_journal(disk, path, meta))?
    };
    let meta = base.meta().clone();
    let mut replay = Replay::new(base);
    if !is_backup {
        recover::replay_all(path, &files, &meta, &mut replay)?;
    }
    Ok(replay)
}

fn list(disk: &dyn Disk, path: &Path) -> Result<Vec<String>> {
    disk.list(path).map_err(|error| Task::ReadFolder(path.into()).refused(error))
}

/// Opens the files of the journal, from the first one that a version of the base does not cover to the last.
fn open_journal(disk: &dyn Disk, path: &Path, meta: &Meta) -> Result<Vec<(u64, Arc<dyn DiskFile>)>> {
    let mut files = Vec::new();
    for number in meta.journal.. {
        let path = file::path(path, number);
        match disk.open_to_read(&path) {
            Ok(file) => files.push((number, file)),
            Err(error) if error.kind() == ErrorKind::NotFound => break,
            Err(error) => return Err(Task::ReadJournal(path).refused(error)),
        }
    }
    // A new folder has none yet. Where there are later ones, the base has been replaced by now.
    let may_be_empty = recover::is_fresh(meta)
        && (!files.is_empty() || list(disk, path)?.iter().all(|name| file::number(name).is_none()));
    if files.is_empty() && !may_be_empty {
        return Err(Error::of(JournalFault::Missing(file::path(path, meta.journal))));
    }
    Ok(files)
}
