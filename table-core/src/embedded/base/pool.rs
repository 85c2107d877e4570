//! Resources shared by all runs of a base: the disk, the folder, the block cache and the open files.

use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use crate::embedded::base::cache::Cache;
use crate::embedded::disk::{Disk, DiskFile};
use crate::embedded::statistics::Counters;

/// Files that are open at once, at most: systems allow a process about a thousand.
const OPEN: usize = 256;

/// Shared by all runs of a base.
#[derive(Debug)]
pub(super) struct Pool {
    pub(super) disk: Arc<dyn Disk>,
    pub(super) folder: PathBuf,
    pub(super) cache: Cache,
    pub(super) counters: Counters,
    /// How many files are open at once, at most.
    most_open: usize,
    open: Mutex<Open>,
}

#[derive(Debug, Default)]
struct Open {
    files: HashMap<u64, (Arc<dyn DiskFile>, u64)>,
    /// Counts uses.
    now: u64,
}

/// The name of the file of a run.
pub(super) fn name(number: u64) -> String {
    format!("{number:010}{SUFFIX}")
}

/// How names of runs end.
const SUFFIX: &str = ".rows";

/// The number in the name of a run; `None` for other names.
pub(super) fn number(name: &str) -> Option<u64> {
    name.strip_suffix(SUFFIX)?.parse().ok()
}

impl Pool {
    pub(super) fn new(disk: Arc<dyn Disk>, folder: PathBuf, cache_bytes: usize) -> Self {
        Self {
            disk,
            folder,
            cache: Cache::new(cache_bytes),
            counters: Counters::default(),
            most_open: OPEN,
            open: Mutex::default(),
        }
    }

    /// Keeps every file open that it was asked for.
    pub(super) fn pinning(self) -> Self {
        Self { most_open: usize::MAX, ..self }
    }

    /// Makes the empty file of a run.
    pub(super) fn create(&self, number: u64) -> io::Result<Arc<dyn DiskFile>> {
        self.forget(number);
        self.disk.open(&self.folder.join(name(number)), true)
    }

    /// The file of a run that is being made, open for writing.
    pub(super) fn open_to_write(&self, number: u64) -> io::Result<Arc<dyn DiskFile>> {
        self.disk.open(&self.folder.join(name(number)), false)
    }

    /// The file of a run, open.
    pub(super) fn file(&self, number: u64) -> io::Result<Arc<dyn DiskFile>> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.now += 1;
        let now = open.now;
        if let Some((file, used)) = open.files.get_mut(&number) {
            *used = now;
            return Ok(Arc::clone(file));
        }
        let file = self.disk.open_to_read(&self.folder.join(name(number)))?;
        if open.files.len() >= self.most_open {
            // Those that were used longest ago, half of all.
            let mut uses: Vec<u64> = open.files.values().map(|(_, used)| *used).collect();
            let (_, middle, _) = uses.select_nth_unstable(OPEN / 2);
            let middle = *middle;
            open.files.retain(|_, (_, used)| *used > middle);
        }
        open.files.insert(number, (Arc::clone(&file), now));
        Ok(file)
    }

    /// Closes the file of a run: there will be another one of the same number, or none.
    fn forget(&self, number: u64) {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).files.remove(&number);
    }

    /// Removes the file of a run.
    pub(super) fn remove(&self, number: u64) -> io::Result<()> {
        self.forget(number);
        self.disk.remove(&self.folder.join(name(number)))
    }
}
