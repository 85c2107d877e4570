//! Resources shared by all runs of a base: the disk, the folder, the block cache and the open files.

use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::base::cache::Cache;
use crate::disk::{Disk, DiskFile, fault};
use crate::statistics::Counters;

/// The maximum number of files that a pool keeps open.
const MOST_OPEN: usize = 256;
/// The minimum capacity of a pool, even if the process's file descriptor limit is very low.
const LEAST_OPEN: usize = 4;
/// The divisor for the process's limit on file descriptors. A pool may use the quotient, and leaves the rest to the program and to other engines.
const SHARE: usize = 4;

/// The resources shared by all runs of a base.
#[derive(Debug)]
pub(super) struct Pool {
    pub(super) disk: Arc<dyn Disk>,
    pub(super) folder: PathBuf,
    pub(super) cache: Cache,
    pub(super) counters: Counters,
    /// The total number of bytes submitted to the disk for runs, and for versions that could not be recorded.
    pub(super) attempted: AtomicU64,
    /// The maximum number of files to keep open, or `None` if unlimited.
    most_open: Option<usize>,
    open: Mutex<Open>,
}

/// Open files, each with the time of its last use.
#[derive(Debug, Default)]
struct Open {
    files: HashMap<u64, (Arc<dyn DiskFile>, u64)>,
    /// The number of uses so far. It serves as a logical clock.
    now: u64,
}

impl Open {
    /// Closes the least recently used half of the files. Files that are being read stay open until the read ends.
    fn close_half(&mut self) {
        let mut uses: Vec<u64> = self.files.values().map(|(_, used)| *used).collect();
        let middle = uses.len() / 2;
        if uses.is_empty() {
            return;
        }
        let middle = *uses.select_nth_unstable(middle).1;
        self.files.retain(|_, (_, used)| *used > middle);
    }
}

/// Returns the maximum number of files that a pool keeps open. It depends on the process's limit on file descriptors.
fn most_open() -> usize {
    #[cfg(unix)]
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    #[cfg(not(unix))]
    let limit: Option<u64> = None;
    let limit = limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
    (limit / SHARE).clamp(LEAST_OPEN, MOST_OPEN)
}

/// Returns the file name of a run.
pub(super) fn name(number: u64) -> String {
    format!("{number:010}{SUFFIX}")
}

/// The suffix of run file names.
const SUFFIX: &str = ".rows";

/// Returns the number in the name of a run file, or `None` for other names.
pub(super) fn number(name: &str) -> Option<u64> {
    let number = name.strip_suffix(SUFFIX)?.parse().ok()?;
    (name == self::name(number)).then_some(number)
}

impl Pool {
    pub(super) fn new(disk: Arc<dyn Disk>, folder: PathBuf, cache_bytes: usize) -> Self {
        Self {
            disk,
            folder,
            cache: Cache::new(cache_bytes),
            counters: Counters::default(),
            attempted: AtomicU64::default(),
            most_open: Some(most_open()),
            open: Mutex::default(),
        }
    }

    /// Removes the limit on open files. The pool then keeps every opened file open.
    pub(super) fn pinning(self) -> Self {
        Self { most_open: None, ..self }
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Closes all files that are not being read. Another part of the process needs their file descriptors.
    pub(super) fn give_files_back(&self) {
        if self.most_open.is_some() {
            self.open().files.clear();
        }
    }

    /// Calls `open`. If no file descriptor is available, closes all idle files and calls it again.
    pub(super) fn with_descriptor<T>(&self, open: impl Fn() -> io::Result<T>) -> io::Result<T> {
        match open() {
            Err(error) if fault::is_exhausted(&error) => {
                self.give_files_back();
                open()
            }
            outcome => outcome,
        }
    }

    /// Creates the empty file of a run.
    pub(super) fn create(&self, number: u64) -> io::Result<Arc<dyn DiskFile>> {
        self.forget(number);
        self.with_descriptor(|| self.disk.open(&self.folder.join(name(number)), true))
    }

    /// Opens the file of an unfinished run for writing.
    pub(super) fn open_to_write(&self, number: u64) -> io::Result<Arc<dyn DiskFile>> {
        self.with_descriptor(|| self.disk.open(&self.folder.join(name(number)), false))
    }

    /// Returns the file of a run, open for reading.
    pub(super) fn file(&self, number: u64) -> io::Result<Arc<dyn DiskFile>> {
        let mut open = self.open();
        open.now += 1;
        let now = open.now;
        if let Some((file, used)) = open.files.get_mut(&number) {
            *used = now;
            return Ok(Arc::clone(file));
        }
        if self.most_open.is_some_and(|most| open.files.len() >= most) {
            open.close_half();
        }
        drop(open);
        // The file is opened without the lock, so other readers are not blocked.
        let file = self.with_descriptor(|| self.disk.open_to_read(&self.folder.join(name(number))))?;
        self.open().files.insert(number, (Arc::clone(&file), now));
        Ok(file)
    }

    /// Closes the file that is open under a run number. Otherwise, reads of a later file with this number would use the old handle.
    fn forget(&self, number: u64) {
        self.open().files.remove(&number);
    }

    /// Removes the file of a run.
    pub(super) fn remove(&self, number: u64) -> io::Result<()> {
        self.forget(number);
        self.disk.remove(&self.folder.join(name(number)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::RealDisk;

    #[test]
    fn a_pool_keeps_few_files_open_and_closes_those_used_longest_ago() {
        let folder = tempfile::tempdir().unwrap();
        let pool = Pool::new(Arc::new(RealDisk), folder.path().to_owned(), 0);
        let pool = Pool { most_open: Some(4), ..pool };
        for number in 0..40 {
            pool.create(number).unwrap();
            pool.file(number).unwrap();
            pool.file(0).unwrap();
            let open = pool.open();
            assert!(open.files.len() <= 5 && open.files.contains_key(&0), "{number}: {open:?}");
        }
        pool.give_files_back();
        assert!(pool.open().files.is_empty());
        pool.file(3).unwrap();
    }
}
