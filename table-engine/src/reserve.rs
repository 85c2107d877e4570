//! The reserve: disk space kept for operations that free space (`docs/format.md`, "Folder").
//!
//! Deletions, checkpoints and merges need some disk space before they can free more. On a full disk, an engine without a reserve could therefore never free
//! space. The reserve is a file of zeros. Writes that add data are refused while the reserve is incomplete.
//!
//! The file is replaced each time the folder is opened, because its length does not prove that disk space is allocated for it. A copied folder may contain a
//! sparse file, or a file that shares its space with the original.

use std::collections::VecDeque;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use crate::disk::{Disk, DiskFile, fault};
use crate::event::event;
use crate::threads::Threads;

/// The name of the reserve's file.
pub(crate) const RESERVE: &str = "RESERVE";
/// The maximum checkpoint threshold while the reserve is incomplete, in bytes.
pub(crate) const SMALL_CHECKPOINT: usize = 256 << 10;
/// The minimum size of the reserve. It is enough for a journal file, a version of a small base, and the runs of a small checkpoint.
const LEAST: u64 = 8 * SMALL_CHECKPOINT as u64;
/// The part of [`LEAST`] for versions of the base.
const SMALL_BASE: u64 = 256 << 10;

/// The maximum time that an operation waits for another one to return the reserve.
const LONGEST_LOAN: Duration = Duration::from_secs(10);

/// The reserve of a folder, shared by the committer and the checkpoint thread.
#[derive(Debug)]
pub(crate) struct Reserve {
    disk: Arc<dyn Disk>,
    threads: Threads,
    path: PathBuf,
    /// The reserve file. If the file could not be created, the cell is empty, and the folder has no reserve.
    file: OnceLock<Arc<dyn DiskFile>>,
    /// The upper limit on the space that is reserved for the journal. A checkpoint of the largest memtable fits into this space.
    most: u64,
    room: Mutex<Room>,
}

/// The current and the required size of the reserve, in bytes.
#[derive(Debug, Default)]
struct Room {
    held: u64,
    /// The size that a checkpoint of the journal needs.
    journal: u64,
    /// The size that a version of the base needs, in addition to the space for a small one.
    base: u64,
    /// `true` while a [`Loan`] exists.
    is_lent: bool,
    /// The last ticket number given to an operation that is queued for the reserve.
    turns: u64,
    /// The ticket numbers of the operations queued for the reserve, in arrival order.
    waiting: VecDeque<u64>,
}

impl Room {
    const fn wanted(&self) -> u64 {
        self.journal.saturating_add(self.base)
    }
}

/// A loan of the reserve's space to an operation that frees more space than it needs. While the loan exists, the reserve is empty.
#[derive(Debug)]
pub(crate) struct Loan {
    reserve: Arc<Reserve>,
}

impl Drop for Loan {
    fn drop(&mut self) {
        self.reserve.room().is_lent = false;
    }
}

impl Reserve {
    /// Replaces a folder's reserve with an empty file, which frees its space. [`restore`](Self::restore) then reserves enough for a checkpoint of a journal
    /// with `journal` bytes.
    ///
    /// `memtable_bytes` is the maximum size of a memtable. After an open, the memtable may be larger, because it contains the rows of the journal.
    pub(crate) fn replace(
        (disk, threads): (&Arc<dyn Disk>, &Threads),
        folder: &Path,
        memtable_bytes: usize,
        journal: u64,
    ) -> Arc<Self> {
        let reserve = Self {
            disk: Arc::clone(disk),
            threads: threads.clone(),
            path: folder.join(RESERVE),
            file: OnceLock::new(),
            most: journal.max(memtable_bytes as u64).saturating_add(LEAST),
            room: Mutex::default(),
        };
        reserve.room().journal = reserve.size_for(journal);
        reserve.create();
        Arc::new(reserve)
    }

    /// Creates the file if it could not be created earlier. Only one thread calls this function.
    pub(crate) fn create(&self) {
        if self.file.get().is_none()
            && let Ok(file) = self.disk.open(&self.path, true)
        {
            let _ = self.file.set(file);
        }
    }

    fn room(&self) -> MutexGuard<'_, Room> {
        self.room.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns `true` if the reserve has its full size, or if the folder has no reserve.
    pub(crate) fn is_whole(&self) -> bool {
        let room = self.room();
        self.file.get().is_none() || room.held >= room.wanted()
    }

    /// Raises the required size, if necessary, so that it is enough for a checkpoint of a journal with `journal` bytes. The reserve is incomplete until
    /// [`restore`](Self::restore) has reserved the additional space.
    pub(crate) fn raise_for(&self, journal: u64) {
        let size = self.size_for(journal);
        let mut room = self.room();
        room.journal = room.journal.max(size);
    }

    /// Sets the length of the `BASE` file, in bytes. The reserve is incomplete until [`restore`](Self::restore) has reserved the additional space.
    ///
    /// The required size depends on this length. When `BASE` is replaced, the new file may be longer, and it needs space while the old file still exists.
    pub(crate) fn set_base(&self, length: u64) {
        self.room().base = length.saturating_mul(2).saturating_sub(SMALL_BASE).next_multiple_of(SMALL_BASE);
    }

    /// Frees the part of the reserve that a checkpoint of a journal with `journal` bytes does not need.
    ///
    /// # Errors
    /// The I/O error if the file cannot be truncated.
    pub(crate) fn shrink_for(&self, journal: u64) -> io::Result<()> {
        let mut room = self.room();
        room.journal = room.journal.min(self.size_for(journal));
        if let Some(file) = self.file.get()
            && room.held > room.wanted()
        {
            file.set_len(room.wanted())?;
            room.held = room.wanted();
        }
        Ok(())
    }

    /// Returns the size that a checkpoint of a journal with `journal` bytes needs.
    fn size_for(&self, journal: u64) -> u64 {
        journal.saturating_add(LEAST).min(self.most)
    }

    /// Lends the reserved space to an operation that frees more than it needs. No space is reserved until the loan is dropped. If the space is already lent,
    /// the function first waits until it has been returned. Waiting operations are served in arrival order.
    ///
    /// Returns `None` if the folder has no reserve, if its file cannot be truncated, or if an earlier loan is not returned within [`LONGEST_LOAN`].
    pub(crate) fn lend(self: &Arc<Self>) -> Option<Loan> {
        let bytes = self.in_turn(|room| {
            self.file.get()?.set_len(0).ok()?;
            room.is_lent = true;
            Some(std::mem::take(&mut room.held))
        })??;
        let loan = Loan { reserve: Arc::clone(self) };
        // A log subscriber is application code, so it must not be called while the lock is held.
        if bytes > 0 {
            event!(warn, bytes, "the disk is full; operations that free space use the reserve");
        }
        Some(loan)
    }

    /// Runs an operation on the reserve. It first waits until the reserve is not lent and all operations queued earlier have finished. Returns `None` if that
    /// takes longer than [`LONGEST_LOAN`].
    fn in_turn<T>(&self, operation: impl FnOnce(&mut Room) -> T) -> Option<T> {
        let turn = {
            let mut room = self.room();
            room.turns += 1;
            let turn = room.turns;
            room.waiting.push_back(turn);
            turn
        };
        let until = self.threads.now() + LONGEST_LOAN;
        loop {
            let mut room = self.room();
            let is_over = self.threads.now() >= until;
            let is_next = !room.is_lent && room.waiting.front() == Some(&turn);
            if is_next || is_over {
                room.waiting.retain(|waiting| *waiting != turn);
                return is_next.then(|| operation(&mut room));
            }
            drop(room);
            self.threads.sleep(Duration::from_millis(1));
        }
    }

    /// Returns `true` if the reserve and the free disk space together have at least `bytes` bytes, or if that cannot be determined. Returns `false` while the
    /// reserve is lent.
    ///
    /// To measure the free space, the function temporarily allocates the missing bytes. On most file systems, this writes no data.
    pub(crate) fn covers(&self, bytes: u64) -> bool {
        let room = self.room();
        let Some(file) = self.file.get() else { return true };
        if room.is_lent || room.held >= bytes {
            return !room.is_lent;
        }
        let found = file.allocate(room.held, bytes - room.held);
        let _ = file.set_len(room.held);
        !found.is_err_and(|error| fault::is_full(&error))
    }

    /// Reserves the missing space.
    ///
    /// # Errors
    /// - `StorageFull` while the reserve is lent.
    /// - The disk's error if the disk is full.
    pub(crate) fn restore(&self) -> io::Result<()> {
        self.restore_in(&mut self.room())
    }

    /// Reserves the missing space. If the reserve is lent, the function first waits, like [`lend`](Self::lend).
    ///
    /// # Errors
    /// - `StorageFull` if the borrower does not return the reserve in time.
    /// - The disk's error if the disk is full.
    pub(crate) fn restore_in_turn(&self) -> io::Result<()> {
        if self.is_whole() {
            return Ok(());
        }
        self.in_turn(|room| self.restore_in(room)).unwrap_or_else(|| Err(ErrorKind::StorageFull.into()))
    }

    fn restore_in(&self, room: &mut Room) -> io::Result<()> {
        let Some(file) = self.file.get().filter(|_| room.held < room.wanted()) else { return Ok(()) };
        // IMPORTANT: lent space must not be reserved again, because the borrower may not have used all of it yet.
        if room.is_lent {
            return Err(ErrorKind::StorageFull.into());
        }
        match file.allocate(room.held, room.wanted() - room.held) {
            Ok(()) => room.held = room.wanted(),
            Err(error) => {
                // Undoes a partial extension of the file.
                let _ = file.set_len(room.held);
                if fault::is_full(&error) {
                    return Err(error);
                }
                // A file that cannot be written is useless as a reserve, so writes proceed without one.
                (room.journal, room.base) = (room.held, 0);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};

    use super::*;
    use crate::disk::RealDisk;

    fn replace(folder: &Path, journal: u64) -> Arc<Reserve> {
        let disk: Arc<dyn Disk> = Arc::new(RealDisk);
        Reserve::replace((&disk, &Threads::default()), folder, 8 << 20, journal)
    }

    #[test]
    fn a_reserve_grows_and_shrinks_with_the_journal_and_is_lent_and_restored() {
        let folder = tempfile::tempdir().unwrap();
        let length = || fs::metadata(folder.path().join(RESERVE)).unwrap().len();
        let reserve = replace(folder.path(), 0);
        assert!(!reserve.is_whole());
        reserve.restore().unwrap();
        assert_eq!((length(), reserve.is_whole()), (LEAST, true));
        reserve.raise_for(3 << 20);
        assert_eq!((length(), reserve.is_whole()), (LEAST, false));
        reserve.restore().unwrap();
        assert_eq!((length(), reserve.is_whole()), (LEAST + (3 << 20), true));
        reserve.raise_for(100 << 20);
        reserve.restore().unwrap();
        assert_eq!(length(), LEAST + (8 << 20), "at most");
        let loan = reserve.lend().unwrap();
        assert!(!reserve.is_whole());
        assert_eq!(reserve.restore().unwrap_err().kind(), ErrorKind::StorageFull);
        assert_eq!(length(), 0);
        drop(loan);
        reserve.restore().unwrap();
        assert_eq!((length(), reserve.is_whole()), (LEAST + (8 << 20), true));
        reserve.shrink_for(1 << 20).unwrap();
        assert_eq!((length(), reserve.is_whole()), (LEAST + (1 << 20), true));
        reserve.shrink_for(2 << 20).unwrap();
        assert_eq!(length(), LEAST + (1 << 20), "it does not grow");
        let reserve = replace(folder.path(), 2 << 20);
        assert_eq!((length(), reserve.is_whole()), (0, false));
        let loan = reserve.lend().unwrap();
        assert_eq!(
            reserve.restore().unwrap_err().kind(),
            ErrorKind::StorageFull,
            "free space is left to the borrower"
        );
        drop(loan);
        reserve.restore().unwrap();
        assert_eq!((length(), reserve.is_whole()), (LEAST + (2 << 20), true));
    }

    #[test]
    fn operations_wait_for_a_lent_reserve_in_the_order_of_their_arrival() {
        let folder = tempfile::tempdir().unwrap();
        let reserve = replace(folder.path(), 0);
        reserve.restore().unwrap();
        let loan = reserve.lend().unwrap();
        let waits = |count| while reserve.room().waiting.len() < count {};
        std::thread::scope(|scope| {
            let restored = scope.spawn(|| reserve.restore_in_turn().map(|()| reserve.is_whole()));
            waits(1);
            let lent = scope.spawn(|| reserve.lend().map(|_loan| reserve.room().held));
            waits(2);
            drop(loan);
            assert!(restored.join().unwrap().is_ok());
            assert_eq!(lent.join().unwrap(), Some(0));
        });
        assert!(reserve.room().waiting.is_empty());
    }

    #[test]
    fn a_reserve_has_space_for_two_files_of_a_large_base() {
        let folder = tempfile::tempdir().unwrap();
        let length = || fs::metadata(folder.path().join(RESERVE)).unwrap().len();
        let reserve = replace(folder.path(), 1 << 20);
        for (base, more) in [(0, 0), (128 << 10, 0), (3 << 20, 23 << 18), (2 << 20, 15 << 18)] {
            reserve.set_base(base);
            reserve.restore().unwrap();
            reserve.shrink_for(1 << 20).unwrap();
            assert_eq!((length(), reserve.is_whole()), (LEAST + (1 << 20) + more, true), "{base}");
        }
        reserve.set_base(4 << 20);
        assert!(!reserve.is_whole());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_sparse_copy_of_a_reserve_is_replaced_by_a_file_with_blocks() {
        use std::os::unix::fs::MetadataExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(RESERVE);
        File::create(&path).unwrap().set_len(LEAST).unwrap();
        let reserve = replace(folder.path(), 0);
        reserve.restore().unwrap();
        let found = fs::metadata(&path).unwrap();
        assert!(found.blocks() * 512 >= LEAST, "{} blocks for {} bytes", found.blocks(), found.len());
        assert!(reserve.lend().is_some());
    }

    #[test]
    fn a_reserve_with_another_hard_link_is_not_shared() {
        let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        replace(folder.path(), 0).restore().unwrap();
        let linked = other.path().join(RESERVE);
        fs::hard_link(folder.path().join(RESERVE), &linked).unwrap();
        let reserve = replace(folder.path(), 0);
        reserve.restore().unwrap();
        assert!(reserve.lend().is_some());
        assert_eq!(fs::metadata(&linked).unwrap().len(), LEAST);
    }

    #[test]
    fn a_reserve_that_could_not_be_created_is_created_later() {
        let folder = tempfile::tempdir().unwrap();
        let missing = folder.path().join("missing");
        let reserve = replace(&missing, 0);
        reserve.restore().unwrap();
        assert!(reserve.is_whole() && reserve.lend().is_none());
        fs::create_dir(&missing).unwrap();
        reserve.create();
        assert!(!reserve.is_whole());
        reserve.restore().unwrap();
        assert!(reserve.is_whole() && reserve.lend().is_some());
    }
}
