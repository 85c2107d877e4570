//! Tests of queues on a disk that is temporarily unable to read the files of the base.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::io::{self, ErrorKind};
use std::path::Path;
use std::sync::Mutex;

use super::{Arc, Duration, Engine, EngineOptions, PutMessage, QueueStore, block_on, clocked, work};
use crate::Durability;
use crate::disk::{Disk, DiskFile, DiskLock, RealDisk};

const HOUR: Duration = Duration::from_secs(3_600);

/// The state shared by a disk and its files.
#[derive(Debug, Default)]
struct Shared {
    /// The error returned by every attempt to open or read a run, or `None` if runs are readable.
    outage: Mutex<Option<ErrorKind>>,
    /// The name of the only run that is affected, or `None` if all runs are affected.
    only: Mutex<Option<OsString>>,
    /// The number of reads from each run.
    reads: Mutex<BTreeMap<OsString, usize>>,
}

impl Shared {
    fn check(&self, name: &OsStr) -> io::Result<()> {
        let is_affected = self.only.lock().unwrap().as_deref().is_none_or(|only| only == name);
        let outage = self.outage.lock().unwrap().filter(|_| is_affected);
        outage.map_or(Ok(()), |kind| Err(io::Error::new(kind, "an outage")))
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct OutageDisk(Arc<Shared>);

#[derive(Debug)]
struct RunFile {
    shared: Arc<Shared>,
    file: Arc<dyn DiskFile>,
    name: OsString,
}

fn is_run(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "rows")
}

impl OutageDisk {
    /// Makes all later reads of runs fail with an error, or succeed again if `outage` is `None`.
    fn set_outage(&self, outage: Option<ErrorKind>) {
        *self.0.outage.lock().unwrap() = outage;
    }
}

impl Disk for OutageDisk {
    fn create_dir(&self, folder: &Path) -> io::Result<()> {
        RealDisk.create_dir(folder)
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<String>> {
        RealDisk.list(folder)
    }

    fn open(&self, path: &Path, create: bool) -> io::Result<Arc<dyn DiskFile>> {
        RealDisk.open(path, create)
    }

    fn open_to_read(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        let file = RealDisk.open_to_read(path)?;
        if !is_run(path) {
            return Ok(file);
        }
        let name = path.file_name().unwrap().to_owned();
        self.0.check(&name)?;
        Ok(Arc::new(RunFile { shared: Arc::clone(&self.0), file, name }))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        RealDisk.rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        RealDisk.remove(path)
    }

    fn sync_dir(&self, _folder: &Path) -> io::Result<()> {
        Ok(())
    }

    fn lock(&self, path: &Path) -> io::Result<Box<dyn DiskLock>> {
        RealDisk.lock(path)
    }
}

impl DiskFile for RunFile {
    fn len(&self) -> io::Result<u64> {
        self.file.len()
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        *self.shared.reads.lock().unwrap().entry(self.name.clone()).or_default() += 1;
        self.shared.check(&self.name)?;
        self.file.read_at(offset, buffer)
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.file.write_at(offset, bytes)
    }

    fn set_len(&self, bytes: u64) -> io::Result<()> {
        self.file.set_len(bytes)
    }

    fn sync_data(&self) -> io::Result<()> {
        Ok(())
    }
}

fn put(engine: &Engine, texts: std::ops::Range<usize>) {
    for n in texts {
        block_on(engine.put(&work(), PutMessage::new(n.to_string()))).unwrap();
    }
}

/// Receives and deletes messages until `count` messages have been received or none is visible. Returns the numbers in their texts.
fn drain(engine: &Engine, count: usize) -> Vec<usize> {
    let mut received = Vec::new();
    while received.len() < count {
        let leases = block_on(engine.receive(&work(), (count - received.len()).min(32), HOUR)).unwrap();
        if leases.is_empty() {
            break;
        }
        for lease in leases {
            block_on(engine.delete(&work(), &lease.message.id, &lease.receipt)).unwrap();
            received.push(lease.message.text.parse().unwrap());
        }
    }
    received
}

fn options(disk: &OutageDisk) -> EngineOptions {
    clocked().0.disk(Arc::new(disk.clone())).durability(Durability::Relaxed).cache_bytes(0)
}

/// Creates a queue in a folder and puts messages. A checkpoint moves the messages to the base. The folder is then opened again, so no blocks are cached.
fn in_base(disk: &OutageDisk, folder: &Path, messages: usize) -> Engine {
    let engine = options(disk).open(folder).unwrap();
    block_on(engine.create_queue(&work())).unwrap();
    put(&engine, 0..messages);
    block_on(engine.checkpoint()).unwrap();
    block_on(engine.close()).unwrap();
    options(disk).open(folder).unwrap()
}

#[test]
fn all_messages_are_received_after_the_disk_could_not_read_them_for_some_time() {
    const MESSAGES: usize = 600;
    let (counted, peeked, received) = (1, 2, 4);
    let cases = [ErrorKind::Other, ErrorKind::NotFound].into_iter().flat_map(|kind| {
        let calls = 0..=counted | peeked | received;
        calls.flat_map(move |calls| [true, false].map(|is_index_read| (kind, is_index_read, calls)))
    });
    for (kind, is_index_read, calls) in cases {
        let (disk, folder) = (OutageDisk::default(), tempfile::tempdir().unwrap());
        let engine = in_base(&disk, folder.path(), MESSAGES);
        let mut all: Vec<usize> = Vec::new();
        if is_index_read {
            // The tombstones of these messages are in memory.
            all = drain(&engine, 300);
        }
        disk.set_outage(Some(kind));
        put(&engine, MESSAGES..MESSAGES + 10);
        if calls & counted != 0 {
            block_on(engine.approximate_count(&work())).unwrap();
        }
        if calls & peeked != 0 {
            block_on(engine.peek(&work(), 32)).unwrap();
        }
        if calls & received != 0 {
            all.extend(drain(&engine, MESSAGES));
        }
        put(&engine, MESSAGES + 10..MESSAGES + 20);
        disk.set_outage(None);
        let context = format!("{kind:?}, {is_index_read}, {calls}, {} messages received", all.len());
        let count = block_on(engine.approximate_count(&work())).unwrap();
        assert_eq!(count, (MESSAGES + 20 - all.len()) as u64, "{context}");
        all.extend(drain(&engine, usize::MAX));
        assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), MESSAGES + 20, "{context}");
        assert_eq!(all.len(), MESSAGES + 20, "{context}");
    }
}

/// Tests a receive that finds more tombstones than one decision skips. The head of the queue cannot advance past an unreadable part before the tombstones.
#[test]
fn a_receive_ends_while_the_disk_cannot_read_the_queue() {
    for (is_missing, received) in [(false, 300), (false, 600), (true, 300), (true, 600)] {
        let (disk, folder) = (OutageDisk::default(), tempfile::tempdir().unwrap());
        let engine = in_base(&disk, folder.path(), 600);
        assert_eq!(drain(&engine, received).len(), received);
        block_on(engine.close()).unwrap();
        if is_missing {
            for run in runs(folder.path()) {
                std::fs::remove_file(folder.path().join(run)).unwrap();
            }
        } else {
            disk.set_outage(Some(ErrorKind::Other));
        }
        let engine = options(&disk).open(folder.path()).unwrap();
        assert!(block_on(engine.receive(&work(), 32, HOUR)).unwrap().is_empty());
    }
}

/// Returns the number of reads from a run during `work`.
fn reads(disk: &OutageDisk, name: &OsStr, work: impl FnOnce()) -> usize {
    disk.0.reads.lock().unwrap().clear();
    work();
    disk.0.reads.lock().unwrap().get(name).copied().unwrap_or_default()
}

/// Returns the names of the runs in a folder, in creation order.
fn runs(folder: &Path) -> Vec<OsString> {
    let names = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().file_name());
    let mut names: Vec<OsString> = names.filter(|name| is_run(Path::new(name))).collect();
    names.sort();
    names
}

#[test]
fn few_puts_read_the_base() {
    const PUTS: usize = 400;
    let (disk, folder) = (OutageDisk::default(), tempfile::tempdir().unwrap());
    let engine = in_base(&disk, folder.path(), 40);
    let reads = reads(&disk, &runs(folder.path())[0], || put(&engine, 40..40 + PUTS));
    assert!((1..=PUTS / 4).contains(&reads), "{reads} reads in {PUTS} puts");
}

#[test]
fn a_scan_reads_an_unreadable_index_once_and_a_damaged_index_is_not_read_again() {
    for is_damaged in [false, true] {
        let (disk, folder) = (OutageDisk::default(), tempfile::tempdir().unwrap());
        let engine = in_base(&disk, folder.path(), 600);
        // The second run has an entry before and an entry after most of the messages.
        assert_eq!(drain(&engine, 32).len(), 32);
        put(&engine, 600..601);
        block_on(engine.checkpoint()).unwrap();
        block_on(engine.close()).unwrap();
        let [_, second] = &runs(folder.path())[..] else { panic!("the runs have been merged") };
        if is_damaged {
            let run = folder.path().join(second);
            let mut bytes = std::fs::read(&run).unwrap();
            let at = bytes.len() - 60;
            bytes[at] ^= 1;
            std::fs::write(&run, bytes).unwrap();
        } else {
            *disk.0.only.lock().unwrap() = Some(second.clone());
            disk.set_outage(Some(ErrorKind::Other));
        }
        let engine = options(&disk).open(folder.path()).unwrap();
        let scans: [&dyn Fn(); 4] = [
            &|| assert!(block_on(engine.approximate_count(&work())).is_ok()),
            &|| put(&engine, 601..609),
            &|| drop(block_on(engine.peek(&work(), 32)).unwrap()),
            &|| drop(block_on(engine.receive(&work(), 32, HOUR)).unwrap()),
        ];
        let reads = scans.map(|scan| reads(&disk, second, scan));
        // A corrupted directory is detected after four reads: the header, the footer, the filter and the index. A disk error ends the first of these reads.
        // Each text is read separately.
        let most = if is_damaged { [4, 0, 0, 0] } else { [1, 1, usize::MAX, usize::MAX] };
        assert!(reads.iter().zip(most).all(|(reads, most)| *reads <= most), "{is_damaged}: {reads:?}");
    }
}
