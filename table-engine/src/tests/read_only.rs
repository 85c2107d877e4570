//! Tests of a reader that runs at the same time as a writer. The reader must see a state that existed at some time and includes all writes acknowledged before
//! the read. It must not write anything or delay the writer.

use std::io;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use table_store::query::KeyRange;

use super::images::ImagingDisk;
use super::sim::SimDisk;
use super::*;
use crate::disk::{Disk, DiskFile, DiskLock, RealDisk};
use crate::failpoint::{Action, Hook, Step};

fn options_on(disk: &Arc<dyn Disk>) -> EngineOptions {
    EngineOptions::new().disk(disk.clone()).checkpoint_bytes(6_000)
}

fn reader(disk: &Arc<dyn Disk>, folder: &str) -> Engine {
    options_on(disk).open_read_only(folder).unwrap()
}

fn pad(n: i32) -> OperationKind {
    let row = properties(&[("N", Value::Int32(n)), ("Bytes", Value::Binary(vec![7; 600]))]);
    OperationKind::InsertOrReplace(row)
}

fn numbers(engine: &Engine) -> Vec<i32> {
    all(engine).into_iter().map(|(_, _, n)| n).collect()
}

#[test]
fn a_reader_writes_nothing_and_refuses_every_write() {
    let sim = Arc::new(SimDisk::default());
    let imaging = Arc::new(ImagingDisk::new(sim.clone()));
    let disk: Arc<dyn Disk> = imaging.clone();
    let writer = with_table(options_on(&disk).open("/engine").unwrap());
    for n in 0..30 {
        write(&writer, &format!("{n:02}"), pad(n)).unwrap();
    }
    wait(writer.backup("/backup")).unwrap();
    write(&writer, "30", pad(30)).unwrap();
    let check = |held: &str| {
        imaging.take();
        for (folder, rows) in [("/engine", 31), ("/backup", 30)] {
            let reader = reader(&disk, folder);
            assert_eq!(numbers(&reader), (0..rows).collect::<Vec<_>>(), "{held}");
            assert!(reader.verify().unwrap().is_whole());
            assert!(reader.statistics().unwrap().runs > 0);
            assert_eq!(numbers(&reader), (0..rows).collect::<Vec<_>>());
            for refused in [
                write(&reader, "31", insert(31)).map(drop),
                wait(reader.create_table(&name("Other"))),
                wait(reader.delete_table(&employees())),
                wait(reader.checkpoint()),
                wait(reader.compact()),
                wait(reader.backup("/other")).map(drop),
            ] {
                assert_eq!(refused.unwrap_err().code(), ErrorCode::ReadOnly);
            }
            let snapshot = reader.snapshot().unwrap();
            wait(reader.clone().close()).unwrap();
            assert_eq!(wait(reader.close()).unwrap_err().code(), ErrorCode::EngineClosed);
            let closed = snapshot.query(&employees(), &Query::new(KeyRange::ALL), None);
            assert_eq!(closed.unwrap_err().code(), ErrorCode::EngineClosed);
        }
        assert_eq!(imaging.take().len(), 0, "{held}: calls that change something");
    };
    check("by a writer");
    drop(writer);
    check("by no one");
    // A reader with an open folder does not block a writer.
    let held = reader(&disk, "/engine");
    let writer = options_on(&disk).open("/engine").unwrap();
    write(&writer, "31", pad(31)).unwrap();
    assert_eq!(numbers(&held).len(), 31);
}

#[test]
fn rows_of_a_reader_stay_while_the_writer_merges_and_removes_its_files() {
    let disk: Arc<dyn Disk> = Arc::new(SimDisk::default());
    let writer = with_table(options_on(&disk).open("/engine").unwrap());
    for n in 0..60 {
        write(&writer, &format!("{n:02}"), pad(n)).unwrap();
    }
    wait(writer.checkpoint()).unwrap();
    write(&writer, "99", pad(99)).unwrap();
    let before = reader(&disk, "/engine");
    let shown = numbers(&before);
    assert_eq!(shown.len(), 61);
    for n in 0..60 {
        write(&writer, &format!("{n:02}"), pad(n + 1_000)).unwrap();
    }
    write(&writer, "99", delete()).unwrap();
    wait(writer.compact()).unwrap();
    let names = || disk.list(Path::new("/engine")).unwrap();
    eventually("old runs are removed", || !names().contains(&"0000000001.rows".to_owned()));
    assert_eq!(numbers(&before), shown);
    assert_eq!(numbers(&reader(&disk, "/engine")), (1_000..1_060).collect::<Vec<_>>());
}

/// A disk that runs some of the test's code once, just before the second journal file is opened for reading.
struct AtEnd {
    disk: RealDisk,
    run: Mutex<Option<Box<dyn FnOnce() + Send>>>,
}

impl std::fmt::Debug for AtEnd {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AtEnd").finish_non_exhaustive()
    }
}

impl Disk for AtEnd {
    fn create_dir(&self, folder: &Path) -> io::Result<()> {
        self.disk.create_dir(folder)
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<String>> {
        self.disk.list(folder)
    }

    fn open(&self, path: &Path, create: bool) -> io::Result<Arc<dyn DiskFile>> {
        self.disk.open(path, create)
    }

    fn open_to_read(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        if path.file_name().is_some_and(|name| name == "0000000002.journal") {
            let run = self.run.lock().unwrap().take();
            if let Some(run) = run {
                run();
            }
        }
        self.disk.open_to_read(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.disk.rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.disk.remove(path)
    }

    fn sync_dir(&self, folder: &Path) -> io::Result<()> {
        self.disk.sync_dir(folder)
    }

    fn lock(&self, path: &Path) -> io::Result<Box<dyn DiskLock>> {
        self.disk.lock(path)
    }
}

/// Tests a reader that is suspended while the writer removes journal files. The second file contains a row that was acknowledged before the reader began. It is
/// removed after the reader has opened the first file.
///
/// The files have hard links, so they are removed instead of being reused.
#[test]
fn a_reader_does_not_take_a_removed_journal_file_for_the_end_of_the_journal() {
    let (folder, links) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let is_shut = Arc::<AtomicBool>::default();
    let of_hook = Arc::clone(&is_shut);
    let hook = Hook::new(move |step| {
        while step == Step::CheckpointCommit && of_hook.load(Ordering::SeqCst) {
            std::thread::yield_now();
        }
        Action::Continue
    });
    // IMPORTANT: the disk must support hard links, which the disk used by `on_disk` does not.
    let writer = with_table(EngineOptions::new().failpoints(hook).open(folder.path()).unwrap());
    write(&writer, "1", upsert(1)).unwrap();
    let link = {
        let (folder, links) = (folder.path().to_owned(), links.path().to_owned());
        move || {
            for file in std::fs::read_dir(&folder).unwrap().map(Result::unwrap) {
                if file.path().extension().is_some_and(|end| end == "journal") {
                    let _ = std::fs::hard_link(file.path(), links.join(file.file_name()));
                }
            }
        }
    };
    // The journal continues in the second file, while the base still begins with the first one.
    is_shut.store(true, Ordering::SeqCst);
    let other = writer.clone();
    let checkpoint = std::thread::spawn(move || wait(other.checkpoint()).unwrap());
    let second = crate::journal::file::path(folder.path(), 2);
    eventually("the second journal file is created", || second.exists());
    write(&writer, "2", upsert(2)).unwrap();
    link();
    let other = writer.clone();
    let run = move || {
        is_shut.store(false, Ordering::SeqCst);
        checkpoint.join().unwrap();
        write(&other, "3", upsert(3)).unwrap();
        wait(other.checkpoint()).unwrap();
    };
    let disk = AtEnd { disk: RealDisk, run: Mutex::new(Some(Box::new(run))) };
    let reader = EngineOptions::new().disk(Arc::new(disk)).open_read_only(folder.path()).unwrap();
    assert_eq!(numbers(&reader), [1, 2, 3]);
    drop(writer);
}

#[test]
fn every_concurrent_open_shows_a_prefix_with_all_acknowledged_writes() {
    let folder = tempfile::tempdir().unwrap();
    let disk: Arc<dyn Disk> = Arc::new(GatedDisk::default());
    let writer = with_table(options_on(&disk).open(folder.path()).unwrap());
    let acknowledged = std::sync::atomic::AtomicI32::new(-1);
    let order = Ordering::SeqCst;
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for n in 0..1_500 {
                submit(
                    &writer,
                    "Sales",
                    vec![("a", pad(n)), (&format!("{:03}", n % 50), pad(n)), ("z", pad(n))],
                )
                .unwrap();
                acknowledged.store(n, order);
            }
        });
        let mut opened = 0;
        while acknowledged.load(order) < 1_499 || opened < 20 {
            let known = acknowledged.load(order);
            let reader = options_on(&disk).open_read_only(folder.path()).unwrap();
            let last = number(&reader, "a").unwrap_or(-1);
            assert!(last >= known, "{last} is shown, {known} was acknowledged");
            assert_eq!(number(&reader, "z").unwrap_or(-1), last, "half of a transaction");
            let mut shown: Vec<i32> = numbers(&reader);
            shown.sort_unstable();
            shown.dedup();
            let first = (last - 49).max(0);
            assert_eq!(shown, (first..=last).collect::<Vec<_>>());
            opened += 1;
        }
    });
}

#[test]
fn a_folder_without_an_engine_is_refused_and_not_created() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing");
    let refused = |path: &Path| Engine::open_read_only(path).unwrap_err().code();
    assert_eq!((refused(&missing), missing.exists()), (ErrorCode::FolderNotOurs, false));
    assert_eq!(refused(folder.path()), ErrorCode::FolderNotOurs);
    let engine = on_disk(folder.path());
    write(&engine, "1", insert(1)).unwrap();
    wait(engine.checkpoint()).unwrap();
    drop(engine);
    let run = folder.path().join("0000000001.rows");
    let bytes = std::fs::read(&run).unwrap();
    std::fs::remove_file(&run).unwrap();
    assert_eq!(refused(folder.path()), ErrorCode::Corrupted);
    std::fs::write(&run, &bytes).unwrap();
    assert_eq!(number(&Engine::open_read_only(folder.path()).unwrap(), "1"), Some(1));
    std::fs::remove_file(folder.path().join("0000000002.journal")).unwrap();
    assert_eq!(refused(folder.path()), ErrorCode::Corrupted);
}
