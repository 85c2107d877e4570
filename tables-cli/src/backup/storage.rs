//! The storage of backups: a local folder, or a prefix of an object store.

pub(in crate::backup) mod folder;
#[cfg(feature = "object-store")]
mod lease;
#[cfg(feature = "object-store")]
pub mod objects;
#[cfg(feature = "object-store")]
mod requests;
#[cfg(feature = "object-store")]
mod segments;
#[cfg(feature = "object-store")]
mod shared;

use std::fmt::{Debug, Display};
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use crate::failure::{Failure, Result};
pub use folder::Folder;

/// The name of the file that marks a backup folder.
pub(super) const MARKER: &str = "BACKUPS";

/// The file operations that a repository needs. Names are relative, such as `generations/20261125T210509.123Z.json`.
///
/// All functions block, like those of `std::fs`. The `Display` implementation returns the location for use in messages.
pub trait Storage: Debug + Display + Send + Sync {
    /// Returns `true` if the storage is empty. Files that a command left behind when it was killed while creating the backup folder are ignored.
    ///
    /// # Errors
    /// `File` if the storage cannot be read.
    fn is_unused(&self) -> Result<bool>;

    /// Prepares the storage for files in the given folders.
    ///
    /// # Errors
    /// `File` if the storage cannot be written.
    fn prepare(&self, folders: &[&str]) -> Result<()>;

    /// Returns the names of the files in a folder, without the folder's path. Returns no names if the folder does not exist.
    ///
    /// # Errors
    /// `File` if the storage cannot be read.
    fn names(&self, folder: &str) -> Result<Vec<String>>;

    /// Returns the content of a small file, or `None` if it does not exist.
    ///
    /// # Errors
    /// `File` if the storage cannot be read.
    fn read(&self, name: &str) -> Result<Option<Vec<u8>>>;

    /// Replaces a small file atomically: the file always has either the old or the new content. The new content is durable when the call returns.
    ///
    /// # Errors
    /// `File` if the storage cannot be written.
    fn replace(&self, name: &str, content: &[u8]) -> Result<()>;

    /// Creates a small file unless it already exists. If several commands call this function at the same time, only one of them creates the file.
    ///
    /// # Errors
    /// `Refused` if another command is writing the file. `File` if the storage cannot be written.
    fn begin(&self, name: &str, content: &[u8]) -> Result<()>;

    /// Writes the small file that completes a command's work. If another command can take over the storage's lock, the file is written only if this command
    /// still holds the lock.
    ///
    /// # Errors
    /// `Refused` if another command has taken over the lock. `File` if the storage cannot be written.
    fn commit(&self, name: &str, content: &[u8]) -> Result<()> {
        self.replace(name, content)
    }

    /// Removes a file if it exists.
    ///
    /// # Errors
    /// `File` if the storage cannot be written.
    fn remove(&self, name: &str) -> Result<()>;

    /// Returns the length of a file written by [`append`](Self::append), or `None` if the file does not exist.
    ///
    /// # Errors
    /// `File` if the storage cannot be read.
    fn length(&self, name: &str) -> Result<Option<u64>>;

    /// Opens a file written by [`append`](Self::append), at its beginning.
    ///
    /// # Errors
    /// `File` if the file does not exist or cannot be read.
    fn open(&self, name: &str) -> Result<Box<dyn Read + Send>>;

    /// Opens a file for appending after its first `length` bytes, which must have been synced earlier. All bytes after them are removed by the first sync at
    /// the latest. If `length` is 0, the first sync creates the file if it does not exist.
    ///
    /// # Errors
    /// `Refused` if the file is shorter than `length`. `File` if the storage cannot be written.
    fn append(&self, name: &str, length: u64) -> Result<Box<dyn Append>>;

    /// Prevents other commands from writing to the storage, until `self` is dropped.
    ///
    /// # Errors
    /// `Refused` if another command holds the lock. `File` if the storage cannot be written.
    fn lock(&self) -> Result<()>;

    /// Returns `true` if another command can take over the lock while the command that held it is still running.
    fn can_lose_lock(&self) -> bool {
        false
    }

    /// Renews the lock if it is due for renewal. Commands call this function during long periods without writes.
    ///
    /// # Errors
    /// `Refused` if another command has taken over the lock. `File` if the storage cannot be written.
    fn keep_lock(&self) -> Result<()> {
        Ok(())
    }

    /// Confirms that this command still holds the lock, and makes the names of all files in the given folders durable.
    ///
    /// # Errors
    /// `Refused` if another command has taken over the lock. `File` if the storage cannot be written.
    fn confirm(&self, folders: &[&str]) -> Result<()>;

    /// Returns the path of the folder if its files can be hard-linked, and `None` otherwise.
    fn local(&self) -> Option<&Path>;
}

/// A file that can only be appended to.
pub trait Append: Debug + Send {
    /// Appends bytes.
    ///
    /// # Errors
    /// `File` if the storage cannot be written.
    fn write(&mut self, bytes: &[u8]) -> Result<()>;

    /// Makes all bytes durable.
    ///
    /// # Errors
    /// `File` if the storage cannot be written.
    fn sync(&mut self) -> Result<()>;
}

/// Returns `true` for the URL of an object store, and `false` for the path of a folder.
#[must_use]
pub fn is_url(location: &Path) -> bool {
    location.to_string_lossy().contains("://")
}

/// Returns the storage at a location: a URL such as `s3://bucket/path`, or the path of a folder.
///
/// # Errors
/// `Usage` if neither this build nor the `object_store` crate supports the URL.
pub fn locate(location: &Path) -> Result<Arc<dyn Storage>> {
    if !is_url(location) {
        return Ok(Arc::new(Folder::new(location)));
    }
    at_url(&location.to_string_lossy())
}

#[cfg(feature = "object-store")]
fn at_url(url: &str) -> Result<Arc<dyn Storage>> {
    objects::at(url)
}

#[cfg(not(feature = "object-store"))]
fn at_url(url: &str) -> Result<Arc<dyn Storage>> {
    let help = "install it with `cargo install --path tables-cli --features object-store`";
    Err(Failure::Usage(format!(
        "this program was built without object stores, so it cannot use {url}; {help}"
    )))
}

/// Returns the error for a file that is shorter than its recorded length.
fn too_short(file: impl Display) -> Failure {
    let help = "delete `working.json` of the backup to start it again";
    Failure::Refused(format!("{file} is shorter than recorded; {help}"))
}
