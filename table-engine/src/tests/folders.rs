//! Tests that a folder is opened by only one engine at a time, and only if it is an engine's folder.

use std::collections::BTreeMap;
use std::sync::Barrier;

use super::sim::SimDisk;
use super::*;
use crate::disk::Disk;

/// Returns the files of a folder with their bytes.
fn files(disk: &SimDisk, folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let read = |name: String| {
        let file = disk.open(&folder.join(&name), false).unwrap();
        let mut bytes = vec![0; usize::try_from(file.len().unwrap()).unwrap()];
        file.read_at(0, &mut bytes).unwrap();
        (name, bytes)
    };
    disk.list(folder).unwrap().into_iter().map(read).collect()
}

#[test]
fn a_folder_is_opened_by_one_engine_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let engine = on_disk(folder.path());
    assert_eq!(Engine::open(folder.path()).unwrap_err().code(), ErrorCode::FolderLocked);
    let clone = engine.clone();
    wait(engine.close()).unwrap();
    let again = on_disk(folder.path());
    assert_eq!(write(&clone, "1", insert(1)).unwrap_err().code(), ErrorCode::EngineClosed);
    let key = EntityKey::new("Sales", "1").unwrap();
    let error = wait(clone.get(&employees(), &key, &Select::All)).unwrap_err();
    assert_eq!(error.code(), ErrorCode::EngineClosed);
    drop(again);
    drop(on_disk(folder.path()));
}

#[test]
fn a_closed_engine_frees_its_folder_even_if_a_snapshot_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let engine = on_disk(folder.path());
    write(&engine, "1", insert(1)).unwrap();
    wait(engine.checkpoint()).unwrap();
    let snapshot = engine.snapshot().unwrap();
    wait(engine.close()).unwrap();
    let engine = on_disk(folder.path());
    let key = EntityKey::new("Sales", "1").unwrap();
    let error = snapshot.get(&employees(), &key, &Select::All).unwrap_err();
    assert_eq!(error.code(), ErrorCode::EngineClosed);
    drop(snapshot);
    write(&engine, "2", insert(2)).unwrap();
    wait(engine.checkpoint()).unwrap();
    drop(engine);
    assert_eq!(all(&on_disk(folder.path())).len(), 2);
}

#[test]
fn a_foreign_folder_is_not_changed() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("letter.txt"), "Dear").unwrap();
    assert_eq!(Engine::open(folder.path()).unwrap_err().code(), ErrorCode::FolderNotOurs);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_removed_lock_file_lets_no_second_engine_in() {
    let folder = tempfile::tempdir().unwrap();
    let engine = on_disk(folder.path());
    write(&engine, "1", insert(1)).unwrap();
    std::fs::remove_file(folder.path().join("LOCK")).unwrap();
    assert_eq!(Engine::open(folder.path()).unwrap_err().code(), ErrorCode::FolderLocked);
    std::fs::remove_file(folder.path().join("LOCK")).unwrap();
    let manifest = std::fs::read(folder.path().join("FORMAT")).unwrap();
    std::fs::remove_file(folder.path().join("FORMAT")).unwrap();
    assert_eq!(Engine::open(folder.path()).unwrap_err().code(), ErrorCode::FolderNotOurs);
    drop(engine);
    std::fs::write(folder.path().join("FORMAT"), manifest).unwrap();
    assert_eq!(number(&on_disk(folder.path()), "1"), Some(1));
}

#[test]
fn only_one_of_several_threads_opens_a_new_folder() {
    for _ in 0..10 {
        let folder = tempfile::tempdir().unwrap();
        let start = Barrier::new(4);
        let open = || {
            start.wait();
            Engine::open(folder.path())
        };
        let outcomes: Vec<_> = std::thread::scope(|scope| {
            let threads = [(); 4].map(|()| scope.spawn(open));
            threads.map(|thread| thread.join().unwrap()).into()
        });
        let refused: Vec<_> = outcomes.iter().filter_map(|outcome| outcome.as_ref().err()).collect();
        assert!(refused.iter().all(|error| error.code() == ErrorCode::FolderLocked), "{refused:?}");
        assert_eq!(refused.len(), 3);
    }
}

#[test]
#[cfg(unix)]
fn a_folder_is_locked_under_every_path() {
    let (folder, links) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let link = links.path().join("link");
    std::os::unix::fs::symlink(folder.path(), &link).unwrap();
    let engine = on_disk(folder.path());
    assert_eq!(Engine::open(&link).unwrap_err().code(), ErrorCode::FolderLocked);
    write(&engine, "1", insert(1)).unwrap();
    drop(engine);
    assert_eq!(number(&on_disk(&link), "1"), Some(1));
}

#[test]
fn the_root_of_a_volume_counts_as_an_empty_folder() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("lost+found")).unwrap();
    write(&on_disk(folder.path()), "1", insert(1)).unwrap();
    assert_eq!(number(&on_disk(folder.path()), "1"), Some(1));
}

#[test]
fn an_empty_base_is_refused_and_not_changed() {
    let folder = tempfile::tempdir().unwrap();
    let engine = on_disk(folder.path());
    write(&engine, "1", insert(1)).unwrap();
    wait(engine.checkpoint()).unwrap();
    drop(engine);
    let base = folder.path().join("BASE");
    std::fs::write(&base, b"").unwrap();
    assert_eq!(Engine::open(folder.path()).unwrap_err().code(), ErrorCode::Corrupted);
    assert_eq!(std::fs::metadata(&base).unwrap().len(), 0);
}

#[test]
fn parent_folders_are_created() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a/b");
    write(&on_disk(&path), "1", insert(1)).unwrap();
    assert_eq!(number(&on_disk(&path), "1"), Some(1));
}

#[test]
fn a_missing_base_or_journal_is_refused_with_the_reason() {
    for suffix in ["BASE", "journal"] {
        let folder = tempfile::tempdir().unwrap();
        let engine = on_disk(folder.path());
        write(&engine, "1", insert(1)).unwrap();
        wait(engine.checkpoint()).unwrap();
        write(&engine, "2", insert(2)).unwrap();
        drop(engine);
        for entry in std::fs::read_dir(folder.path()).unwrap() {
            let path = entry.unwrap().path();
            if path.to_string_lossy().ends_with(suffix) {
                std::fs::remove_file(path).unwrap();
            }
        }
        let error = Engine::open(folder.path()).unwrap_err();
        assert_eq!(error.code(), ErrorCode::Corrupted);
        assert!(error.to_string().contains(suffix), "{error}");
    }
}

/// Tests every incomplete copy of a folder, such as one left by an interrupted `cp`. Missing rows must cause an error, and no run may be deleted.
#[test]
fn an_incomplete_folder_shows_all_rows_or_an_error_and_keeps_its_runs() {
    let folder = Path::new("/engine");
    let written = Arc::new(SimDisk::default());
    let on = |disk: &Arc<SimDisk>| EngineOptions::new().disk(Arc::clone(disk) as Arc<dyn Disk>);
    let engine = with_table(on(&written).open(folder).unwrap());
    for n in 1..3 {
        write(&engine, &n.to_string(), insert(n)).unwrap();
        wait(engine.checkpoint()).unwrap();
    }
    write(&engine, "3", insert(3)).unwrap();
    drop(engine);
    let whole = files(&written, folder);
    assert!((7..12).contains(&whole.len()), "{:?}", whole.keys());
    for subset in 0..1_u32 << whole.len() {
        let part: BTreeMap<_, _> =
            whole.iter().enumerate().filter(|(at, _)| subset >> at & 1 == 1).map(|(_, file)| file).collect();
        let disk = Arc::new(SimDisk::default());
        disk.create_dir(folder).unwrap();
        for (name, bytes) in &part {
            disk.open(&folder.join(name), true).unwrap().write_at(0, bytes).unwrap();
        }
        let is_new = part.keys().all(|name| ["FORMAT", "LOCK"].contains(&name.as_str()));
        let check = |opened: Result<Engine>| {
            let read = |engine: Engine| wait(engine.query(&employees(), &Query::new(KeyRange::ALL), None));
            match opened.and_then(read) {
                Ok(page) => assert_eq!(page.rows.iter().count(), 3, "{:?}", part.keys()),
                Err(error) => {
                    let expected = [ErrorCode::Corrupted, ErrorCode::FolderNotOurs];
                    assert!(is_new || expected.contains(&error.code()), "{:?}: {error}", part.keys());
                }
            }
        };
        check(on(&disk).open_read_only(folder));
        check(on(&disk).open(folder));
        let left = files(&disk, folder);
        for name in part.keys().filter(|name| crate::base::is_run(name)) {
            assert_eq!(left.get(*name), Some(&whole[*name]), "{name} of {:?}", part.keys());
        }
    }
}

#[test]
fn files_of_other_programs_are_neither_read_nor_deleted() {
    let folder = tempfile::tempdir().unwrap();
    let engine = on_disk(folder.path());
    write(&engine, "1", insert(1)).unwrap();
    drop(engine);
    let others = ["7.journal", "+000000009.journal", "5.rows", "0000000001.journal.bak", "notes.txt"];
    for name in others {
        std::fs::write(folder.path().join(name), b"of a program").unwrap();
    }
    for _ in 0..2 {
        let engine = on_disk(folder.path());
        assert_eq!(number(&engine, "1"), Some(1));
        wait(engine.compact()).unwrap();
        wait(engine.close()).unwrap();
        assert_eq!(all(&Engine::open_read_only(folder.path()).unwrap()).len(), 1);
    }
    for name in others {
        assert_eq!(std::fs::read(folder.path().join(name)).unwrap(), b"of a program", "{name}");
    }
}
