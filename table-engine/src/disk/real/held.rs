//! A folder on this computer that is held open. Its files are accessed through the open handle, so they are found even if the folder's path changes.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{AtFlags, Dir, Mode, OFlags, openat, renameat, unlinkat};
use rustix::io::retry_on_intr;

use crate::disk::real::{self, RealFile};
use crate::disk::{Disk, DiskFile, DiskLock, RealDisk};

/// A disk that holds one folder open. Calls for paths outside the folder are forwarded to [`RealDisk`].
#[derive(Debug)]
pub(super) struct HeldFolder {
    /// The path used to open the folder. It identifies the folder in calls, even after a rename.
    path: PathBuf,
    handle: File,
}

impl HeldFolder {
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        Ok(Self { path: path.to_owned(), handle: File::open(path)? })
    }

    /// Returns the name of a file in the folder, or `None` for a path outside the folder.
    fn name<'p>(&self, path: &'p Path) -> Option<&'p Path> {
        path.file_name().filter(|_| path.parent() == Some(&self.path)).map(Path::new)
    }

    fn open_file(&self, name: &Path, flags: OFlags) -> io::Result<File> {
        let mode = Mode::from_raw_mode(0o666);
        let file = retry_on_intr(|| openat(&self.handle, name, flags | OFlags::CLOEXEC, mode))?;
        Ok(file.into())
    }
}

impl Disk for HeldFolder {
    fn create_dir(&self, folder: &Path) -> io::Result<()> {
        if folder == self.path { Ok(()) } else { RealDisk.create_dir(folder) }
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<String>> {
        if folder != self.path {
            return RealDisk.list(folder);
        }
        let mut names = Vec::new();
        for entry in Dir::read_from(&self.handle)? {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if name != b"." && name != b".." {
                names.push(String::from_utf8_lossy(name).into_owned());
            }
        }
        Ok(names)
    }

    fn open(&self, path: &Path, create: bool) -> io::Result<Arc<dyn DiskFile>> {
        let Some(name) = self.name(path) else { return RealDisk.open(path, create) };
        if create {
            real::if_present(self.remove(path))?;
        }
        let new = if create { OFlags::CREATE | OFlags::EXCL } else { OFlags::empty() };
        Ok(Arc::new(RealFile(self.open_file(name, OFlags::RDWR | new)?)))
    }

    fn open_to_read(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        let Some(name) = self.name(path) else { return RealDisk.open_to_read(path) };
        Ok(Arc::new(RealFile(self.open_file(name, OFlags::RDONLY)?)))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        match (self.name(from), self.name(to)) {
            (Some(from), Some(to)) => Ok(retry_on_intr(|| renameat(&self.handle, from, &self.handle, to))?),
            _ => RealDisk.rename(from, to),
        }
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let Some(name) = self.name(path) else { return RealDisk.remove(path) };
        Ok(retry_on_intr(|| unlinkat(&self.handle, name, AtFlags::empty()))?)
    }

    /// Syncs the folder. No new file descriptor is needed, because the folder is already open.
    fn sync_dir(&self, folder: &Path) -> io::Result<()> {
        if folder == self.path { self.handle.sync_all() } else { RealDisk.sync_dir(folder) }
    }

    fn hold(&self, folder: &Path) -> io::Result<Option<Arc<dyn Disk>>> {
        RealDisk.hold(folder)
    }

    fn lock(&self, path: &Path) -> io::Result<Box<dyn DiskLock>> {
        let Some(name) = self.name(path) else { return RealDisk.lock(path) };
        real::lock(self.open_file(name, OFlags::RDWR | OFlags::CREATE)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_held_folder_survives_a_rename_and_its_replacement_is_untouched() {
        let root = tempfile::tempdir().unwrap();
        let (path, moved) = (root.path().join("db"), root.path().join("db.old"));
        std::fs::create_dir(&path).unwrap();
        let held = RealDisk.hold(&path).unwrap().unwrap();
        held.open(&path.join("a"), true).unwrap().write_at(0, b"first").unwrap();
        std::fs::rename(&path, &moved).unwrap();
        std::fs::create_dir(&path).unwrap();
        std::fs::write(path.join("a"), b"other").unwrap();

        let mut bytes = [0; 5];
        held.open_to_read(&path.join("a")).unwrap().read_at(0, &mut bytes).unwrap();
        assert_eq!(&bytes, b"first");
        held.rename(&path.join("a"), &path.join("b")).unwrap();
        held.open(&path.join("c"), true).unwrap();
        held.remove(&path.join("c")).unwrap();
        held.sync_dir(&path).unwrap();
        let _lock = held.lock(&path.join("LOCK")).unwrap();
        assert!(held.lock(&path.join("LOCK")).is_err() && RealDisk.lock(&path.join("LOCK")).is_ok());
        let mut names = held.list(&path).unwrap();
        names.sort();
        assert_eq!(names, ["LOCK", "b"]);
        assert_eq!(std::fs::read(path.join("a")).unwrap(), b"other");
    }
}
