//! The calls to a disk, and a callback that is invoked before each call.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

/// A call from the engine to the disk.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Call {
    /// Creates a folder.
    CreateDir,
    /// Lists a folder.
    List,
    /// Creates an empty file.
    Create(PathBuf),
    /// Opens an existing file.
    Open(PathBuf),
    /// Renames a file.
    Rename(PathBuf),
    /// Removes a file.
    Remove(PathBuf),
    /// Syncs the entries of a folder.
    SyncDir,
    /// Reads at an offset from the file with the given number.
    Read(usize, u64),
    /// Writes the given number of bytes at an offset to the file with the given number.
    Write(usize, u64, usize),
    /// Truncates or extends a file.
    SetLength(usize, u64),
    /// Syncs a file.
    Sync(usize),
}

impl Call {
    /// Returns `true` if the call changes something or makes something durable.
    #[must_use]
    pub fn changes(&self) -> bool {
        !matches!(self, Self::List | Self::Open(_) | Self::Read(..))
    }
}

/// A callback invoked before every call.
#[derive(Clone)]
pub(super) struct Watcher(pub(super) Arc<dyn Fn(&Call) + Send + Sync>);

impl fmt::Debug for Watcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Watcher")
    }
}
