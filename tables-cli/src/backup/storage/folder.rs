//! Storage in a local folder.

use std::fmt;
use std::fs::{File, TryLockError};
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::backup::storage::{Append, MARKER, Storage, too_short};
use crate::failure::{Failure, Result};
use crate::incomplete::part_of;

/// A local folder that contains backups.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    /// The lock file, locked while a command writes to the folder.
    lock: Mutex<Option<Locked>>,
}

/// Commands hold a shared lock on this file while they have a temporary folder in the backup folder.
pub(in crate::backup) const VIEWS: &str = "VIEWS";
/// The prefix of the names of temporary folders.
pub(in crate::backup) const VIEW: &str = "view-";

/// A locked file. It is unlocked when the value is dropped.
#[derive(Debug)]
pub(in crate::backup) struct Locked(File);

impl Locked {
    /// Acquires a shared lock on a file, and creates the file if it does not exist. Returns `None` if another process holds an exclusive lock.
    pub(in crate::backup) fn shared(path: &Path) -> Result<Option<Self>> {
        let file = created(path)?;
        Self::after(file.try_lock_shared(), file, path)
    }

    /// Acquires an exclusive lock on a file. Returns `None` if another process has locked the file.
    fn new(path: &Path) -> Result<Option<Self>> {
        Self::of(File::open(path).map_err(Failure::file(path.display()))?, path)
    }

    /// Acquires an exclusive lock on an open file. Returns `None` if another process has locked the file.
    fn of(file: File, path: &Path) -> Result<Option<Self>> {
        Self::after(file.try_lock(), file, path)
    }

    fn after(outcome: Result<(), TryLockError>, file: File, path: &Path) -> Result<Option<Self>> {
        match outcome {
            Ok(()) => Ok(Some(Self(file))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(Failure::file(path.display())(error)),
        }
    }
}

impl Drop for Locked {
    /// Unlocks the file. Closing the file would not be sufficient: a child process that is being started holds a copy of the file handle, and the system keeps
    /// the lock until that copy is closed, too.
    fn drop(&mut self) {
        // If unlocking fails, the lock is released when the last copy of the handle is closed.
        let _ = self.0.unlock();
    }
}

impl Folder {
    /// Creates storage in a folder. The folder need not exist yet.
    #[must_use]
    pub fn new(path: &Path) -> Self {
        Self { path: path.to_owned(), lock: Mutex::new(None) }
    }

    /// Removes the temporary folders of commands that were killed, unless another command currently uses such a folder.
    fn remove_views(&self) -> Result<()> {
        let mut views = self.names("")?;
        views.retain(|name| name.starts_with(VIEW));
        let path = self.path.join(VIEWS);
        if views.is_empty() {
            return Ok(());
        }
        // IMPORTANT: the folders are listed before the lock is acquired, so the list cannot contain the folder of a command that starts later.
        let Some(_locked) = Locked::of(created(&path)?, &path)? else { return Ok(()) };
        for folder in views.iter().map(|name| self.path.join(name)) {
            std::fs::remove_dir_all(&folder).map_err(Failure::file(folder.display()))?;
        }
        Ok(())
    }

    fn busy(&self) -> Failure {
        Failure::Refused(format!("another `tables backup` writes to {self}; wait until it ends"))
    }
}

impl fmt::Display for Folder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path.display())
    }
}

impl Storage for Folder {
    fn is_unused(&self) -> Result<bool> {
        // A command that was killed may have left a partial marker.
        let begun = part(Path::new(MARKER)).display().to_string();
        Ok(self.names("")?.iter().all(|name| *name == begun))
    }

    fn prepare(&self, folders: &[&str]) -> Result<()> {
        for folder in folders.iter().map(|folder| self.path.join(folder)) {
            std::fs::create_dir_all(&folder).map_err(Failure::file(folder.display()))?;
        }
        Ok(())
    }

    fn names(&self, folder: &str) -> Result<Vec<String>> {
        let folder = self.path.join(folder);
        let entries = match std::fs::read_dir(&folder) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            found => found.map_err(Failure::file(folder.display()))?,
        };
        let name = |entry: std::io::Result<std::fs::DirEntry>| {
            Ok(entry.map_err(Failure::file(folder.display()))?.file_name().to_string_lossy().into_owned())
        };
        entries.map(name).collect()
    }

    fn read(&self, name: &str) -> Result<Option<Vec<u8>>> {
        let path = self.path.join(name);
        match std::fs::read(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            found => found.map(Some).map_err(Failure::file(path.display())),
        }
    }

    fn replace(&self, name: &str, content: &[u8]) -> Result<()> {
        let path = self.path.join(name);
        let part = part(&path);
        let mut file = File::create(&part).map_err(Failure::file(part.display()))?;
        file.write_all(content).map_err(Failure::file(part.display()))?;
        file.sync_all().map_err(Failure::file(part.display()))?;
        std::fs::rename(&part, &path).map_err(Failure::file(path.display()))?;
        path.parent().map_or(Ok(()), sync_folder)
    }

    fn begin(&self, name: &str, content: &[u8]) -> Result<()> {
        let path = self.path.join(name);
        let part = part(&path);
        let failed = || Failure::file(part.display());
        let file = File::options().create(true).write(true).truncate(false).open(&part).map_err(failed())?;
        let Some(mut locked) = Locked::of(file, &part)? else { return Err(self.busy()) };
        // IMPORTANT: the path is checked while the lock is held. A command that opened the same file earlier may have renamed it.
        if path.exists() {
            return self.remove(&format!("{name}.part"));
        }
        locked.0.set_len(0).map_err(failed())?;
        locked.0.write_all(content).map_err(failed())?;
        locked.0.sync_all().map_err(failed())?;
        std::fs::rename(&part, &path).map_err(Failure::file(path.display()))?;
        path.parent().map_or(Ok(()), sync_folder)
    }

    fn remove(&self, name: &str) -> Result<()> {
        let path = self.path.join(name);
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(Failure::file(path.display())(error)),
            _ => Ok(()),
        }
    }

    fn length(&self, name: &str) -> Result<Option<u64>> {
        let path = self.path.join(name);
        match std::fs::metadata(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            found => found.map(|found| Some(found.len())).map_err(Failure::file(path.display())),
        }
    }

    fn open(&self, name: &str) -> Result<Box<dyn Read + Send>> {
        let path = self.path.join(name);
        Ok(Box::new(File::open(&path).map_err(Failure::file(path.display()))?))
    }

    fn append(&self, name: &str, length: u64) -> Result<Box<dyn Append>> {
        let path = self.path.join(name);
        let failed = || Failure::file(path.display());
        if length == 0 {
            let file = File::create(&path).map_err(failed())?;
            return Ok(Box::new(Growing { path, file }));
        }
        let mut file = File::options().write(true).open(&path).map_err(failed())?;
        if file.metadata().map_err(failed())?.len() < length {
            return Err(too_short(path.display()));
        }
        file.set_len(length).map_err(failed())?;
        file.seek(SeekFrom::Start(length)).map_err(failed())?;
        Ok(Box::new(Growing { path, file }))
    }

    fn lock(&self) -> Result<()> {
        let Some(locked) = Locked::new(&self.path.join(MARKER))? else {
            return Err(self.busy());
        };
        *self.lock.lock().unwrap_or_else(PoisonError::into_inner) = Some(locked);
        // If the folders cannot be removed, they only use space.
        let _ = self.remove_views();
        Ok(())
    }

    fn confirm(&self, folders: &[&str]) -> Result<()> {
        folders.iter().try_for_each(|folder| sync_folder(&self.path.join(folder)))
    }

    fn local(&self) -> Option<&Path> {
        Some(&self.path)
    }
}

/// A file that is being appended to.
#[derive(Debug)]
struct Growing {
    path: PathBuf,
    file: File,
}

impl Append for Growing {
    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.file.write_all(bytes).map_err(Failure::file(self.path.display()))
    }

    fn sync(&mut self) -> Result<()> {
        self.file.sync_data().map_err(Failure::file(self.path.display()))
    }
}

/// Opens a file, and creates it if it does not exist. If the path is a link, which an untrusted backup may contain, its target is never created.
fn created(path: &Path) -> Result<File> {
    let opened = match File::create_new(path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => File::open(path),
        created => created,
    };
    opened.map_err(Failure::file(path.display()))
}

/// Returns the temporary path of a file that is being written.
fn part(path: &Path) -> PathBuf {
    part_of(path, "part")
}

/// Makes the names of the files in a folder durable, if the operating system supports this.
pub(in crate::backup) fn sync_folder(folder: &Path) -> Result<()> {
    if !cfg!(unix) {
        return Ok(());
    }
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(Failure::file(folder.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_ends_with_its_command_while_a_child_process_has_a_copy_of_the_handle() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(MARKER);
        std::fs::write(&path, "").unwrap();
        let locked = Locked::new(&path).unwrap().unwrap();
        assert!(Locked::new(&path).unwrap().is_none());
        let _copy = locked.0.try_clone().unwrap();
        drop(locked);
        assert!(Locked::new(&path).unwrap().is_some());
    }
}
