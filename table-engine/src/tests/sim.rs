//! A simulated in-memory disk for tests. It has two states: the one that programs see, and the one that remains after a power loss.
//!
//! A file's bytes become durable when the file is synced. A new, renamed or removed folder entry becomes durable when the folder is synced.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex};

use super::gate::Gate;
use crate::disk::{Disk, DiskFile, DiskLock};

/// The number of bytes that the disk writes atomically.
const SECTOR: usize = 512;
/// The number of bytes that the operating system marks as dirty together.
pub(super) const PAGE: usize = 4096;

/// The folder or file at a path.
#[derive(Clone, Debug)]
enum Entry {
    Folder,
    File(Arc<SimFile>),
}

/// Changes to folder entries, keyed by path. A group contains changes that occur together, such as the two changes of a rename.
type Changes = Vec<(PathBuf, Option<Entry>)>;

#[derive(Clone, Debug, Default)]
struct Names {
    seen: BTreeMap<PathBuf, Entry>,
    durable: BTreeMap<PathBuf, Entry>,
    /// The changes that are not durable yet, in order.
    pending: Vec<Changes>,
}

fn apply(entries: &mut BTreeMap<PathBuf, Entry>, changes: &Changes) {
    for (path, entry) in changes {
        match entry {
            Some(entry) => drop(entries.insert(path.clone(), entry.clone())),
            None => drop(entries.remove(path)),
        }
    }
}

impl Names {
    fn change(&mut self, changes: Changes) {
        apply(&mut self.seen, &changes);
        self.pending.push(changes);
    }

    fn sync(&mut self, folder: &Path) {
        let inside = |changes: &Changes| changes.iter().all(|(path, _)| path.parent() == Some(folder));
        for changes in self.pending.extract_if(.., |changes| inside(changes)) {
            apply(&mut self.durable, &changes);
        }
    }

    /// Discards some of the pending changes of each folder. Only the changes before the first one for which `coin` returns `false` are kept.
    fn lose_power(&mut self, mut coin: impl FnMut() -> bool) {
        let mut cut = BTreeSet::new();
        for changes in std::mem::take(&mut self.pending) {
            let folder = changes.first().and_then(|(path, _)| path.parent().map(Path::to_owned));
            if !cut.contains(&folder) && coin() {
                apply(&mut self.durable, &changes);
            } else {
                cut.insert(folder);
            }
        }
        // If a folder is lost, its content is lost as well.
        let durable = self.durable.clone();
        let is_reached = |path: &Path| {
            path.ancestors().skip(1).all(|above| above == Path::new("/") || durable.contains_key(above))
        };
        self.durable.retain(|path, _| is_reached(path));
        self.seen = self.durable.clone();
    }
}

/// The state shared by the disk and its files.
#[derive(Clone, Debug)]
struct State {
    /// The number of syncs that succeed before one fails.
    syncs: Arc<AtomicI64>,
    /// The free space of the disk, in bytes.
    room: Arc<AtomicI64>,
    /// The number of bytes written. Zeros do not count.
    written: Arc<AtomicI64>,
    gate: Gate,
    /// `true` if an engine's reserve file cannot be opened.
    has_no_reserve: Arc<AtomicBool>,
    /// `true` if the disk is copy-on-write. Overwriting bytes then needs additional space temporarily.
    copies_on_write: bool,
    /// A folder that cannot be synced, and the kind of error that its sync returns.
    unsynced: Option<(PathBuf, ErrorKind)>,
}

impl Default for State {
    fn default() -> Self {
        let without_end = || Arc::new(AtomicI64::new(i64::MAX));
        Self {
            syncs: without_end(),
            room: without_end(),
            written: Arc::default(),
            gate: Gate::default(),
            has_no_reserve: Arc::default(),
            copies_on_write: false,
            unsynced: None,
        }
    }
}

impl State {
    fn sync(&self) -> io::Result<()> {
        let fails = self.syncs.fetch_sub(1, Ordering::SeqCst) == 0;
        if fails { Err(io::Error::other("the sync failed")) } else { Ok(()) }
    }

    /// Adds `bytes` bytes to the free space of the disk.
    fn give(&self, bytes: usize) {
        let bytes = i64::try_from(bytes).unwrap();
        let _ = self.room.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |room| room.checked_add(bytes));
    }

    /// Reserves space for at most `bytes` bytes. Returns the number of bytes for which space was reserved.
    fn take(&self, bytes: usize) -> usize {
        let wanted = i64::try_from(bytes).unwrap();
        let take = |left: i64| Some(left - left.clamp(0, wanted));
        let left = self.room.fetch_update(Ordering::SeqCst, Ordering::SeqCst, take).unwrap();
        usize::try_from(left.clamp(0, wanted)).unwrap()
    }
}

#[derive(Debug, Default)]
pub(crate) struct SimDisk {
    names: Mutex<Names>,
    locked: Arc<Mutex<BTreeSet<PathBuf>>>,
    state: State,
}

#[derive(Debug, Default)]
pub(super) struct SimFile {
    bytes: Mutex<Contents>,
    state: State,
}

#[derive(Clone, Debug, Default)]
struct Contents {
    seen: Vec<u8>,
    durable: Vec<u8>,
    dirty: BTreeSet<usize>,
    resized: bool,
}

impl Contents {
    fn touch(&mut self, from: usize, to: usize) {
        self.dirty.extend(from / PAGE..to.div_ceil(PAGE));
    }

    fn resize(&mut self, length: usize) {
        let old = self.seen.len();
        self.touch(old.min(length), old.max(length));
        self.seen.resize(length, 0);
        self.resized = true;
    }

    /// Writes dirty data to the disk. For each sector, `coin` returns `true` if the sector is written. The same applies to a changed length.
    fn write_back(&mut self, mut coin: impl FnMut() -> bool) {
        if self.resized && coin() {
            self.durable.resize(self.seen.len(), 0);
        }
        for at in self.dirty.iter().flat_map(|page| (page * PAGE..(page + 1) * PAGE).step_by(SECTOR)) {
            let end = (at + SECTOR).min(self.seen.len()).min(self.durable.len());
            if at < end && coin() {
                self.durable[at..end].copy_from_slice(&self.seen[at..end]);
            }
        }
        self.forget();
    }

    fn forget(&mut self) {
        self.dirty.clear();
        self.resized = false;
    }
}

impl SimDisk {
    /// Creates a disk on which engines have no reserve.
    pub(crate) fn without_reserve() -> Self {
        let disk = Self::default();
        disk.state.has_no_reserve.store(true, Ordering::SeqCst);
        disk
    }

    /// Allows engines to create a reserve.
    pub(crate) fn allow_reserve(&self) {
        self.state.has_no_reserve.store(false, Ordering::SeqCst);
    }

    /// Creates a disk on which one folder cannot be synced.
    pub(crate) fn with_unsynced(folder: &str, kind: ErrorKind) -> Self {
        let state = State { unsynced: Some((folder.into(), kind)), ..State::default() };
        Self { state, ..Self::default() }
    }

    /// Creates a disk that copies on write.
    pub(crate) fn copying_on_write() -> Self {
        let state = State { copies_on_write: true, ..State::default() };
        Self { state, ..Self::default() }
    }

    /// Simulates a power loss. For every unsynced sector and entry, `coin` determines which version remains.
    pub(crate) fn lose_power(&self, mut coin: impl FnMut() -> bool) {
        let mut names = self.names.lock().unwrap();
        let all = names
            .seen
            .values()
            .chain(names.durable.values())
            .chain(names.pending.iter().flatten().filter_map(|(_, entry)| entry.as_ref()));
        for entry in all {
            if let Entry::File(file) = entry {
                let mut contents = file.bytes.lock().unwrap();
                contents.write_back(&mut coin);
                contents.seen = contents.durable.clone();
            }
        }
        names.lose_power(coin);
        self.mend();
    }

    /// Returns a copy of the disk in its current state. Later changes do not affect the copy. Waits for calls in progress.
    pub(crate) fn image(&self) -> Arc<Self> {
        let _shut = self.state.gate.write().unwrap();
        let mut copies: Vec<(Arc<SimFile>, Arc<SimFile>)> = Vec::new();
        let state = State { copies_on_write: self.state.copies_on_write, ..State::default() };
        let image = Self { state, ..Self::default() };
        let mut copy = |entry: &Entry| {
            let Entry::File(file) = entry else { return Entry::Folder };
            let known = copies.iter().find(|(original, _)| Arc::ptr_eq(original, file));
            let clone = known.map_or_else(
                || {
                    let bytes = Mutex::new(file.bytes.lock().unwrap().clone());
                    Arc::new(SimFile { bytes, state: image.state.clone() })
                },
                |(_, copy)| copy.clone(),
            );
            copies.push((file.clone(), clone.clone()));
            Entry::File(clone)
        };
        let mut names = self.names.lock().unwrap().clone();
        names.seen.values_mut().for_each(|entry| *entry = copy(entry));
        names.durable.values_mut().for_each(|entry| *entry = copy(entry));
        for (_, entry) in names.pending.iter_mut().flatten() {
            *entry = entry.as_ref().map(&mut copy);
        }
        *image.names.lock().unwrap() = names;
        Arc::new(image)
    }

    /// Makes the `n`th sync from now fail, counted from 0.
    pub(super) fn fail_sync(&self, n: i64) {
        self.state.syncs.store(n, Ordering::SeqCst);
    }

    /// Returns `true` if the sync chosen by [`fail_sync`](Self::fail_sync) has failed.
    pub(super) fn has_failed(&self) -> bool {
        self.state.syncs.load(Ordering::SeqCst) < 0
    }

    /// Sets the free space of the disk, in bytes.
    pub(crate) fn set_room(&self, bytes: i64) {
        self.state.room.store(bytes, Ordering::SeqCst);
    }

    /// Returns the number of bytes written. Zeros do not count, and neither do bytes that were refused because the disk was full.
    pub(crate) fn written(&self) -> i64 {
        self.state.written.load(Ordering::SeqCst)
    }

    /// Removes the injected sync failure, and frees space.
    pub(crate) fn mend(&self) {
        self.fail_sync(i64::MAX);
        self.set_room(i64::MAX);
    }

    fn file(&self, path: &Path) -> io::Result<Arc<SimFile>> {
        match self.names.lock().unwrap().seen.get(path) {
            Some(Entry::File(file)) => Ok(file.clone()),
            _ => Err(ErrorKind::NotFound.into()),
        }
    }
}

impl Disk for SimDisk {
    fn create_dir(&self, folder: &Path) -> io::Result<()> {
        let mut names = self.names.lock().unwrap();
        if folder != Path::new("/") && !names.seen.contains_key(folder) {
            names.change(vec![(folder.to_owned(), Some(Entry::Folder))]);
        }
        Ok(())
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<String>> {
        let names = self.names.lock().unwrap();
        if !names.seen.contains_key(folder) {
            return Err(ErrorKind::NotFound.into());
        }
        let inside = names.seen.keys().filter(|path| path.parent() == Some(folder));
        Ok(inside.map(|path| path.file_name().unwrap().to_string_lossy().into_owned()).collect())
    }

    fn open(&self, path: &Path, create: bool) -> io::Result<Arc<dyn DiskFile>> {
        let _open = self.state.gate.read().unwrap();
        if self.state.has_no_reserve.load(Ordering::SeqCst) && path.ends_with("RESERVE") {
            return Err(ErrorKind::PermissionDenied.into());
        }
        if create {
            if let Ok(earlier) = self.file(path) {
                self.state.give(earlier.bytes.lock().unwrap().seen.len());
            }
            let file = SimFile { state: self.state.clone(), ..SimFile::default() };
            let entry = Some(Entry::File(Arc::new(file)));
            self.names.lock().unwrap().change(vec![(path.to_owned(), entry)]);
        }
        Ok(self.file(path)?)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let _open = self.state.gate.read().unwrap();
        let entry = Some(Entry::File(self.file(from)?));
        if let Ok(replaced) = self.file(to) {
            self.state.give(replaced.bytes.lock().unwrap().seen.len());
        }
        self.names.lock().unwrap().change(vec![(from.to_owned(), None), (to.to_owned(), entry)]);
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let _open = self.state.gate.read().unwrap();
        self.state.give(self.file(path)?.bytes.lock().unwrap().seen.len());
        self.names.lock().unwrap().change(vec![(path.to_owned(), None)]);
        Ok(())
    }

    fn sync_dir(&self, folder: &Path) -> io::Result<()> {
        let _open = self.state.gate.read().unwrap();
        if let Some((_, kind)) = self.state.unsynced.as_ref().filter(|(unsynced, _)| unsynced == folder) {
            return Err((*kind).into());
        }
        self.state.sync()?;
        self.names.lock().unwrap().sync(folder);
        Ok(())
    }

    fn lock(&self, path: &Path) -> io::Result<Box<dyn DiskLock>> {
        if !self.locked.lock().unwrap().insert(path.to_owned()) {
            return Err(ErrorKind::WouldBlock.into());
        }
        Ok(Box::new(SimLock { path: path.to_owned(), locked: self.locked.clone() }))
    }
}

#[derive(Debug)]
struct SimLock {
    path: PathBuf,
    locked: Arc<Mutex<BTreeSet<PathBuf>>>,
}

impl DiskLock for SimLock {}

impl Drop for SimLock {
    fn drop(&mut self) {
        self.locked.lock().unwrap().remove(&self.path);
    }
}

impl DiskFile for SimFile {
    fn len(&self) -> io::Result<u64> {
        Ok(self.bytes.lock().unwrap().seen.len() as u64)
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        let contents = self.bytes.lock().unwrap();
        let start = usize::try_from(offset).unwrap();
        let bytes = contents.seen.get(start..start + buffer.len()).ok_or(ErrorKind::UnexpectedEof)?;
        buffer.copy_from_slice(bytes);
        Ok(())
    }

    /// Writes the bytes. If the disk is full, this is a short write.
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let _open = self.state.gate.read().unwrap();
        let mut contents = self.bytes.lock().unwrap();
        let start = usize::try_from(offset).unwrap();
        let length = contents.seen.len();
        let growth = |written: usize| (start + written).saturating_sub(length);
        let needed = growth(bytes.len()).max(if self.state.copies_on_write { bytes.len() } else { 0 });
        let taken = self.state.take(needed);
        let missing = needed - taken;
        let bytes = &bytes[..bytes.len().saturating_sub(missing)];
        if bytes.is_empty() && missing > 0 {
            return Err(ErrorKind::StorageFull.into());
        }
        if self.state.copies_on_write {
            self.state.give(taken - growth(bytes.len()));
        }
        if bytes.iter().any(|byte| *byte != 0) {
            self.state.written.fetch_add(i64::try_from(bytes.len()).unwrap(), Ordering::SeqCst);
        }
        let end = start + bytes.len();
        if contents.seen.len() < end {
            contents.resize(end);
        }
        contents.seen[start..end].copy_from_slice(bytes);
        contents.touch(start, end);
        if missing == 0 { Ok(()) } else { Err(ErrorKind::StorageFull.into()) }
    }

    fn set_len(&self, bytes: u64) -> io::Result<()> {
        let _open = self.state.gate.read().unwrap();
        let mut contents = self.bytes.lock().unwrap();
        let length = usize::try_from(bytes).unwrap();
        let growth = length.saturating_sub(contents.seen.len());
        if self.state.take(growth) < growth {
            return Err(ErrorKind::StorageFull.into());
        }
        let freed = contents.seen.len().saturating_sub(length);
        self.state.give(freed);
        contents.resize(length);
        Ok(())
    }

    /// Syncs the file. As on Linux, the data of a failed sync remains visible and is considered clean, although it is not on the disk.
    fn sync_data(&self) -> io::Result<()> {
        let _open = self.state.gate.read().unwrap();
        let mut contents = self.bytes.lock().unwrap();
        if let Err(error) = self.state.sync() {
            contents.dirty.clear();
            return Err(error);
        }
        contents.write_back(|| true);
        Ok(())
    }
}
