//! An in-memory disk. It knows which parts of every file and folder have been synced.

mod call;
mod content;
mod entries;
mod faults;
mod file;
mod outside;

use std::io::{self, ErrorKind};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rand::SeedableRng;
use rand::rngs::StdRng;
use table_core::embedded::testing::{Disk, DiskFile, DiskLock};

pub use call::Call;
use call::Watcher;
pub(super) use content::Content;
pub(super) use entries::Survive;
use entries::{Entries, Entry, NameChange};
pub use faults::Fault;
use faults::{Fate, Faults};
use file::SimulatedFile;
pub(super) use file::{Change, FileState};

use crate::power::image;

/// An in-memory disk. All clones share the same content.
#[derive(Clone, Debug, Default)]
pub struct SimulatedDisk {
    state: Arc<Mutex<State>>,
    watcher: Option<Watcher>,
}

/// The disk's content, locks and faults.
#[derive(Debug, Default)]
pub(super) struct State {
    /// All files that have ever been created. A file's number is its index in this list.
    pub(super) files: Vec<FileState>,
    pub(super) entries: Entries,
    faults: Faults,
    /// The numbers of the locked files.
    locked: Vec<usize>,
}

impl SimulatedDisk {
    /// Creates an empty disk without faults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns a handle to the same disk that invokes a callback before every call.
    #[must_use]
    pub fn watched(&self, watcher: impl Fn(&Call) + Send + Sync + 'static) -> Self {
        Self { state: Arc::clone(&self.state), watcher: Some(Watcher(Arc::new(watcher))) }
    }

    /// Creates an empty disk on which a folder is the root of a volume.
    #[must_use]
    pub fn with_volume(folder: &Path) -> Self {
        let disk = Self::new();
        for folder in folder.ancestors().chain([&*folder.join("lost+found")]) {
            disk.state().entries.put(folder, Entry::Folder);
        }
        disk
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reports a call to the watcher, counts the call, and returns its outcome.
    fn call(&self, call: &Call) -> io::Result<(MutexGuard<'_, State>, Fate)> {
        if let Some(Watcher(watch)) = &self.watcher {
            watch(call);
        }
        self.call_quietly(call)
    }

    /// Counts a call without reporting it to the watcher, and returns its outcome.
    fn call_quietly(&self, call: &Call) -> io::Result<(MutexGuard<'_, State>, Fate)> {
        let mut state = self.state();
        let fate = state.faults.count(call)?;
        Ok((state, fate))
    }

    /// Sets or clears the disk's next fault.
    pub fn set_fault(&self, fault: Option<Fault>) {
        self.state().faults.set(fault);
    }

    /// If the disk has limited space, increases its free space if necessary. Together with the `held` bytes of existing files, it is then at least `needed`.
    pub fn give_room_beyond(&self, held: u64, needed: u64) {
        self.state().faults.give_room_beyond(held, needed);
    }

    /// Returns `true` if the most recently set fault has occurred.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        self.state().faults.has_failed()
    }

    /// Returns the number of syncs requested so far.
    #[must_use]
    pub fn syncs(&self) -> u64 {
        self.state().faults.syncs
    }

    /// Returns the number of calls that changed or synced something.
    #[must_use]
    pub fn changes(&self) -> u64 {
        self.state().faults.changes
    }

    /// Cuts the power immediately.
    pub fn cut_power(&self) {
        self.state().faults.lost = true;
    }

    /// Returns `true` if the power has failed.
    #[must_use]
    pub fn has_lost_power(&self) -> bool {
        self.state().faults.lost
    }

    /// Returns a possible state of the disk after the power loss. Each unsynced sector contains one of its versions, or is torn. Each folder entry is the old
    /// or the new one.
    #[must_use]
    pub fn after_power_loss(&self, seed: u64) -> Self {
        let mut random = StdRng::seed_from_u64(seed);
        let state = image::after_power_loss(&self.state(), &mut random);
        Self { state: Arc::new(Mutex::new(state)), watcher: None }
    }

    /// Returns the disk after the process has been killed without a power loss. All changes are present.
    #[must_use]
    pub fn after_kill(&self) -> Self {
        let state = State::as_seen(&self.state());
        Self { state: Arc::new(Mutex::new(state)), watcher: None }
    }
}

impl State {
    /// Returns a state in which all of the given data is durable.
    pub(super) fn settled(files: Vec<(Content, Option<usize>)>, entries: Entries) -> Self {
        let files =
            files.into_iter().map(|(bytes, unreadable)| FileState::settled(bytes, unreadable)).collect();
        Self { files, entries, ..Self::default() }
    }

    /// Returns a state with the data that is visible in `other`. If data is not durable in `other`, it is not durable in the result.
    fn as_seen(other: &Self) -> Self {
        let named = other.entries.numbers();
        // After the end of the process, no file is open. A file without a name is therefore lost.
        let file = |(number, file): (usize, &FileState)| {
            if named.contains(&number) { file.clone() } else { FileState::default() }
        };
        let files = other.files.iter().enumerate().map(file).collect();
        Self { files, entries: other.entries.clone(), ..Self::default() }
    }

    pub(super) fn file(&mut self, number: usize) -> io::Result<&mut FileState> {
        self.files.get_mut(number).ok_or_else(|| ErrorKind::NotFound.into())
    }

    /// Returns `true` if a file has more than one name.
    fn has_other_names(&self, number: usize) -> bool {
        self.entries.files().filter(|(_, other)| *other == number).count() > 1
    }

    /// Frees the space of a file that is about to lose a name. Does nothing if the file has another name.
    fn give_room_of(&mut self, number: usize) -> io::Result<()> {
        if !self.has_other_names(number) {
            let freed = self.file(number)?.current.len();
            self.faults.give_room(freed);
        }
        Ok(())
    }

    fn create(&mut self, path: &Path) -> usize {
        self.files.push(FileState::default());
        let number = self.files.len() - 1;
        self.entries.change(vec![NameChange::set(path, Entry::File(number))]);
        number
    }
}

impl Disk for SimulatedDisk {
    fn create_dir(&self, folder: &Path) -> io::Result<()> {
        let (mut state, fate) = self.call(&Call::CreateDir)?;
        fate.outcome()?;
        if folder != Path::new("/") && !state.entries.contains(folder) {
            state.entries.change(vec![NameChange::set(folder, Entry::Folder)]);
        }
        Ok(())
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<String>> {
        let (state, fate) = self.call(&Call::List)?;
        fate.outcome()?;
        if !state.entries.contains(folder) {
            return Err(ErrorKind::NotFound.into());
        }
        Ok(state.entries.inside(folder))
    }

    fn open(&self, path: &Path, create: bool) -> io::Result<Arc<dyn DiskFile>> {
        let call = if create { Call::Create(path.to_owned()) } else { Call::Open(path.to_owned()) };
        let (mut state, fate) = self.call(&call)?;
        fate.outcome()?;
        let number = match (state.entries.file(path), create) {
            (Some(number), false) => number,
            (None, false) => return Err(ErrorKind::NotFound.into()),
            (known, true) => {
                if let Some(number) = known {
                    state.give_room_of(number)?;
                    state.entries.change(vec![NameChange::remove(path)]);
                }
                state.create(path)
            }
        };
        let is_quiet = path.ends_with("RESERVE");
        Ok(Arc::new(SimulatedFile { disk: self.clone(), number, is_quiet }))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let (mut state, fate) = self.call(&Call::Rename(from.to_owned()))?;
        fate.outcome()?;
        let number = state.entries.file(from).ok_or(ErrorKind::NotFound)?;
        // POSIX: if both names refer to the same file, nothing changes.
        match state.entries.file(to) {
            Some(replaced) if replaced == number => return Ok(()),
            Some(replaced) => state.give_room_of(replaced)?,
            None => {}
        }
        state.entries.change(vec![NameChange::remove(from), NameChange::set(to, Entry::File(number))]);
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let (mut state, fate) = self.call(&Call::Remove(path.to_owned()))?;
        fate.outcome()?;
        let number = state.entries.file(path).ok_or(ErrorKind::NotFound)?;
        state.give_room_of(number)?;
        state.entries.change(vec![NameChange::remove(path)]);
        Ok(())
    }

    fn sync_dir(&self, folder: &Path) -> io::Result<()> {
        let (mut state, fate) = self.call(&Call::SyncDir)?;
        fate.outcome()?;
        state.entries.sync(folder);
        Ok(())
    }

    fn lock(&self, path: &Path) -> io::Result<Box<dyn DiskLock>> {
        let mut state = self.state();
        state.faults.powered()?;
        // The lock belongs to the file, not to the name. If a file is created again, it is a different file.
        let known = state.entries.file(path);
        let number = known.unwrap_or_else(|| state.create(path));
        if state.locked.contains(&number) {
            return Err(ErrorKind::WouldBlock.into());
        }
        state.locked.push(number);
        Ok(Box::new(SimulatedLock { disk: self.clone(), number }))
    }
}

#[derive(Debug)]
struct SimulatedLock {
    disk: SimulatedDisk,
    number: usize,
}

impl DiskLock for SimulatedLock {}

impl Drop for SimulatedLock {
    fn drop(&mut self) {
        self.disk.state().locked.retain(|locked| *locked != self.number);
    }
}
