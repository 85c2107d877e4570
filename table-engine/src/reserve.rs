//! The reserve: disk space that only operations that free space may use (`docs/format.md`, "Folder").
//!
//! Deletions, checkpoints and merges need space before they free more. Without a reserve, the engine could never free space on a full disk. A file of
//! zeros holds the space. Writes that add data are refused while the reserve is incomplete.

use std::io::{self, ErrorKind};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::disk::{Disk, DiskFile, fault};

/// The name of the file.
pub(crate) const RESERVE: &str = "RESERVE";
/// The minimum size of the reserve: enough for a journal file, a version of a small base, and the runs of a few rows.
const LEAST: u64 = 2 << 20;

/// The reserve of a folder, shared by the committer and the checkpoint thread.
#[derive(Debug)]
pub(crate) struct Reserve {
    /// The reserve file; `None` if the file cannot be opened, in which case the folder has no reserve.
    file: Option<Arc<dyn DiskFile>>,
    /// The maximum size: enough for a checkpoint and for a slice of a merge.
    most: u64,
    room: Mutex<Room>,
}

/// Sizes in bytes.
#[derive(Debug, Default)]
struct Room {
    held: u64,
    wanted: u64,
}

impl Reserve {
    /// Opens the reserve of a folder. Its size is that of the existing file, clamped to the bounds.
    pub(crate) fn open(disk: &dyn Disk, folder: &Path, checkpoint_bytes: usize) -> Arc<Self> {
        let path = folder.join(RESERVE);
        let file = match disk.open(&path, false) {
            Err(error) if error.kind() == ErrorKind::NotFound => disk.open(&path, true),
            file => file,
        };
        let file = file.ok();
        let held = file.as_ref().and_then(|file| file.len().ok()).unwrap_or_default();
        let most = (checkpoint_bytes as u64).saturating_mul(2).saturating_add(LEAST);
        let wanted = if file.is_some() { held.clamp(LEAST, most) } else { 0 };
        Arc::new(Self { file, most, room: Mutex::new(Room { held, wanted }) })
    }

    fn room(&self) -> MutexGuard<'_, Room> {
        self.room.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns `true` if no reserved space is lent.
    pub(crate) fn is_whole(&self) -> bool {
        let room = self.room();
        room.held >= room.wanted
    }

    /// Makes the reserve large enough for a checkpoint of a journal of `journal` bytes.
    ///
    /// # Errors
    /// The error for a full disk, if the reserve cannot grow.
    pub(crate) fn keep_for(&self, journal: u64) -> io::Result<()> {
        if self.file.is_some() {
            let mut room = self.room();
            room.wanted = room.wanted.max(self.size_for(journal));
        }
        self.restore()
    }

    /// Frees the part of the reserve that a checkpoint of `journal` bytes does not need.
    ///
    /// # Errors
    /// Any error from the file.
    pub(crate) fn shrink_for(&self, journal: u64) -> io::Result<()> {
        let mut room = self.room();
        let Some(file) = &self.file else { return Ok(()) };
        room.wanted = room.wanted.min(self.size_for(journal));
        if room.held > room.wanted {
            file.set_len(room.wanted)?;
            room.held = room.wanted;
        }
        Ok(())
    }

    /// Returns the size that a checkpoint of `journal` bytes needs.
    fn size_for(&self, journal: u64) -> u64 {
        journal.saturating_add(LEAST).min(self.most)
    }

    /// Releases the reserved space for an operation that frees more. Returns `false` if the reserve is empty.
    pub(crate) fn lend(&self) -> bool {
        let mut room = self.room();
        let Some(file) = self.file.as_ref().filter(|_| room.held > 0) else { return false };
        if file.set_len(0).is_err() {
            return false;
        }
        room.held = 0;
        tracing::warn!(target: "table_core::engine", "the disk is full; operations that free space use the reserve");
        true
    }

    /// Reserves the lent space again.
    ///
    /// # Errors
    /// The error of a full disk, if the space cannot be reserved.
    pub(crate) fn restore(&self) -> io::Result<()> {
        let mut room = self.room();
        let Some(file) = self.file.as_ref().filter(|_| room.held < room.wanted) else { return Ok(()) };
        match file.allocate(room.held, room.wanted - room.held) {
            Ok(()) => room.held = room.wanted,
            Err(error) => {
                // Undoes a partial extension of the file.
                let _ = file.set_len(room.held);
                if fault::is_full(&error) {
                    return Err(error);
                }
                // A file that cannot be written cannot serve as a reserve. Writes then proceed without one.
                room.wanted = room.held;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::RealDisk;

    #[test]
    fn a_reserve_grows_and_shrinks_with_the_journal_is_lent_restored_and_persistent() {
        let folder = tempfile::tempdir().unwrap();
        let length = || std::fs::metadata(folder.path().join(RESERVE)).unwrap().len();
        let open = || Reserve::open(&RealDisk, folder.path(), 4 << 20);
        let reserve = open();
        assert!(!reserve.is_whole());
        reserve.restore().unwrap();
        assert_eq!((length(), reserve.is_whole()), (LEAST, true));
        reserve.keep_for(3 << 20).unwrap();
        assert_eq!(length(), LEAST + (3 << 20));
        reserve.keep_for(100 << 20).unwrap();
        assert_eq!(length(), LEAST + (8 << 20), "at most");
        assert!(reserve.lend() && !reserve.lend() && !reserve.is_whole());
        assert_eq!(length(), 0);
        reserve.restore().unwrap();
        let reserve = open();
        assert!(reserve.is_whole());
        assert_eq!(length(), LEAST + (8 << 20));
        reserve.shrink_for(1 << 20).unwrap();
        assert_eq!((length(), reserve.is_whole()), (LEAST + (1 << 20), true));
        reserve.shrink_for(2 << 20).unwrap();
        assert_eq!(length(), LEAST + (1 << 20), "it does not grow");
    }
}
