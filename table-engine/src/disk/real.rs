//! The file system of this computer, accessed through `std::fs`.

#[cfg(unix)]
mod held;

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::Path;
use std::sync::Arc;

use crate::disk::{Disk, DiskFile, DiskLock};

/// The file system of this computer.
#[derive(Clone, Copy, Debug, Default)]
pub struct RealDisk;

#[derive(Debug)]
pub(super) struct RealFile(pub(super) File);

#[derive(Debug)]
struct RealLock(File);

impl DiskLock for RealLock {}

impl Drop for RealLock {
    /// Unlocks the file explicitly. Closing it is not sufficient. While a child process is being started, it has a copy of the file handle until it executes
    /// its program. This copy keeps the lock.
    fn drop(&mut self) {
        // If unlocking fails, the lock is released when the last copy of the handle is closed.
        let _ = self.0.unlock();
    }
}

/// Locks an open file until the returned value is dropped.
pub(super) fn lock(file: File) -> io::Result<Box<dyn DiskLock>> {
    match file.try_lock() {
        Ok(()) => Ok(Box::new(RealLock(file))),
        Err(TryLockError::WouldBlock) => Err(io::ErrorKind::WouldBlock.into()),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Ignores the error for a missing file.
pub(super) fn if_present(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

impl Disk for RealDisk {
    fn create_dir(&self, folder: &Path) -> io::Result<()> {
        match std::fs::create_dir(folder) {
            Err(_) if folder.is_dir() => Ok(()),
            outcome => outcome,
        }
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<String>> {
        std::fs::read_dir(folder)?
            .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
            .collect()
    }

    fn open(&self, path: &Path, create: bool) -> io::Result<Arc<dyn DiskFile>> {
        if create {
            if_present(std::fs::remove_file(path))?;
        }
        let file = OpenOptions::new().read(true).write(true).create_new(create).open(path)?;
        Ok(Arc::new(RealFile(file)))
    }

    fn open_to_read(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        Ok(Arc::new(RealFile(File::open(path)?)))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        std::fs::rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        std::fs::remove_file(path)
    }

    fn sync_dir(&self, folder: &Path) -> io::Result<()> {
        // Windows makes directory entries durable without a sync, and cannot open folders as files.
        if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
    }

    #[cfg(unix)]
    fn hold(&self, folder: &Path) -> io::Result<Option<Arc<dyn Disk>>> {
        Ok(Some(Arc::new(held::HeldFolder::open(folder)?)))
    }

    fn lock(&self, path: &Path) -> io::Result<Box<dyn DiskLock>> {
        lock(OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?)
    }
}

impl DiskFile for RealFile {
    fn len(&self) -> io::Result<u64> {
        Ok(self.0.metadata()?.len())
    }

    fn set_len(&self, bytes: u64) -> io::Result<()> {
        self.0.set_len(bytes)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.0.sync_data()
    }

    #[cfg(unix)]
    fn has_other_names(&self) -> io::Result<bool> {
        use std::os::unix::fs::MetadataExt;
        Ok(self.0.metadata()?.nlink() > 1)
    }

    /// Allocates disk blocks without writing to them, if the file system supports this.
    #[cfg(target_os = "linux")]
    fn allocate(&self, offset: u64, bytes: u64) -> io::Result<()> {
        use rustix::fs::{FallocateFlags, fallocate};
        use rustix::io::{Errno, retry_on_intr};
        match retry_on_intr(|| fallocate(&self.0, FallocateFlags::empty(), offset, bytes)) {
            // If the file system does not support this, zeros are written, which allocates blocks on every file system.
            Err(Errno::OPNOTSUPP | Errno::NOSYS) => self.write_zeros(offset, bytes),
            outcome => Ok(outcome?),
        }
    }

    #[cfg(unix)]
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        std::os::unix::fs::FileExt::read_exact_at(&self.0, buffer, offset)
    }

    #[cfg(unix)]
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        std::os::unix::fs::FileExt::write_all_at(&self.0, bytes, offset)
    }

    #[cfg(windows)]
    fn read_at(&self, mut offset: u64, mut buffer: &mut [u8]) -> io::Result<()> {
        while !buffer.is_empty() {
            let read = std::os::windows::fs::FileExt::seek_read(&self.0, buffer, offset)?;
            if read == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            buffer = buffer.get_mut(read..).unwrap_or_default();
            offset += read as u64;
        }
        Ok(())
    }

    #[cfg(windows)]
    fn write_at(&self, mut offset: u64, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let written = std::os::windows::fs::FileExt::seek_write(&self.0, bytes, offset)?;
            if written == 0 {
                return Err(io::ErrorKind::WriteZero.into());
            }
            bytes = bytes.get(written..).unwrap_or_default();
            offset += written as u64;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_released_even_if_a_copy_of_its_handle_is_open() {
        let folder = tempfile::tempdir().unwrap();
        let file = File::create(folder.path().join("LOCK")).unwrap();
        let copy = file.try_clone().unwrap();
        let held = lock(file).unwrap();
        let path = folder.path().join("LOCK");
        assert_eq!(RealDisk.lock(&path).unwrap_err().kind(), io::ErrorKind::WouldBlock);
        drop(held);
        assert!(RealDisk.lock(&path).is_ok());
        drop(copy);
    }
}
