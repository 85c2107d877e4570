//! Opens a folder for reading only. This works even while a writer in another process has the folder open.

use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

use table_store::{Error, Result};

use crate::base::{BASE, BaseView};
use crate::disk::fault::{Task, is_shortage};
use crate::disk::{Disk, DiskFile};
use crate::engine::Engine;
use crate::folder::{self, fault::FolderFault};
use crate::journal::fault::JournalFault;
use crate::journal::file;
use crate::journal::synced::Records;
use crate::manifest::{self, Folder};
use crate::options::EngineOptions;
use crate::recover::{self, Replay};
use crate::state::State;

/// The maximum number of attempts to read a folder. An attempt can fail if a writer truncates the journal during the read. Whenever the set of journal files
/// has changed, the attempts are counted from the start again.
const ATTEMPTS: usize = 3;

impl Engine {
    /// Opens a folder for reading only, with the default options. The folder may contain a backup or an engine. The engine may even be open, in this or another
    /// process.
    ///
    /// The returned engine shows the state of the folder at the time of the call. It contains every transaction acknowledged before the call. It may also
    /// contain transactions in progress. If it contains one of them, it contains all earlier ones. Such a transaction may be visible even if it is later
    /// refused because the disk is full, or undone by a power loss. To see a newer state, open the folder again.
    ///
    /// Nothing is written or locked, and the writer is not delayed.
    ///
    /// - **Disk space.** Files that the writer deletes occupy disk space until this handle is dropped.
    /// - **Open files.** All files of the base (about one per 16 MiB) are kept open, and count towards the process's limit on open files. If a backup has more
    ///   files than the process can keep open, they are opened on demand. If a later backup to the same folder then removes some of them, reads fail with
    ///   `Corrupted` until the folder is opened again.
    /// - **Local disks only.** The folder must be on a local file system. A network file system may return outdated bytes, and opening then fails with
    ///   `Corrupted`.
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
    /// Any error from [`EngineOptions::open_read_only`].
    pub fn open_read_only(folder: impl AsRef<Path>) -> Result<Self> {
        EngineOptions::new().open_read_only(folder)
    }
}

impl EngineOptions {
    /// Opens a folder for reading only, like [`Engine::open_read_only`]. Only the options for limits, cache, clock and faults are used.
    ///
    /// # Errors
    /// - `FolderNotOurs` if the folder is missing or empty, contains other files, or is an incomplete backup.
    /// - `FormatTooNew` or `FormatTooOld` if this library cannot read its format.
    /// - `Corrupted` if it is corrupted.
    /// - `ServerBusy` if the process has reached its limit on open files.
    /// - `Io` if the disk fails.
    pub fn open_read_only(self, folder: impl AsRef<Path>) -> Result<Engine> {
        let folder = &*folder::absolute(folder.as_ref())?;
        let disk = folder::hold_existing(&self.disk, folder)?;
        let (mut attempt, mut files) = (1, Vec::new());
        let replay = loop {
            match read(&self, &disk, folder) {
                Ok(replay) => break replay,
                Err(error) => {
                    let now = journal(&*disk, folder).map_err(|_| error.clone())?;
                    // If the set of files has changed, the writer may have overwritten a file during the read.
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

/// Returns the numbers of the journal files in a folder, sorted.
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
    if is_backup && !names.iter().any(|name| name == BASE) {
        return Err(Error::of(FolderFault::NothingToRead(path.into())));
    }
    if recover::is_new(&names) {
        // An engine is creating the folder, or was interrupted while creating it.
        return Ok(Replay::of(State::default()));
    }
    // IMPORTANT: the record of synced frames is read before the journal, because a writer may extend the journal at the same time. If it were read later, it
    // might refer to frames that this read does not see.
    let records = Records::read(disk, path)?;
    let place = options.place(held, path);
    let journal = |base: &BaseView| {
        if is_backup {
            return Ok(Vec::new());
        }
        let files = open_journal(disk, path, base)?;
        // IMPORTANT: the next file may be missing for two reasons. Either it contains no frames yet, or the writer has moved its rows to a later base and
        // removed it. The current base shows which of them applies.
        let next = files.last().map_or(base.meta().journal, |(number, _)| number + 1);
        if BaseView::open_alone(&place)?.meta().journal > next {
            return Err(Error::of(JournalFault::Missing(file::path(path, next))));
        }
        Ok(files)
    };
    let (base, files) = match BaseView::open_during_writes(&place, journal) {
        // A backup has no journal, and its files can be opened on demand, so a few file descriptors are enough.
        Err(error) if is_backup && is_shortage(&error) => (BaseView::open_alone(&place)?, Vec::new()),
        opened => opened?,
    };
    let (meta, mark) = (base.meta().clone(), records.mark(base.engine()));
    let mut replay = Replay::new(base);
    if !is_backup {
        recover::replay_all(path, &files, &meta, mark, &mut replay)?;
    }
    Ok(replay)
}

fn list(disk: &dyn Disk, path: &Path) -> Result<Vec<String>> {
    disk.list(path).map_err(|error| Task::ReadFolder(path.into()).refused(error))
}

/// Opens the journal files that contain frames newer than a version of the base.
fn open_journal(disk: &dyn Disk, path: &Path, base: &BaseView) -> Result<Vec<(u64, Arc<dyn DiskFile>)>> {
    let meta = base.meta();
    let mut files = Vec::new();
    for number in meta.journal.. {
        let path = file::path(path, number);
        match disk.open_to_read(&path) {
            Ok(file) => files.push((number, file)),
            Err(error) if error.kind() == ErrorKind::NotFound => break,
            Err(error) => return Err(Task::ReadJournal(path).refused(error)),
        }
    }
    // A new folder has no journal yet. If it has files with greater numbers, the base has been replaced.
    let may_be_empty = base.is_new()
        && (!files.is_empty() || list(disk, path)?.iter().all(|name| file::number(name).is_none()));
    if files.is_empty() && !may_be_empty {
        return Err(Error::of(JournalFault::Missing(file::path(path, meta.journal))));
    }
    Ok(files)
}
