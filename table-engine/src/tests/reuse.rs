//! Tests that only the new content of a reused journal file is read, whatever its old content is.

use std::io;
use std::sync::Mutex;

use super::recovery::frames;
use super::*;
use crate::disk::{Disk, DiskFile, DiskLock, RealDisk};

/// Returns the numbers of the journal files in a folder.
fn journals(folder: &Path) -> Vec<u64> {
    let names = RealDisk.list(folder).unwrap();
    let mut numbers: Vec<u64> = names.iter().filter_map(|name| crate::journal::file::number(name)).collect();
    numbers.sort_unstable();
    numbers
}

fn path(folder: &Path, number: u64) -> std::path::PathBuf {
    crate::journal::file::path(folder, number)
}

fn numbers(engine: &Engine) -> Vec<i32> {
    all(engine).into_iter().map(|(_, _, n)| n).collect()
}

/// Returns an engine that has reused its first journal file. Rows 1 to 20 are in the base, and their old frames follow the frame of row 21.
fn used_again(folder: &Path) -> Engine {
    let engine = on_disk(folder);
    for n in 1..=20 {
        write(&engine, &format!("{n:03}"), insert(n)).unwrap();
    }
    wait(engine.checkpoint()).unwrap();
    assert_eq!(journals(folder), [2, 3]);
    wait(engine.checkpoint()).unwrap();
    assert_eq!(journals(folder), [3, 4]);
    write(&engine, "021", insert(21)).unwrap();
    engine
}

#[test]
fn old_content_of_a_reused_file_is_neither_replayed_nor_corruption() {
    let folder = tempfile::tempdir().unwrap();
    let engine = used_again(folder.path());
    let bytes = std::fs::read(path(folder.path(), 3)).unwrap();
    let [(_, end)] = frames(&bytes)[..] else { panic!("one frame") };
    assert!(bytes[end..].windows(5).any(|window| window == b"Sales"), "old frames follow it");
    let killed = copy_folder(folder.path());
    drop(engine);
    for folder in [folder, killed] {
        let reader = Engine::open_read_only(folder.path()).unwrap();
        assert_eq!(numbers(&reader), (1..=21).collect::<Vec<_>>());
        let again = on_disk(folder.path());
        assert_eq!(numbers(&again), (1..=21).collect::<Vec<_>>());
        assert_eq!(journals(folder.path()), [3]);
        write(&again, "022", insert(22)).unwrap();
        drop(again);
        assert_eq!(numbers(&on_disk(folder.path())).len(), 22);
    }
}

#[test]
fn a_torn_frame_is_cut_if_the_next_file_has_no_frame_yet() {
    let folder = tempfile::tempdir().unwrap();
    let engine = used_again(folder.path());
    let killed = copy_folder(folder.path());
    drop(engine);
    let mut bytes = std::fs::read(path(killed.path(), 3)).unwrap();
    let (_, end) = frames(&bytes)[0];
    bytes[end - 1] ^= 1;
    std::fs::write(path(killed.path(), 3), &bytes).unwrap();
    assert_eq!(journals(killed.path()), [3, 4]);
    let engine = on_disk(killed.path());
    assert_eq!(numbers(&engine), (1..=20).collect::<Vec<_>>());
    assert_eq!(journals(killed.path()), [3]);
    write(&engine, "022", insert(22)).unwrap();
    drop(engine);
    assert_eq!(numbers(&on_disk(killed.path())).last(), Some(&22));
}

#[test]
fn a_broken_frame_is_corruption_if_the_next_file_has_a_frame() {
    let folder = tempfile::tempdir().unwrap();
    let engine = used_again(folder.path());
    let before = copy_folder(folder.path());
    wait(engine.checkpoint()).unwrap();
    write(&engine, "022", insert(22)).unwrap();
    let next = std::fs::read(path(folder.path(), 4)).unwrap();
    drop(engine);
    // The files are put into the state that an unfinished checkpoint would leave. Then a bit is flipped.
    std::fs::write(path(before.path(), 4), &next).unwrap();
    assert_eq!(numbers(&on_disk(copy_folder(before.path()).path())).len(), 22);
    let mut bytes = std::fs::read(path(before.path(), 3)).unwrap();
    let (start, end) = frames(&bytes)[0];
    bytes[end - 1] ^= 1;
    std::fs::write(path(before.path(), 3), &bytes).unwrap();
    let error = Engine::open(before.path()).unwrap_err();
    assert_eq!(error.code(), ErrorCode::Corrupted);
    assert!(
        error.to_string().contains(&format!("0000000003.journal is damaged at byte {start} ")),
        "{error}"
    );
}

#[test]
fn a_closed_folder_keeps_no_spare_journal_file() {
    let folder = tempfile::tempdir().unwrap();
    wait(used_again(folder.path()).close()).unwrap();
    assert_eq!(journals(folder.path()), [3]);
}

/// An action performed while a file is read.
type Event = Box<dyn FnOnce() + Send>;

/// A disk that wraps the file system, and performs an action between two reads of the first journal file.
struct Eventful(Arc<Mutex<Option<Event>>>);

struct EventfulFile {
    file: Arc<dyn DiskFile>,
    event: Arc<Mutex<Option<Event>>>,
}

impl std::fmt::Debug for Eventful {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Eventful").finish_non_exhaustive()
    }
}

impl std::fmt::Debug for EventfulFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EventfulFile").finish_non_exhaustive()
    }
}

impl DiskFile for EventfulFile {
    fn len(&self) -> io::Result<u64> {
        self.file.len()
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        // At this point, the header has already been read.
        if offset > 0
            && let Some(event) = self.event.lock().unwrap().take()
        {
            event();
        }
        self.file.read_at(offset, buffer)
    }

    fn write_at(&self, _: u64, _: &[u8]) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn set_len(&self, _: u64) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn sync_data(&self) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

impl Disk for Eventful {
    fn create_dir(&self, _: &Path) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<String>> {
        RealDisk.list(folder)
    }

    fn open(&self, path: &Path, _: bool) -> io::Result<Arc<dyn DiskFile>> {
        let file = RealDisk.open_to_read(path)?;
        if path.ends_with("0000000001.journal") {
            return Ok(Arc::new(EventfulFile { file, event: Arc::clone(&self.0) }));
        }
        Ok(file)
    }

    fn rename(&self, _: &Path, _: &Path) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn remove(&self, _: &Path) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn sync_dir(&self, _: &Path) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn lock(&self, _: &Path) -> io::Result<Box<dyn DiskLock>> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

#[test]
fn a_file_reused_while_it_is_read_hides_no_acknowledged_write() {
    let folder = tempfile::tempdir().unwrap();
    let writer = on_disk(folder.path());
    for n in 1..=20 {
        write(&writer, &format!("{n:03}"), insert(n)).unwrap();
    }
    let meanwhile = {
        let writer = writer.clone();
        move || {
            wait(writer.checkpoint()).unwrap();
            wait(writer.checkpoint()).unwrap();
            write(&writer, "021", insert(21)).unwrap();
        }
    };
    let disk = Arc::new(Eventful(Arc::new(Mutex::new(Some(Box::new(meanwhile))))));
    let reader = EngineOptions::new().disk(Arc::clone(&disk) as Arc<dyn Disk>);
    let reader = reader.open_read_only(folder.path()).unwrap();
    assert!(disk.0.lock().unwrap().is_none(), "it happened");
    assert_eq!(numbers(&reader), (1..=21).collect::<Vec<_>>());
}
