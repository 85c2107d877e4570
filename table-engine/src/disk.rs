//! The engine's interface to the disk. It consists of the few operations that the journal and the base use. Tests can simulate a disk.

pub(crate) mod fault;
mod real;

use std::fmt::Debug;
use std::io;
use std::path::Path;
use std::sync::Arc;

pub use real::RealDisk;

/// A file system, reduced to the operations that the engine needs.
///
/// The engine relies only on the following guarantees. A simulated disk may do anything that they permit.
/// - After [`sync_data`](DiskFile::sync_data) returns, the file's length and all bytes written before the call survive a power loss. Until then, any
///   of them may be lost, in any order.
/// - After [`sync_dir`](Disk::sync_dir) returns, all earlier creations, renames and removals in the folder survive a power loss. Until then, any of
///   them may be lost.
/// - A rename is atomic: after a power loss either the old name or the new one exists.
/// - Bytes that a write does not touch do not change, even if the power fails during the write.
pub trait Disk: Debug + Send + Sync + 'static {
    /// Creates a folder in an existing folder. Succeeds if the folder already exists.
    fn create_dir(&self, folder: &Path) -> io::Result<()>;

    /// Returns the names of the files in a folder, in any order.
    fn list(&self, folder: &Path) -> io::Result<Vec<String>>;

    /// Opens a file for reading and writing. If `create` is `true`, creates an empty file.
    ///
    /// If a file with this name already exists, it is unlinked, not truncated. It may have other hard links, because snapshots are often folders of hard links.
    fn open(&self, path: &Path, create: bool) -> io::Result<Arc<dyn DiskFile>>;

    /// Opens a file for reading only. No write permission is needed.
    fn open_to_read(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        self.open(path, false)
    }

    /// Renames a file, replacing any file with the new name.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Removes a file from its folder.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Makes the directory entries of a folder durable.
    fn sync_dir(&self, folder: &Path) -> io::Result<()>;

    /// Returns a disk that accesses the files of a folder through an open handle to the folder. Returns `None`, the default, if files can be accessed only by
    /// path.
    ///
    /// Callers use the same paths as before. The paths refer to the same files even after the folder or one of its parents has been renamed.
    fn hold(&self, folder: &Path) -> io::Result<Option<Arc<dyn Disk>>> {
        let _ = folder;
        Ok(None)
    }

    /// Locks a file. If the file does not exist, it is created. The lock is held until the returned value is dropped or the process ends.
    ///
    /// # Errors
    /// `WouldBlock` if the lock is already held.
    fn lock(&self, path: &Path) -> io::Result<Box<dyn DiskLock>>;
}

/// An open file, which several threads may use concurrently.
#[cfg_attr(
    any(test, feature = "testing"),
    expect(clippy::len_without_is_empty, reason = "no caller asks whether a file is empty")
)]
pub trait DiskFile: Debug + Send + Sync + 'static {
    /// Returns the length in bytes.
    fn len(&self) -> io::Result<u64>;

    /// Fills the buffer with the bytes of the file that start at `offset`.
    ///
    /// # Errors
    /// `UnexpectedEof` if the file ends before the buffer is full.
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()>;

    /// Writes all bytes at `offset`, extending the file if needed.
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()>;

    /// Truncates the file or extends it with zeros.
    fn set_len(&self, bytes: u64) -> io::Result<()>;

    /// Makes all written bytes and the length of the file durable.
    fn sync_data(&self) -> io::Result<()>;

    /// Returns `true` if the file has other hard links. A write to the file then also changes its content under the other names. The default is `false`.
    fn has_other_names(&self) -> io::Result<bool> {
        Ok(false)
    }

    /// Appends `bytes` zero bytes to the file, whose length is `offset`, and reserves disk space for them. The default implementation writes the zeros.
    fn allocate(&self, offset: u64, bytes: u64) -> io::Result<()> {
        self.write_zeros(offset, bytes)
    }

    /// Writes `bytes` zero bytes at `offset`.
    fn write_zeros(&self, offset: u64, bytes: u64) -> io::Result<()> {
        let zeros = [0; 1 << 14];
        let mut written = 0;
        while written < bytes {
            let count = usize::try_from(bytes - written).unwrap_or(zeros.len()).min(zeros.len());
            self.write_at(offset + written, zeros.get(..count).unwrap_or_default())?;
            written += count as u64;
        }
        Ok(())
    }
}

/// A lock. It is held until the value is dropped.
pub trait DiskLock: Debug + Send + Sync + 'static {}
