//! The disk interface of the engine: the few calls of journal and base, which tests can simulate.

pub(crate) mod fault;
mod real;

use std::fmt::Debug;
use std::io;
use std::path::Path;
use std::sync::Arc;

pub use real::RealDisk;

/// A file system with the operations that the engine needs.
///
/// The engine relies on the following guarantees. A simulated disk may exhaust them:
/// - After [`sync_data`](DiskFile::sync_data) returns, all bytes written to the file before, and its length, survive a power
///   loss. Until then any part of them may be lost, in any order.
/// - After [`sync_dir`](Disk::sync_dir) returns, all files and folders created, renamed and removed in the folder before remain
///   so. Until then each of these changes may be lost.
/// - A rename is atomic: after a power loss either the old name or the new one exists.
/// - Bytes that a write does not touch do not change, even if the power fails during the write.
///
/// ```
/// use std::io;
/// use std::path::Path;
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicU64, Ordering};
/// use table_core::BlockOn;
/// use table_core::embedded::EngineOptions;
/// use table_core::embedded::disk::{Disk, DiskFile, DiskLock, RealDisk};
///
/// /// The real disk, which counts the folders that were made durable.
/// #[derive(Debug, Default)]
/// struct Counting {
///     disk: RealDisk,
///     synced: AtomicU64,
/// }
///
/// impl Disk for Counting {
///     fn create_dir(&self, folder: &Path) -> io::Result<()> {
///         self.disk.create_dir(folder)
///     }
///     fn list(&self, folder: &Path) -> io::Result<Vec<String>> {
///         self.disk.list(folder)
///     }
///     fn open(&self, path: &Path, create: bool) -> io::Result<Arc<dyn DiskFile>> {
///         self.disk.open(path, create)
///     }
///     fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
///         self.disk.rename(from, to)
///     }
///     fn remove(&self, path: &Path) -> io::Result<()> {
///         self.disk.remove(path)
///     }
///     fn sync_dir(&self, folder: &Path) -> io::Result<()> {
///         self.synced.fetch_add(1, Ordering::Relaxed);
///         self.disk.sync_dir(folder)
///     }
///     fn lock(&self, path: &Path) -> io::Result<Box<dyn DiskLock>> {
///         self.disk.lock(path)
///     }
/// }
///
/// # let folder = tempfile::tempdir()?;
/// let disk = Arc::new(Counting::default());
/// EngineOptions::new().disk(Arc::clone(&disk) as Arc<dyn Disk>).open(folder.path().join("company.db"))?.close().block_on()?;
/// assert!(disk.synced.load(Ordering::Relaxed) > 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Disk: Debug + Send + Sync + 'static {
    /// Creates a folder in an existing one; succeeds if the folder exists.
    fn create_dir(&self, folder: &Path) -> io::Result<()>;

    /// Returns the names of the files in a folder, in any order.
    fn list(&self, folder: &Path) -> io::Result<Vec<String>>;

    /// Opens a file for reading and writing. With `create`, creates an empty file, replacing an existing one.
    fn open(&self, path: &Path, create: bool) -> io::Result<Arc<dyn DiskFile>>;

    /// Opens a file for reading only. Needs no write permission.
    fn open_to_read(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        self.open(path, false)
    }

    /// Renames a file, replacing a file with the new name.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Removes a file.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Makes the entries of a folder durable.
    fn sync_dir(&self, folder: &Path) -> io::Result<()>;

    /// Returns a disk that accesses the files of a folder through a handle of the folder, under the same paths. The files remain
    /// the same when the folder or one of its parents is renamed. Returns `None`, the default, if files can be accessed only by
    /// path.
    fn hold(&self, folder: &Path) -> io::Result<Option<Arc<dyn Disk>>> {
        let _ = folder;
        Ok(None)
    }

    /// Locks a file, creating it; the lock is held until the value is dropped or the process ends.
    ///
    /// # Errors
    /// `WouldBlock` if another holder has the lock.
    fn lock(&self, path: &Path) -> io::Result<Box<dyn DiskLock>>;
}

/// An open file. Several threads may call it concurrently.
///
/// ```
/// use table_core::embedded::disk::{Disk, DiskFile, RealDisk};
///
/// # let folder = tempfile::tempdir()?;
/// let file = RealDisk::default().open(&folder.path().join("file"), true)?;
/// file.write_at(4, b"base")?;
/// file.sync_data()?;
/// let mut bytes = [1; 8];
/// file.read_at(0, &mut bytes)?;
/// assert_eq!(&bytes, b"\0\0\0\0base"); // the bytes before are zeros
/// # Ok::<(), std::io::Error>(())
/// ```
pub trait DiskFile: Debug + Send + Sync + 'static {
    /// Returns the length in bytes.
    fn len(&self) -> io::Result<u64>;

    /// Returns `true` if the file has no bytes.
    fn is_empty(&self) -> io::Result<bool> {
        Ok(self.len()? == 0)
    }

    /// Fills the buffer with the bytes from an offset.
    ///
    /// # Errors
    /// `UnexpectedEof` if the file ends before.
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()>;

    /// Writes all bytes at an offset, extending the file if needed.
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()>;

    /// Cuts the file or extends it with zeros.
    fn set_len(&self, bytes: u64) -> io::Result<()>;

    /// Makes all written bytes and the length durable.
    fn sync_data(&self) -> io::Result<()>;

    /// Extends the file by this number of zero bytes at its end, `offset`, and reserves disk space for them. The default
    /// implementation writes the zeros.
    fn allocate(&self, offset: u64, bytes: u64) -> io::Result<()> {
        self.write_zeros(offset, bytes)
    }

    /// Writes this number of zero bytes at an offset.
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

/// A lock that is held while the value lives.
///
/// ```
/// use std::io::ErrorKind;
/// use table_core::embedded::disk::{Disk, RealDisk};
///
/// # let folder = tempfile::tempdir()?;
/// let (disk, path) = (RealDisk::default(), folder.path().join("LOCK"));
/// let lock = disk.lock(&path)?;
/// assert_eq!(disk.lock(&path).unwrap_err().kind(), ErrorKind::WouldBlock);
/// drop(lock);
/// assert!(disk.lock(&path).is_ok());
/// # Ok::<(), std::io::Error>(())
/// ```
pub trait DiskLock: Debug + Send + Sync + 'static {}
