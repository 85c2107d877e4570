//! Tests that a journal is refused if durable frames are missing or changed. It may be shorter, older or different than when the engine was last opened or
//! closed.

use super::recovery::{folder_with, frames, numbers};
use super::*;
use crate::journal::synced::SYNCED;

const JOURNAL: &str = "0000000001.journal";

/// Returns the rows in a folder, or the error code if it cannot be opened.
fn opened(folder: &Path) -> Result<Vec<i32>, ErrorCode> {
    Engine::open(folder).map(|engine| numbers(&engine)).map_err(|error| error.code())
}

/// Returns a folder with rows 1 to 3 whose engine was closed.
fn closed() -> tempfile::TempDir {
    let (folder, _) = folder_with(3);
    assert_eq!(opened(folder.path()), Ok(vec![1, 2, 3]));
    folder
}

fn add(folder: &Path, number: i32) {
    write(&on_disk(folder), &format!("{number:03}"), insert(number)).unwrap();
}

#[test]
fn a_journal_cut_after_a_close_is_refused_by_writers_and_readers() {
    let folder = closed();
    let bytes = std::fs::read(folder.path().join(JOURNAL)).unwrap();
    let last = frames(&bytes)[3];
    for length in 0..bytes.len() {
        let copy = copy_folder(folder.path());
        std::fs::write(copy.path().join(JOURNAL), &bytes[..length]).unwrap();
        let read = Engine::open_read_only(copy.path()).map(|engine| numbers(&engine));
        let read = read.map_err(|error| error.code());
        assert_eq!(read, opened(copy.path()), "{length}");
        match read {
            Ok(rows) => assert!(length >= last.1 && rows == [1, 2, 3], "{length}: {rows:?}"),
            Err(code) => assert!(length < last.1 && code == ErrorCode::Corrupted, "{length}: {code}"),
        }
    }
}

#[test]
fn an_earlier_journal_is_refused_with_the_file_to_remove_and_opens_without_it() {
    let folder = closed();
    let earlier = std::fs::read(folder.path().join(JOURNAL)).unwrap();
    add(folder.path(), 4);
    std::fs::write(folder.path().join(JOURNAL), earlier).unwrap();
    let text = Engine::open(folder.path()).unwrap_err().to_string();
    assert!(text.contains("ends before frame 6, but the frames before 7 were durable"), "{text}");
    std::fs::remove_file(folder.path().join(SYNCED)).unwrap();
    assert_eq!(opened(folder.path()), Ok(vec![1, 2, 3]));
}

#[test]
fn the_journal_of_a_copied_folder_is_refused_in_the_original() {
    let folder = closed();
    let copy = copy_folder(folder.path());
    add(folder.path(), 4);
    for number in [5, 6, 7] {
        add(copy.path(), number);
    }
    std::fs::copy(copy.path().join(JOURNAL), folder.path().join(JOURNAL)).unwrap();
    let error = Engine::open(folder.path()).unwrap_err();
    assert!(error.to_string().contains("has other frames than those that were synced"), "{error}");
    assert_eq!(opened(copy.path()), Ok(vec![1, 2, 3, 5, 6, 7]));
}

#[test]
fn frames_that_an_open_recovered_are_recorded_as_well() {
    let (folder, journal) = folder_with(3);
    // The process is killed again immediately after it has opened the folder.
    let engine = on_disk(folder.path());
    let killed = copy_folder(folder.path());
    drop(engine);
    let bytes = std::fs::read(&journal).unwrap();
    let last = frames(&bytes)[3];
    std::fs::write(killed.path().join(JOURNAL), &bytes[..last.0]).unwrap();
    assert_eq!(opened(killed.path()), Err(ErrorCode::Corrupted));
    // If the folder was not reopened, a missing frame cannot be distinguished from an interrupted write.
    let (folder, journal) = folder_with(3);
    let bytes = std::fs::read(&journal).unwrap();
    std::fs::write(&journal, &bytes[..frames(&bytes)[3].0]).unwrap();
    assert_eq!(opened(folder.path()), Ok(vec![1, 2]));
}

#[test]
fn an_earlier_state_of_all_other_files_is_refused() {
    let folder = closed();
    wait(on_disk(folder.path()).checkpoint()).unwrap();
    let earlier = copy_folder(folder.path());
    add(folder.path(), 4);
    wait(on_disk(folder.path()).checkpoint()).unwrap();
    std::fs::copy(folder.path().join(SYNCED), earlier.path().join(SYNCED)).unwrap();
    assert_eq!(opened(earlier.path()), Err(ErrorCode::Corrupted));
    assert_eq!(opened(folder.path()), Ok(vec![1, 2, 3, 4]));
}

#[test]
fn the_record_of_another_engine_states_nothing() {
    let (folder, other) = (closed(), tempfile::tempdir().unwrap());
    for number in 4..9 {
        add(other.path(), number);
    }
    std::fs::copy(other.path().join(SYNCED), folder.path().join(SYNCED)).unwrap();
    assert_eq!(opened(folder.path()), Ok(vec![1, 2, 3]));
    add(folder.path(), 9);
    assert_eq!(opened(folder.path()), Ok(vec![1, 2, 3, 9]));
}

#[test]
fn checkpoints_and_journals_without_frames_keep_the_record_true() {
    let folder = closed();
    for number in 4..12 {
        let engine = on_disk(folder.path());
        write(&engine, &format!("{number:03}"), insert(number)).unwrap();
        if number % 2 == 0 {
            wait(engine.checkpoint()).unwrap();
        }
        if number % 3 == 0 {
            write(&engine, "001", upsert(1)).unwrap();
        }
        let killed = copy_folder(folder.path());
        drop(engine);
        let wanted: Vec<i32> = (1..=number).collect();
        assert_eq!(opened(killed.path()).as_ref(), Ok(&wanted));
        assert_eq!(opened(folder.path()).as_ref(), Ok(&wanted));
        // A last file without frames is removed and recreated.
        let next = (1..).map(|number| folder.path().join(format!("{number:010}.journal")));
        let next = next.skip_while(|path| !path.exists()).find(|path| !path.exists()).unwrap();
        std::fs::write(next, b"").unwrap();
        assert_eq!(opened(folder.path()).as_ref(), Ok(&wanted));
    }
}
