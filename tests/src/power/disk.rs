//! A disk in memory that forgets: it knows, of every file and name, what has been synced and what has not.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rand::SeedableRng;
use rand::rngs::StdRng;
use table_core::embedded::disk::{Disk, DiskFile, DiskLock};

use crate::power::image;

/// What the disk does wrong, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The power fails at the n-th sync from now, counted from 1, before it has done anything: every later call fails.
    PowerAtSync(u64),
    /// The n-th sync from now, counted from 1, fails; what it was to make durable may be lost. The disk goes on.
    SyncFails(u64),
    /// So many bytes can still be written, then the disk is full.
    FullAfter(u64),
}

/// A disk in memory. Clones are the same disk.
#[derive(Clone, Debug, Default)]
pub struct SimulatedDisk {
    state: Arc<Mutex<State>>,
}

/// Everything on the disk.
#[derive(Debug, Default)]
pub(super) struct State {
    /// Every file that was ever created, by number.
    pub(super) files: Vec<FileState>,
    /// The names as programs see them.
    pub(super) names: BTreeMap<PathBuf, usize>,
    /// The names that survive whatever happens.
    pub(super) durable_names: BTreeMap<PathBuf, usize>,
    /// Changes of names since, in order.
    pub(super) pending_names: Vec<NameChange>,
    fault: Option<Fault>,
    lost: bool,
    syncs: u64,
    locked: Vec<PathBuf>,
}

/// One file: what programs see, what survives, and the writes between the two.
#[derive(Clone, Debug, Default)]
pub(super) struct FileState {
    pub(super) current: Vec<u8>,
    pub(super) durable: Vec<u8>,
    pub(super) pending: Vec<Change>,
}

/// A change of a file that has not been synced.
#[derive(Clone, Debug)]
pub(super) enum Change {
    Write { offset: usize, bytes: Vec<u8> },
    SetLength(usize),
}

/// A change of a folder that has not been synced.
#[derive(Clone, Debug)]
pub(super) enum NameChange {
    Set(PathBuf, usize),
    Remove(PathBuf),
}

impl NameChange {
    fn folder(&self) -> Option<&Path> {
        match self {
            Self::Set(path, _) | Self::Remove(path) => path.parent(),
        }
    }

    pub(super) fn apply(&self, names: &mut BTreeMap<PathBuf, usize>) {
        match self {
            Self::Set(path, file) => drop(names.insert(path.clone(), *file)),
            Self::Remove(path) => drop(names.remove(path)),
        }
    }
}

impl SimulatedDisk {
    /// An empty disk that works.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Arms a fault, or disarms.
    pub fn set_fault(&self, fault: Option<Fault>) {
        self.state().fault = fault;
    }

    /// How many syncs have been asked for.
    #[must_use]
    pub fn syncs(&self) -> u64 {
        self.state().syncs
    }

    /// Whether the power has failed.
    #[must_use]
    pub fn has_lost_power(&self) -> bool {
        self.state().lost
    }

    /// A disk as it may be found when the power is back: of what was not synced, each sector holds any of the versions it
    /// went through, or a torn one.
    #[must_use]
    pub fn after_power_loss(&self, seed: u64) -> Self {
        let mut random = StdRng::seed_from_u64(seed);
        let state = image::after_power_loss(&self.state(), &mut random);
        Self { state: Arc::new(Mutex::new(state)) }
    }
}

impl State {
    /// A state in which everything present is durable.
    pub(super) fn settled(files: Vec<Vec<u8>>, names: BTreeMap<PathBuf, usize>) -> Self {
        let files = files
            .into_iter()
            .map(|bytes| FileState { current: bytes.clone(), durable: bytes, pending: Vec::new() })
            .collect();
        Self { files, durable_names: names.clone(), names, ..Self::default() }
    }

    fn powered(&self) -> io::Result<()> {
        if self.lost { Err(io::Error::other("the power is off")) } else { Ok(()) }
    }

    fn file(&mut self, number: usize) -> io::Result<&mut FileState> {
        self.powered()?;
        self.files.get_mut(number).ok_or_else(|| ErrorKind::NotFound.into())
    }

    fn rename_pending(&mut self, change: NameChange) {
        change.apply(&mut self.names);
        self.pending_names.push(change);
    }

    /// Counts a sync and says what becomes of it: `Ok(false)` is one that fails and forgets.
    fn sync(&mut self) -> io::Result<bool> {
        self.powered()?;
        self.syncs += 1;
        match &mut self.fault {
            Some(Fault::PowerAtSync(left)) => {
                *left -= 1;
                self.lost = *left == 0;
                self.powered()?;
                Ok(true)
            }
            Some(Fault::SyncFails(left)) => {
                *left = left.saturating_sub(1);
                let fails = *left == 0;
                if fails {
                    self.fault = None;
                }
                Ok(!fails)
            }
            _ => Ok(true),
        }
    }

    fn spend(&mut self, bytes: usize) -> io::Result<()> {
        if let Some(Fault::FullAfter(left)) = &mut self.fault {
            let bytes = bytes as u64;
            if *left < bytes {
                return Err(ErrorKind::StorageFull.into());
            }
            *left -= bytes;
        }
        Ok(())
    }
}

impl Disk for SimulatedDisk {
    fn create_dir(&self, _folder: &Path) -> io::Result<()> {
        self.state().powered()
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<String>> {
        let state = self.state();
        state.powered()?;
        let inside = state.names.keys().filter(|path| path.parent() == Some(folder));
        Ok(inside.filter_map(|path| path.file_name()?.to_str().map(str::to_owned)).collect())
    }

    fn open(&self, path: &Path, create: bool) -> io::Result<Arc<dyn DiskFile>> {
        let mut state = self.state();
        state.powered()?;
        let number = match (state.names.get(path).copied(), create) {
            (Some(number), false) => number,
            (None, false) => return Err(ErrorKind::NotFound.into()),
            (Some(number), true) => {
                let file = state.file(number)?;
                file.current.clear();
                file.pending.push(Change::SetLength(0));
                number
            }
            (None, true) => {
                state.files.push(FileState::default());
                let number = state.files.len() - 1;
                state.rename_pending(NameChange::Set(path.to_owned(), number));
                number
            }
        };
        Ok(Arc::new(SimulatedFile { disk: self.clone(), number }))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut state = self.state();
        state.powered()?;
        let number = state.names.get(from).copied().ok_or(ErrorKind::NotFound)?;
        state.rename_pending(NameChange::Set(to.to_owned(), number));
        state.rename_pending(NameChange::Remove(from.to_owned()));
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let mut state = self.state();
        state.powered()?;
        if !state.names.contains_key(path) {
            return Err(ErrorKind::NotFound.into());
        }
        state.rename_pending(NameChange::Remove(path.to_owned()));
        Ok(())
    }

    fn sync_dir(&self, folder: &Path) -> io::Result<()> {
        let mut state = self.state();
        if !state.sync()? {
            return Err(io::Error::other("the sync of the folder failed"));
        }
        let pending = std::mem::take(&mut state.pending_names);
        let (done, left): (Vec<_>, Vec<_>) =
            pending.into_iter().partition(|change| change.folder() == Some(folder));
        for change in done {
            change.apply(&mut state.durable_names);
        }
        state.pending_names = left;
        Ok(())
    }

    fn lock(&self, path: &Path) -> io::Result<Box<dyn DiskLock>> {
        let mut state = self.state();
        state.powered()?;
        if state.locked.iter().any(|locked| locked == path) {
            return Err(ErrorKind::WouldBlock.into());
        }
        state.locked.push(path.to_owned());
        Ok(Box::new(SimulatedLock { disk: self.clone(), path: path.to_owned() }))
    }
}

#[derive(Debug)]
struct SimulatedLock {
    disk: SimulatedDisk,
    path: PathBuf,
}

impl DiskLock for SimulatedLock {}

impl Drop for SimulatedLock {
    fn drop(&mut self) {
        self.disk.state().locked.retain(|locked| *locked != self.path);
    }
}

#[derive(Debug)]
struct SimulatedFile {
    disk: SimulatedDisk,
    number: usize,
}

fn place(number: u64) -> io::Result<usize> {
    usize::try_from(number).map_err(|_| ErrorKind::InvalidInput.into())
}

impl DiskFile for SimulatedFile {
    fn len(&self) -> io::Result<u64> {
        Ok(self.disk.state().file(self.number)?.current.len() as u64)
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        let mut state = self.disk.state();
        let (file, start) = (state.file(self.number)?, place(offset)?);
        let bytes = file.current.get(start..start + buffer.len()).ok_or(ErrorKind::UnexpectedEof)?;
        buffer.copy_from_slice(bytes);
        Ok(())
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let mut state = self.disk.state();
        state.powered()?;
        state.spend(bytes.len())?;
        let (file, start) = (state.file(self.number)?, place(offset)?);
        let end = start + bytes.len();
        if file.current.len() < end {
            file.current.resize(end, 0);
        }
        if let Some(target) = file.current.get_mut(start..end) {
            target.copy_from_slice(bytes);
        }
        file.pending.push(Change::Write { offset: start, bytes: bytes.to_vec() });
        Ok(())
    }

    fn set_len(&self, bytes: u64) -> io::Result<()> {
        let mut state = self.disk.state();
        let (file, length) = (state.file(self.number)?, place(bytes)?);
        file.current.resize(length, 0);
        file.pending.push(Change::SetLength(length));
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        let mut state = self.disk.state();
        let done = state.sync()?;
        let file = state.file(self.number)?;
        if !done {
            // As on a real system: the pages count as clean afterwards, and whether they were written nobody knows.
            file.pending.clear();
            return Err(io::Error::other("the sync failed"));
        }
        file.durable.clone_from(&file.current);
        file.pending.clear();
        Ok(())
    }
}
