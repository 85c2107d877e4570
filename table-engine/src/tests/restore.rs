//! Tests of restores during which the backup is updated.

use std::io;
use std::path::Path;
use std::sync::Mutex;

use super::*;
use crate::disk::{Disk, DiskFile, DiskLock, RealDisk};

type Event = Box<dyn FnOnce() + Send>;

/// A disk that wraps the file system, and runs an event before the first lock. At that point, a restore has read the backup's `BASE` file, but has not copied
/// anything yet.
struct Interrupted(Mutex<Option<Event>>);

impl std::fmt::Debug for Interrupted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Interrupted")
    }
}

impl Disk for Interrupted {
    fn create_dir(&self, folder: &Path) -> io::Result<()> {
        RealDisk.create_dir(folder)
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<String>> {
        RealDisk.list(folder)
    }

    fn open(&self, path: &Path, create: bool) -> io::Result<Arc<dyn DiskFile>> {
        RealDisk.open(path, create)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        RealDisk.rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        RealDisk.remove(path)
    }

    fn sync_dir(&self, folder: &Path) -> io::Result<()> {
        RealDisk.sync_dir(folder)
    }

    fn lock(&self, path: &Path) -> io::Result<Box<dyn DiskLock>> {
        if let Some(event) = self.0.lock().unwrap().take() {
            event();
        }
        RealDisk.lock(path)
    }
}

#[test]
fn a_restore_during_a_backup_to_the_same_folder_copies_the_newer_version() {
    let (folder, copies) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (backup, restored) = (copies.path().join("backup"), copies.path().join("restored"));
    let engine = on_disk(folder.path());
    for n in 0..3 {
        write(&engine, &n.to_string(), insert(n)).unwrap();
        write(&engine, "last", upsert(n)).unwrap();
        wait(engine.backup(&backup)).unwrap();
    }
    let meanwhile = {
        let (engine, backup) = (engine.clone(), backup.clone());
        move || {
            write(&engine, "3", insert(3)).unwrap();
            wait(engine.compact()).unwrap();
            let report = wait(engine.backup(backup)).unwrap();
            assert!(report.removed_files > 0, "the compaction replaced the runs");
        }
    };
    let disk = Arc::new(Interrupted(Mutex::new(Some(Box::new(meanwhile)))));
    let options = EngineOptions::new().disk(Arc::clone(&disk) as Arc<dyn Disk>);
    options.restore(&backup, &restored).unwrap();
    assert!(disk.0.lock().unwrap().is_none(), "it happened");
    let copy = on_disk(&restored);
    assert!(copy.verify().unwrap().is_whole());
    assert_eq!(all(&copy).len(), 5);
    drop(copy);
    // If the backup has not changed, a missing file means that the backup is corrupted.
    let run = std::fs::read_dir(&backup).unwrap().map(|entry| entry.unwrap().path());
    let run = run.into_iter().find(|path| path.extension().is_some_and(|end| end == "rows"));
    std::fs::remove_file(run.unwrap()).unwrap();
    let error = Engine::restore(&backup, copies.path().join("other")).unwrap_err();
    assert_eq!(error.code(), ErrorCode::Corrupted, "{error}");
}
