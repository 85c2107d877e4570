//! Does a power loss that drops, tears and reorders what was not synced lose nothing acknowledged?

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::PathBuf;
use std::sync::Mutex;

use super::gate::Gate;
use super::*;
use crate::embedded::Durability;
use crate::embedded::disk::{Disk, DiskFile, DiskLock};
use crate::embedded::failpoint::{Action, Hook, Step};

/// What a disk writes as one.
const SECTOR: usize = 512;
/// What the system remembers to be written.
const PAGE: usize = 4096;

/// A disk in memory: what programs see of a file, and what a power loss leaves of it. Its folder entries are durable at once.
#[derive(Debug, Default)]
struct SimDisk {
    files: Mutex<BTreeMap<PathBuf, Arc<SimFile>>>,
    syncs_fail: Arc<Mutex<bool>>,
    gate: Gate,
}

#[derive(Debug, Default)]
struct SimFile {
    bytes: Mutex<Contents>,
    syncs_fail: Arc<Mutex<bool>>,
    gate: Gate,
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

    /// Brings what is dirty to the disk: of each sector, and of the length, if the coin says so.
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
    /// The power goes: of every sector that was not synced, the coin decides which version stays.
    fn lose_power(&self, mut coin: impl FnMut() -> bool) {
        for file in self.files.lock().unwrap().values() {
            let mut contents = file.bytes.lock().unwrap();
            contents.write_back(&mut coin);
            contents.seen = contents.durable.clone();
        }
        *self.syncs_fail.lock().unwrap() = false;
    }

    /// The disk as it is now: what is done to the original later does not show. Waits for calls under way.
    fn image(&self) -> Arc<Self> {
        let _shut = self.gate.write().unwrap();
        let image = Arc::new(Self::default());
        for (path, file) in &*self.files.lock().unwrap() {
            let bytes = Mutex::new(file.bytes.lock().unwrap().clone());
            let (syncs_fail, gate) = (image.syncs_fail.clone(), image.gate.clone());
            image.files.lock().unwrap().insert(path.clone(), Arc::new(SimFile { bytes, syncs_fail, gate }));
        }
        image
    }

    fn file(&self, path: &Path) -> io::Result<Arc<SimFile>> {
        self.files.lock().unwrap().get(path).cloned().ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

impl Disk for SimDisk {
    fn create_dir(&self, _folder: &Path) -> io::Result<()> {
        Ok(())
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<String>> {
        let name = |path: &PathBuf| path.strip_prefix(folder).unwrap().to_string_lossy().into_owned();
        Ok(self.files.lock().unwrap().keys().map(name).collect())
    }

    fn open(&self, path: &Path, create: bool) -> io::Result<Arc<dyn DiskFile>> {
        if create {
            let _open = self.gate.read().unwrap();
            let (syncs_fail, gate) = (self.syncs_fail.clone(), self.gate.clone());
            let file = SimFile { syncs_fail, gate, ..SimFile::default() };
            self.files.lock().unwrap().insert(path.to_owned(), Arc::new(file));
        }
        Ok(self.file(path)?)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let _open = self.gate.read().unwrap();
        let file = self.file(from)?;
        let mut files = self.files.lock().unwrap();
        files.remove(from);
        files.insert(to.to_owned(), file);
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let _open = self.gate.read().unwrap();
        self.files.lock().unwrap().remove(path).map(drop).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn sync_dir(&self, _folder: &Path) -> io::Result<()> {
        Ok(())
    }

    fn lock(&self, _path: &Path) -> io::Result<Box<dyn DiskLock>> {
        Ok(Box::new(SimLock))
    }
}

#[derive(Debug)]
struct SimLock;

impl DiskLock for SimLock {}

impl DiskFile for SimFile {
    fn len(&self) -> io::Result<u64> {
        Ok(self.bytes.lock().unwrap().seen.len() as u64)
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        let contents = self.bytes.lock().unwrap();
        let start = usize::try_from(offset).unwrap();
        let bytes = contents.seen.get(start..start + buffer.len()).ok_or(io::ErrorKind::UnexpectedEof)?;
        buffer.copy_from_slice(bytes);
        Ok(())
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let _open = self.gate.read().unwrap();
        let mut contents = self.bytes.lock().unwrap();
        let start = usize::try_from(offset).unwrap();
        let end = start + bytes.len();
        if contents.seen.len() < end {
            contents.resize(end);
        }
        contents.seen[start..end].copy_from_slice(bytes);
        contents.touch(start, end);
        Ok(())
    }

    fn set_len(&self, bytes: u64) -> io::Result<()> {
        let _open = self.gate.read().unwrap();
        self.bytes.lock().unwrap().resize(usize::try_from(bytes).unwrap());
        Ok(())
    }

    /// A sync that fails leaves the file as Linux does: seen as written, held for clean, and not on the disk.
    fn sync_data(&self) -> io::Result<()> {
        let _open = self.gate.read().unwrap();
        let mut contents = self.bytes.lock().unwrap();
        if *self.syncs_fail.lock().unwrap() {
            contents.forget();
            return Err(io::Error::other("the sync failed"));
        }
        contents.write_back(|| true);
        Ok(())
    }
}

fn options_on(disk: &Arc<SimDisk>, durability: Durability) -> EngineOptions {
    let disk: Arc<dyn Disk> = disk.clone();
    EngineOptions::new().disk(disk).durability(durability).checkpoint_bytes(5_000)
}

fn open(disk: &Arc<SimDisk>, durability: Durability) -> Engine {
    with_table(options_on(disk, durability).open("/sim").unwrap())
}

fn numbers(engine: &Engine) -> Vec<i32> {
    all(engine).into_iter().map(|(_, _, n)| n).collect()
}

/// Flips, the same for the same seed.
fn coin(seed: u64) -> impl FnMut() -> bool {
    let mut state = seed.wrapping_mul(2_654_435_769) | 1;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state & 4 == 0
    }
}

/// A disk at one moment, the transactions that were acknowledged before, and where the engine was.
type Images = Arc<Mutex<Vec<(Arc<SimDisk>, BTreeSet<i32>, Step)>>>;

/// Eight writers insert pairs of rows, each pair in a transaction of its own, while images of the disk are taken.
fn images(durability: Durability) -> Vec<(Arc<SimDisk>, BTreeSet<i32>, Step)> {
    let disk = Arc::new(SimDisk::default());
    let images = Images::default();
    let acknowledged = Arc::new(Mutex::new(BTreeSet::new()));
    let hook = {
        let (disk, images, acknowledged) = (disk.clone(), images.clone(), acknowledged.clone());
        Hook::new(move |step| {
            // Before the image: what is acknowledged by now must be in it.
            let known: BTreeSet<i32> = acknowledged.lock().unwrap().clone();
            if step != Step::Acknowledge {
                images.lock().unwrap().push((disk.image(), known, step));
            }
            Action::Continue
        })
    };
    let engine = with_table(options_on(&disk, durability).failpoints(hook).open("/sim").unwrap());
    std::thread::scope(|scope| {
        for writer in 0..8 {
            let (engine, acknowledged) = (&engine, &acknowledged);
            scope.spawn(move || {
                for n in (0..8).map(|n| n * 8 + writer) {
                    let (one, two) = (format!("{n:04}"), format!("{:04}", n + 1_000));
                    submit(engine, "Sales", vec![(&one, insert(n)), (&two, insert(n + 1_000))]).unwrap();
                    acknowledged.lock().unwrap().insert(n);
                }
            });
        }
    });
    drop(engine);
    let images = std::mem::take(&mut *images.lock().unwrap());
    assert!(images.iter().any(|(.., step)| *step == Step::CheckpointCommit), "a checkpoint was under way");
    images
}

#[test]
fn con_1_egt_9_a_power_loss_at_any_step_loses_nothing_acknowledged_and_leaves_no_half_of_a_transaction() {
    for (seed, (disk, acknowledged, step)) in images(Durability::Durable).into_iter().enumerate() {
        disk.lose_power(coin(seed as u64));
        let engine = open(&disk, Durability::Durable);
        let found = numbers(&engine);
        let (one, two): (Vec<i32>, Vec<i32>) = found.iter().partition(|n| **n < 1_000);
        assert!(one.iter().map(|n| n + 1_000).eq(two), "{step:?}: {found:?}");
        assert!(acknowledged.iter().all(|n| one.contains(n)), "{step:?}: {found:?} of {acknowledged:?}");
        // What was recovered stays, whatever happens next.
        write(&engine, "9999", insert(9_999)).unwrap();
        let later = disk.image();
        later.lose_power(|| false);
        assert_eq!(numbers(&open(&later, Durability::Durable)), [found, vec![9_999]].concat(), "{step:?}");
    }
}

#[test]
fn relaxed_a_power_loss_leaves_whole_transactions_and_an_engine_that_opens() {
    for (seed, (disk, _, step)) in images(Durability::Relaxed).into_iter().enumerate() {
        disk.lose_power(coin(seed as u64));
        let found = numbers(&open(&disk, Durability::Relaxed));
        let (one, two): (Vec<i32>, Vec<i32>) = found.iter().partition(|n| **n < 1_000);
        assert!(one.iter().map(|n| n + 1_000).eq(two), "{step:?}: {found:?}");
        // The history up to some moment: of each writer, its first transactions.
        for writer in 0..8 {
            let of_writer: Vec<i32> = one.iter().copied().filter(|n| n % 8 == writer).collect();
            let first = (0..i32::try_from(of_writer.len()).unwrap()).map(|n| n * 8 + writer);
            assert!(of_writer.iter().copied().eq(first), "{step:?}: {found:?}");
        }
    }
}

#[test]
fn f4_what_a_failed_sync_left_in_memory_is_written_again_before_it_is_shown() {
    let disk = Arc::new(SimDisk::default());
    // No checkpoint: the journal alone has it.
    let open_on = |disk| {
        with_table(options_on(disk, Durability::Durable).checkpoint_bytes(1 << 20).open("/sim").unwrap())
    };
    let open = || open_on(&disk);
    let engine = open();
    write(&engine, "1", insert(1)).unwrap();
    *disk.syncs_fail.lock().unwrap() = true;
    let many_pages = properties(&[("N", Value::Int32(2)), ("Bytes", Value::Binary(vec![7; 5 * PAGE]))]);
    let error = write(&engine, "2", OperationKind::Insert(many_pages)).unwrap_err();
    assert_eq!(error.code(), ErrorCode::EnginePoisoned);
    assert_eq!(numbers(&engine), [1]);
    drop(engine);
    *disk.syncs_fail.lock().unwrap() = false;
    let engine = open();
    let shown = numbers(&engine);
    assert_eq!(shown, [1, 2], "not acknowledged, but whole");
    write(&engine, "3", insert(3)).unwrap();
    let later = disk.image();
    later.lose_power(|| false);
    assert_eq!(numbers(&open_on(&later)), [1, 2, 3]);
}
