//! Tests of recovery. Acknowledged writes are kept, an interrupted write at the end of the journal is removed, and corruption is an error.

use std::path::PathBuf;

use super::*;
use crate::Durability;
use crate::journal::file::{FileHeader, HEADER, Salt};
use crate::journal::frame::{self, Head};

/// Returns the folder of an engine and the path of its journal. The engine wrote the rows 1 to `count` in separate transactions, and was then killed.
pub(super) fn folder_with(count: i32) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let engine = on_disk(folder.path());
    for n in 1..=count {
        write(&engine, &format!("{n:03}"), insert(n)).unwrap();
    }
    let killed = copy_folder(folder.path());
    let journal = killed.path().join("0000000001.journal");
    (killed, journal)
}

/// Returns the start and end of each frame in a journal.
pub(super) fn frames(bytes: &[u8]) -> Vec<(usize, usize)> {
    let salt = FileHeader::read(bytes).unwrap().salt;
    let mut at = usize::try_from(HEADER).unwrap();
    let mut frames = Vec::new();
    while let Some(head) = Head::read(&bytes[at..], salt) {
        let end = at + frame::HEADER + usize::try_from(head.length).unwrap();
        frames.push((at, end));
        at = end;
    }
    frames
}

/// Returns an intact frame for a file with the given salt.
fn frame_of(salt: Salt, sequence: u64, durable: u64) -> Vec<u8> {
    let mut out = crate::bytes::Writer::default();
    frame::write(&frame::Record::Drop { ticks: 1, id: 77 }, salt, sequence, durable, &mut out);
    out.into_bytes()
}

pub(super) fn numbers(engine: &Engine) -> Vec<i32> {
    all(engine).into_iter().map(|(_, _, n)| n).collect()
}

#[test]
fn con_1_acknowledged_writes_survive_a_crash_in_both_durabilities() {
    for durability in [Durability::Durable, Durability::Relaxed] {
        let folder = tempfile::tempdir().unwrap();
        let options = EngineOptions::new().durability(durability);
        let engine = with_table(options.clone().open(folder.path()).unwrap());
        for n in 0..20 {
            write(&engine, &n.to_string(), insert(n)).unwrap();
        }
        write(&engine, "3", delete()).unwrap();
        let copy = copy_folder(folder.path());
        let recovered = with_table(options.open(copy.path()).unwrap());
        assert_eq!(all(&recovered), all(&engine));
        assert_eq!(all(&recovered).len(), 19);
        // The engine remains usable and can be opened again.
        write(&recovered, "3", insert(3)).unwrap();
        drop(recovered);
        assert_eq!(numbers(&on_disk(copy.path())).len(), 20);
    }
}

#[test]
fn a_journal_truncated_in_its_last_three_frames_loses_only_the_rest() {
    let (folder, journal) = folder_with(6);
    let bytes = std::fs::read(&journal).unwrap();
    let frames = frames(&bytes);
    let from = frames[frames.len() - 3].0;
    let to = frames[frames.len() - 1].1;
    for length in from..=to {
        let copy = copy_folder(folder.path());
        std::fs::write(copy.path().join("0000000001.journal"), &bytes[..length]).unwrap();
        let engine = on_disk(copy.path());
        // The first frame contains no row, because it creates the table.
        let whole = frames.iter().filter(|(_, end)| *end <= length).count() - 1;
        let wanted: Vec<i32> = (1..=i32::try_from(whole).unwrap()).collect();
        assert_eq!(numbers(&engine), wanted, "cut at {length}");
        write(&engine, "new", insert(99)).unwrap();
        drop(engine);
        let again = numbers(&on_disk(copy.path()));
        assert_eq!(again, [wanted, vec![99]].concat(), "reopened, cut at {length}");
    }
}

#[test]
fn a_byte_flipped_in_a_middle_frame_is_refused_and_nothing_is_changed() {
    let (folder, journal) = folder_with(6);
    let bytes = std::fs::read(&journal).unwrap();
    let (start, end) = frames(&bytes)[3];
    for at in start..end {
        let mut broken = bytes.clone();
        broken[at] ^= 0x41;
        std::fs::write(&journal, &broken).unwrap();
        let error = Engine::open(folder.path()).unwrap_err();
        assert_eq!(error.code(), ErrorCode::Corrupted, "byte {at}");
        assert!(
            error.to_string().contains(&format!("0000000001.journal is damaged at byte {start} ")),
            "{error}"
        );
        assert_eq!(std::fs::read(&journal).unwrap(), broken);
    }
    std::fs::write(&journal, &bytes).unwrap();
    assert_eq!(numbers(&on_disk(folder.path())), [1, 2, 3, 4, 5, 6]);
}

#[test]
fn a_byte_flipped_in_the_last_frame_truncates_that_frame() {
    let (folder, journal) = folder_with(3);
    let bytes = std::fs::read(&journal).unwrap();
    let (start, end) = *frames(&bytes).last().unwrap();
    for at in start..end {
        let copy = copy_folder(folder.path());
        let mut broken = bytes.clone();
        broken[at] ^= 0x41;
        std::fs::write(copy.path().join("0000000001.journal"), &broken).unwrap();
        assert_eq!(numbers(&on_disk(copy.path())), [1, 2], "byte {at}");
    }
}

#[test]
fn a_byte_flipped_after_a_close_is_found_and_closing_frames_lose_nothing() {
    let (folder, journal) = folder_with(3);
    let open = || Engine::open(folder.path()).map(|engine| numbers(&engine));
    assert_eq!(open().unwrap(), [1, 2, 3]);
    let bytes = std::fs::read(&journal).unwrap();
    let frames = frames(&bytes);
    assert_eq!(frames.len(), 5, "a table, three rows, and a closing frame");
    let (last, closing) = (frames[3], frames[4]);
    for at in (last.0..last.1).chain(closing.0..closing.1) {
        let mut broken = bytes.clone();
        broken[at] ^= 0x41;
        std::fs::write(&journal, &broken).unwrap();
        match open() {
            Err(error) => assert!(at < last.1 && error.code() == ErrorCode::Corrupted, "byte {at}: {error}"),
            Ok(found) => assert!(at >= last.1 && found == [1, 2, 3], "byte {at}: {found:?}"),
        }
    }
    // A journal without writes after its closing frame does not get a second closing frame.
    std::fs::write(&journal, &bytes).unwrap();
    open().unwrap();
    assert_eq!(std::fs::read(&journal).unwrap(), bytes);
}

#[test]
fn a_broken_frame_of_an_unsynced_write_is_torn_despite_later_good_frames() {
    let (folder, journal) = folder_with(2);
    let mut bytes = std::fs::read(&journal).unwrap();
    let (_, end) = *frames(&bytes).last().unwrap();
    // The group has three frames. The first frame is corrupted, and the others are intact.
    let salt = FileHeader::read(&bytes).unwrap().salt;
    let group: Vec<u8> = (4..7).flat_map(|sequence| frame_of(salt, sequence, 4)).collect();
    bytes[end..end + group.len()].copy_from_slice(&group);
    bytes[end + 30] ^= 1;
    std::fs::write(&journal, &bytes).unwrap();
    let engine = on_disk(folder.path());
    assert_eq!(numbers(&engine), [1, 2]);
    write(&engine, "3", insert(3)).unwrap();
    drop(engine);
    assert_eq!(numbers(&on_disk(folder.path())).len(), 3, "torn writes do not reappear");
}

#[test]
fn bytes_inside_a_value_are_never_taken_for_a_frame() {
    let (folder, journal) = folder_with(5);
    let engine = on_disk(folder.path());
    // The value imitates frames as closely as possible without knowledge of the file's salt.
    let mut value = vec![b'x'; 10_000];
    for sequence in 1..200 {
        value.extend(frame_of(Salt { head: 0, record: 0 }, 40 * sequence, 40 * sequence));
    }
    value.resize(40_000, b'z');
    let pad = properties(&[("N", Value::Int32(6)), ("Value", Value::Binary(value))]);
    write(&engine, "006", OperationKind::Insert(pad)).unwrap();
    let (bytes, killed) = (std::fs::read(&journal).unwrap(), copy_folder(folder.path()));
    drop(engine);
    let (start, end) = *frames(&bytes).last().unwrap();
    // The write was torn in its first page, its last page, or its middle.
    for (from, to) in [(start, start + 4096), (end - 4096, end), (start + 8192, start + 8704)] {
        let copy = copy_folder(killed.path());
        let mut torn = bytes.clone();
        torn[from..to].fill(0);
        std::fs::write(copy.path().join("0000000001.journal"), &torn).unwrap();
        assert_eq!(numbers(&on_disk(copy.path())), [1, 2, 3, 4, 5]);
    }
}

#[test]
fn an_incomplete_journal_file_is_removed_and_a_broken_one_is_refused() {
    let (folder, journal) = folder_with(3);
    let next = folder.path().join("0000000002.journal");
    for header in [&b""[..], &b"TBLJ"[..], &[0; 40][..]] {
        std::fs::write(&next, header).unwrap();
        assert_eq!(numbers(&on_disk(folder.path())), [1, 2, 3]);
        assert!(!next.exists());
    }
    let mut bytes = std::fs::read(&journal).unwrap();
    bytes[3] ^= 1;
    std::fs::write(&journal, &bytes).unwrap();
    assert_eq!(Engine::open(folder.path()).unwrap_err().code(), ErrorCode::Corrupted);
}

#[test]
fn dropped_and_created_tables_are_recovered() {
    let folder = tempfile::tempdir().unwrap();
    let engine = on_disk(folder.path());
    write(&engine, "1", insert(1)).unwrap();
    wait(engine.delete_table(&employees())).unwrap();
    wait(engine.create_table(&name("EMPLOYEE"))).unwrap();
    write(&engine, "2", insert(2)).unwrap();
    let copy = copy_folder(folder.path());
    let recovered = on_disk(copy.path());
    assert_eq!(numbers(&recovered), [2]);
    assert_eq!(wait(recovered.list_tables("", None, 10)).unwrap().names[0].as_str(), "EMPLOYEE");
}
