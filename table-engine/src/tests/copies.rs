//! Tests of folders that another program has copied, or in which another program has replaced files.

use std::path::Path;

use super::*;

/// Opens an engine with small runs. Each checkpoint then writes a run, and a compaction replaces some of the runs.
fn open(folder: &Path) -> Engine {
    with_table(EngineOptions::new().checkpoint_bytes(6_000).open(folder).unwrap())
}

fn pad(engine: &Engine, numbers: std::ops::Range<i32>) {
    for n in numbers {
        let pad = properties(&[("N", Value::Int32(n)), ("Bytes", Value::Binary(vec![7; 900]))]);
        write(engine, &format!("{n:04}"), OperationKind::InsertOrReplace(pad)).unwrap();
    }
    wait(engine.checkpoint()).unwrap();
}

#[test]
fn a_copied_folder_does_not_overwrite_later_backups_of_the_original() {
    let (folder, backup) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let engine = open(folder.path());
    pad(&engine, 0..10);
    wait(engine.backup(backup.path())).unwrap();
    drop(engine);
    let copied = copy_folder(folder.path());
    // In the first case, the original is reopened after the copy has been made. In the second case, the copy is made while the original is open.
    for reopened in [true, false] {
        let engine = open(folder.path());
        let copied = if reopened { copied.path().to_owned() } else { copy_folder(folder.path()).keep() };
        pad(&engine, 10..12);
        wait(engine.backup(backup.path())).unwrap();
        let copy = open(&copied);
        for _ in 0..4 {
            pad(&copy, 0..20);
            wait(copy.compact()).unwrap();
            let error = wait(copy.backup(backup.path())).unwrap_err();
            assert_eq!(error.code(), ErrorCode::FolderNotOurs, "{error}");
        }
        // The original continues its backup, even after it has been reopened.
        drop(engine);
        for _ in 0..3 {
            let engine = open(folder.path());
            pad(&engine, 12..14);
            assert!(wait(engine.backup(backup.path())).is_ok());
        }
        if !reopened {
            std::fs::remove_dir_all(&copied).unwrap();
        }
    }
    let restored = folder.path().join("restored");
    Engine::restore(backup.path(), &restored).unwrap();
    assert_eq!(all(&on_disk(&restored)).len(), 14);
}

#[test]
fn a_new_folder_that_has_lost_its_journal_is_refused() {
    for cut in [None, Some(0), Some(39), Some(40)] {
        let folder = tempfile::tempdir().unwrap();
        let engine = on_disk(folder.path());
        write(&engine, "1", insert(1)).unwrap();
        drop(engine);
        let journal = folder.path().join("0000000001.journal");
        let bytes = std::fs::read(&journal).unwrap();
        match cut {
            None => std::fs::remove_file(&journal).unwrap(),
            Some(length) => std::fs::write(&journal, &bytes[..length]).unwrap(),
        }
        let opened = [Engine::open(folder.path()), Engine::open_read_only(folder.path())];
        for engine in opened {
            assert_eq!(engine.unwrap_err().code(), ErrorCode::Corrupted, "cut to {cut:?}");
        }
        std::fs::write(&journal, &bytes).unwrap();
        assert_eq!(number(&on_disk(folder.path()), "1"), Some(1), "after the journal was put back");
    }
}

#[test]
fn an_outdated_base_costs_no_file_of_the_current_one() {
    let folder = tempfile::tempdir().unwrap();
    let engine = open(folder.path());
    pad(&engine, 0..20);
    pad(&engine, 5..10);
    let outdated = copy_folder(folder.path());
    wait(engine.compact()).unwrap();
    drop(engine);
    let current = copy_folder(folder.path());
    let is_run = |name: &str| Path::new(name).extension().is_some_and(|extension| extension == "rows");
    // All files except the runs are replaced with their earlier versions.
    for name in names(folder.path()).iter().filter(|name| !is_run(name)) {
        std::fs::remove_file(folder.path().join(name)).unwrap();
    }
    for name in names(outdated.path()).iter().filter(|name| !is_run(name)) {
        std::fs::copy(outdated.path().join(name), folder.path().join(name)).unwrap();
    }
    let engine = open(folder.path());
    assert!(!engine.verify().unwrap().is_whole(), "the merged runs are missing");
    pad(&engine, 100..140);
    drop(engine);
    for name in names(current.path()).iter().filter(|name| is_run(name)) {
        let [found, wanted] = [&folder, &current].map(|folder| std::fs::read(folder.path().join(name)).ok());
        assert!(found == wanted, "{name} was overwritten or deleted");
    }
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
#[cfg(unix)]
fn a_folder_of_hard_links_is_separate_from_the_original() {
    for is_padded in [false, true] {
        let (folder, links) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let engine = open(folder.path());
        pad(&engine, 0..if is_padded { 20 } else { 1 });
        write(&engine, "1000", insert(1_000)).unwrap();
        drop(engine);
        for name in names(folder.path()) {
            std::fs::hard_link(folder.path().join(&name), links.path().join(&name)).unwrap();
        }
        let first = all(&open(links.path()));
        let mut expected = [first.clone(), first];
        for round in 0..6 {
            for (place, path) in [folder.path(), links.path()].into_iter().enumerate() {
                let number = 2_000 + round * 2 + i32::try_from(place).unwrap();
                let engine = open(path);
                write(&engine, &number.to_string(), insert(number)).unwrap();
                expected[place].push(("Sales".to_owned(), number.to_string(), number));
                if round % 2 == 1 {
                    wait(engine.checkpoint()).unwrap();
                }
                assert_eq!(all(&engine), expected[place], "round {round}, folder {place}");
            }
        }
    }
}

/// Creates a new folder with a hard link to every file of an existing folder.
#[cfg(unix)]
fn link_all(from: &Path, to: &Path) {
    std::fs::create_dir(to).unwrap();
    for name in names(from) {
        std::fs::hard_link(from.join(&name), to.join(&name)).unwrap();
    }
}

#[test]
#[cfg(unix)]
fn a_backup_of_hard_links_with_an_unfinished_file_is_separate_from_the_original() {
    let root = tempfile::tempdir().unwrap();
    let (folder, backup, links) =
        (root.path().join("db"), root.path().join("backup"), root.path().join("links"));
    let engine = open(&folder);
    pad(&engine, 0..10);
    wait(engine.backup(&backup)).unwrap();
    // An interrupted backup leaves this file.
    std::fs::write(backup.join("BASE.new"), b"unfinished").unwrap();
    link_all(&backup, &links);
    pad(&engine, 10..20);
    wait(engine.backup(&backup)).unwrap();
    pad(&engine, 20..30);
    wait(engine.compact()).unwrap();
    wait(engine.backup(&links)).unwrap();
    for (from, to, rows) in [(&backup, "first", 20), (&links, "second", 30)] {
        Engine::restore(from, root.path().join(to)).unwrap();
        assert_eq!(all(&on_disk(&root.path().join(to))).len(), rows);
    }
}

#[test]
#[cfg(unix)]
fn a_folder_of_hard_links_made_while_an_engine_is_open_keeps_its_journal() {
    let root = tempfile::tempdir().unwrap();
    let (folder, links) = (root.path().join("db"), root.path().join("links"));
    let engine = open(&folder);
    pad(&engine, 0..10);
    write(&engine, "1000", insert(1_000)).unwrap();
    link_all(&folder, &links);
    let linked = all(&engine);
    // After this, the original no longer needs the frames of the linked file.
    for _ in 0..3 {
        pad(&engine, 0..1);
    }
    wait(engine.close()).unwrap();
    assert_eq!(all(&open(&links)), linked);
}
