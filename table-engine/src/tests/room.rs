//! Tests of a full disk. Writes that add data are refused until space becomes available. All other operations succeed.

use std::collections::BTreeSet;

use super::sim::SimDisk;
use super::*;
use crate::disk::Disk;
use crate::journal::file::HEADER;

pub(super) fn open(disk: &Arc<SimDisk>, checkpoint_bytes: usize) -> Engine {
    let on: Arc<dyn Disk> = disk.clone();
    let options = EngineOptions::new().disk(on).checkpoint_bytes(checkpoint_bytes);
    options.memtable_bytes(2 * checkpoint_bytes).open("/sim").unwrap()
}

pub(super) fn padded(n: i32) -> OperationKind {
    OperationKind::Insert(properties(&[("N", Value::Int32(n)), ("Bytes", Value::Binary(vec![7; 30_000]))]))
}

pub(super) fn numbers(engine: &Engine) -> BTreeSet<i32> {
    all(engine).into_iter().map(|(_, _, n)| n).collect()
}

/// Writes rows until the disk is full. Returns the number of the last written row, and the error of the next write.
pub(super) fn fill(engine: &Engine, from: i32) -> (i32, Error) {
    let refused = |n| write(engine, &format!("{n:04}"), padded(n)).err().map(|error| (n - 1, error));
    (from..).find_map(refused).unwrap()
}

#[test]
fn a_write_without_disk_space_is_refused_and_one_with_space_succeeds() {
    // No checkpoint occurs between the writes.
    let disk = Arc::new(SimDisk::without_reserve());
    let engine = with_table(open(&disk, 1 << 30));
    for room in [0, 100, 40_000, 3 << 20] {
        disk.set_room(room);
        let from = numbers(&engine).last().map_or(1, |last| last + 1);
        let (last, error) = fill(&engine, from);
        assert_eq!(error.code(), ErrorCode::DiskFull, "{error}");
        assert_eq!(numbers(&engine), (1..=last).collect());
        // Refused writes do not reappear, and acknowledged writes are kept.
        for seed in 0..2 {
            let crashed = disk.image();
            crashed.lose_power(|| seed > 0);
            assert_eq!(numbers(&open(&crashed, 1 << 30)), (1..=last).collect());
        }
        // The space is sufficient for a transaction with one small row, which is shorter than the refused transaction.
        disk.set_room(8 << 20);
        write(&engine, "small", upsert(0)).unwrap();
        let crashed = disk.image();
        crashed.lose_power(|| true);
        assert_eq!(numbers(&open(&crashed, 1 << 30)), (0..=last).collect());
        write(&engine, "small", delete()).unwrap();
    }
}

#[test]
fn a_refused_group_restores_what_it_changed_besides_rows() {
    let disk = Arc::new(SimDisk::without_reserve());
    let engine = with_table(open(&disk, 1 << 30));
    write(&engine, "1", insert(1)).unwrap();
    wait(engine.checkpoint()).unwrap();
    // The space reserved by the journal is used up first.
    disk.set_room(0);
    fill(&engine, 2);
    while write(&engine, "1", upsert(1)).is_ok() {}
    disk.set_room(0);
    assert_eq!(wait(engine.delete_table(&employees())).unwrap_err().code(), ErrorCode::DiskFull);
    assert_eq!(wait(engine.create_table(&name("Other"))).unwrap_err().code(), ErrorCode::DiskFull);
    assert_eq!(number(&engine, "1"), Some(1));
    disk.mend();
    wait(engine.create_table(&name("Other"))).unwrap();
    wait(engine.checkpoint()).unwrap();
    wait(engine.checkpoint()).unwrap();
    assert_eq!(number(&engine, "1"), Some(1));
    drop(engine);
    assert_eq!(number(&open(&disk, 1 << 30), "1"), Some(1));
}

#[test]
fn overwrites_on_a_small_disk_continue_without_a_request() {
    for (checkpoint_bytes, room) in [(1 << 30, 8 << 20), (48 << 20, 20 << 20), (2 << 20, 8 << 20)] {
        let disk = Arc::new(SimDisk::default());
        let engine = with_table(open(&disk, checkpoint_bytes));
        disk.set_room(room);
        let mut refused = 0;
        for n in 0..2_000 {
            let row = properties(&[("N", Value::Int32(n)), ("Bytes", Value::Binary(vec![7; 30_000]))]);
            while let Err(error) = write(&engine, "1", OperationKind::InsertOrReplace(row.clone())) {
                assert_eq!(error.code(), ErrorCode::DiskFull, "{error}");
                refused += 1;
                assert!(refused < 100, "{n} writes with {checkpoint_bytes}: {error}");
            }
            assert_eq!(number(&engine, "1"), Some(n));
        }
    }
}

#[test]
fn a_folder_with_a_due_checkpoint_opens_on_a_full_disk_and_is_read() {
    let disk = Arc::new(SimDisk::without_reserve());
    let engine = with_table(open(&disk, 1 << 30));
    for n in 1..20 {
        write(&engine, &format!("{n:04}"), padded(n)).unwrap();
    }
    drop(engine);
    for room in [0, 20] {
        disk.set_room(room);
        let engine = open(&disk, 100_000);
        assert_eq!(numbers(&engine), (1..20).collect());
        let error = wait(engine.checkpoint()).unwrap_err();
        assert_eq!(error.code(), ErrorCode::DiskFull, "{error}");
        // Memory use is limited even if the journal has reserved space.
        assert_eq!(write(&engine, "more", insert(20)).unwrap_err().code(), ErrorCode::DiskFull);
        disk.mend();
        write(&engine, "more", upsert(20)).unwrap();
        wait(engine.checkpoint()).unwrap();
        assert_eq!(numbers(&engine).len(), 20);
        write(&engine, "more", delete()).unwrap();
        drop(engine);
        // When the engine is opened, the checkpoint is due again.
        let engine = open(&disk, 1 << 30);
        for n in 1..20 {
            write(&engine, &format!("{n:04}"), delete()).unwrap();
            write(&engine, &format!("{n:04}"), padded(n)).unwrap();
        }
    }
}

#[test]
fn a_reserve_that_could_not_be_created_is_created_before_a_later_write() {
    let disk = Arc::new(SimDisk::without_reserve());
    let engine = with_table(open(&disk, 1 << 30));
    disk.allow_reserve();
    write(&engine, "1", insert(1)).unwrap();
    let reserve = disk.open("/sim/RESERVE".as_ref(), false).unwrap();
    assert!(reserve.len().unwrap() >= 2 << 20);
}

#[test]
fn a_folder_opens_on_a_full_disk_that_copies_on_write() {
    let disk = Arc::new(SimDisk::copying_on_write());
    let engine = with_table(open(&disk, 1 << 30));
    for n in 1..20 {
        write(&engine, &format!("{n:04}"), padded(n)).unwrap();
    }
    // The open after a crash overwrites the last frames.
    let crashed = disk.image();
    crashed.set_room(0);
    let engine = open(&crashed, 1 << 30);
    assert_eq!(numbers(&engine), (1..20).collect());
    write(&engine, "0001", delete()).unwrap();
    wait(engine.close()).unwrap();
}

#[test]
fn a_flush_without_disk_space_is_retried_and_poisons_nothing() {
    let disk = Arc::new(SimDisk::without_reserve());
    let engine = with_table(open(&disk, 1 << 30));
    for n in 1..20 {
        write(&engine, &format!("{n:04}"), padded(n)).unwrap();
    }
    for room in [100, 50_000, 300_000] {
        disk.set_room(room);
        let error = wait(engine.checkpoint()).unwrap_err();
        assert_eq!(error.code(), ErrorCode::DiskFull, "{error}");
        assert_eq!(numbers(&engine), (1..20).collect());
        let crashed = disk.image();
        crashed.lose_power(|| true);
        crashed.mend();
        assert_eq!(numbers(&open(&crashed, 1 << 30)), (1..20).collect());
        disk.mend();
        // The first call may fail, because it joins an attempt that began before space became available.
        wait(engine.checkpoint()).or_else(|_| wait(engine.checkpoint())).unwrap();
        for n in 1..20 {
            write(&engine, &format!("{n:04}"), delete()).unwrap();
            write(&engine, &format!("{n:04}"), padded(n)).unwrap();
        }
    }
    wait(engine.compact()).unwrap();
    drop(engine);
    assert_eq!(numbers(&open(&disk, 1 << 30)), (1..20).collect());
}

/// Tests a merge that finds a corrupted block on a full disk. Without free space, the block's position cannot be recorded. This must not poison the engine.
#[test]
fn a_broken_block_found_on_a_full_disk_poisons_nothing() {
    let disk = Arc::new(SimDisk::without_reserve());
    let engine = with_table(open(&disk, 1 << 30));
    (1..20).for_each(|n| drop(write(&engine, &format!("{n:04}"), padded(n)).unwrap()));
    wait(engine.checkpoint()).unwrap();
    wait(engine.close()).unwrap();
    let run = disk.open("/sim/0000000001.rows".as_ref(), false).unwrap();
    run.write_at(100, &[0xEE]).unwrap();

    let engine = open(&disk, 1 << 30);
    write(&engine, "0019", delete()).unwrap();
    wait(engine.checkpoint()).unwrap();
    disk.set_room(0);
    assert_eq!(wait(engine.compact()).unwrap_err().code(), ErrorCode::DiskFull);
    disk.mend();
    write(&engine, "0020", padded(20)).unwrap();
    // Either this compaction finds the corruption, or the previous one found it when it was retried.
    let outcome = wait(engine.compact());
    assert!(outcome.is_ok() || outcome.is_err_and(|error| error.code() == ErrorCode::Corrupted));
    assert!(!engine.verify().unwrap().is_whole());
    write(&engine, "0021", padded(21)).unwrap();
}

#[test]
fn a_rotation_without_disk_space_leaves_a_working_journal() {
    // The header of a journal file does not fit into this space.
    for room in 0..i64::try_from(HEADER).unwrap() {
        let disk = Arc::new(SimDisk::without_reserve());
        let engine = with_table(open(&disk, 1 << 30));
        write(&engine, "1", insert(1)).unwrap();
        disk.set_room(room);
        assert_eq!(wait(engine.checkpoint()).unwrap_err().code(), ErrorCode::DiskFull);
        // The journal has already reserved space for this write.
        write(&engine, "2", insert(2)).unwrap();
        for seed in 0..2 {
            let crashed = disk.image();
            crashed.lose_power(|| seed > 0);
            assert_eq!(numbers(&open(&crashed, 1 << 30)), BTreeSet::from([1, 2]), "room {room}");
        }
    }
}

/// Repeats an action on a disk with increasing free space until it succeeds. Every earlier error must be `DiskFull`.
fn with_ever_more_room(disk: &SimDisk, what: impl Fn(i64) -> Result<()>) {
    let enough = (0..40).chain((40..).step_by(200_000)).find(|&room| {
        disk.set_room(room);
        match what(room) {
            Ok(()) => true,
            Err(error) => {
                assert_eq!(error.code(), ErrorCode::DiskFull, "{room} bytes of room: {error}");
                false
            }
        }
    });
    assert!(enough > Some(0));
    disk.mend();
}

#[test]
fn a_new_folder_a_backup_and_a_restore_report_a_full_disk() {
    let disk = Arc::new(SimDisk::without_reserve());
    let on: Arc<dyn Disk> = disk.clone();
    let options = || EngineOptions::new().disk(on.clone());
    let engine = with_table(open(&disk, 1 << 30));
    for n in 1..20 {
        write(&engine, &format!("{n:04}"), padded(n)).unwrap();
    }
    wait(engine.checkpoint()).unwrap();
    with_ever_more_room(&disk, |room| options().open(format!("/new{room}")).map(drop));
    with_ever_more_room(&disk, |_| wait(engine.backup("/backup")).map(drop));
    with_ever_more_room(&disk, |room| options().restore("/backup", format!("/restored{room}")).map(drop));
    options().restore("/backup", "/restored").unwrap();
    assert_eq!(numbers(&options().open("/restored").unwrap()), (1..20).collect());
}

#[test]
fn operations_that_free_space_work_on_a_full_disk() {
    let disk = Arc::new(SimDisk::default());
    let engine = with_table(open(&disk, 1 << 20));
    wait(engine.create_table(&name("Other"))).unwrap();
    disk.set_room(12 << 20);
    let (last, error) = fill(&engine, 1);
    assert_eq!(error.code(), ErrorCode::DiskFull, "{error}");
    // An engine can be opened on a full disk, and its data can then be reduced.
    wait(engine.close()).unwrap();
    let engine = open(&disk, 1 << 20);
    for n in 1..last {
        write(&engine, &format!("{n:04}"), delete()).unwrap();
    }
    wait(engine.delete_table(&name("Other"))).unwrap();
    wait(engine.compact()).unwrap();
    for n in last + 1..last + 20 {
        write(&engine, &format!("{n:04}"), padded(n)).unwrap();
    }
    assert_eq!(numbers(&engine), (last..last + 20).collect());
    let crashed = disk.image();
    crashed.lose_power(|| true);
    assert_eq!(numbers(&open(&crashed, 1 << 20)), (last..last + 20).collect());
}

#[test]
fn whole_tables_can_be_deleted_on_a_full_disk_and_free_their_space() {
    let disk = Arc::new(SimDisk::default());
    let engine = with_table(open(&disk, 1 << 20));
    disk.set_room(12 << 20);
    let (last, error) = fill(&engine, 1);
    assert_eq!(error.code(), ErrorCode::DiskFull, "{error}");
    wait(engine.delete_table(&employees())).unwrap();
    eventually("space is free again", || wait(engine.create_table(&employees())).is_ok());
    eventually("a row is written", || write(&engine, "0000", padded(0)).is_ok());
    assert!(last > 20);
    assert_eq!(numbers(&engine), BTreeSet::from([0]));
}

#[test]
fn tables_deleted_on_a_full_disk_free_space_while_others_stay() {
    let disk = Arc::new(SimDisk::default());
    let engine = with_table(open(&disk, 1 << 20));
    let names: Vec<TableName> = (0..8).map(|n| name(&format!("Log{n}"))).collect();
    for name in &names {
        wait(engine.create_table(name)).unwrap();
    }
    disk.set_room(16 << 20);
    let put = |n: usize| {
        let row = format!("{n:04}");
        let operations = vec![(row.as_str(), padded(0))];
        wait(engine.submit(&names[n / 10 % 8], transaction("Sales", operations)))
    };
    let (full, error) = (0..).find_map(|n| put(n).err().map(|error| (n, error))).unwrap();
    assert_eq!(error.code(), ErrorCode::DiskFull, "{error}");
    assert!(full > 100, "{full}");
    for name in &names[..3] {
        wait(engine.delete_table(name)).unwrap();
    }
    // A new row is written to a remaining table.
    eventually("space is free again", || put(9_670).is_ok());
    wait(engine.compact()).unwrap();
    let crashed = disk.image();
    crashed.lose_power(|| true);
    let reopened = open(&crashed, 1 << 20);
    assert_eq!(wait(reopened.list_tables("", None, 10)).unwrap().names.len(), 6);
    assert!(reopened.verify().unwrap().is_whole());
}

#[test]
fn close_frees_the_unused_space_of_the_journal() {
    let folder = tempfile::tempdir().unwrap();
    let open = || {
        EngineOptions::new().checkpoint_bytes(1 << 20).memtable_bytes(2 << 20).open(folder.path()).unwrap()
    };
    let journal = || -> u64 {
        let files = std::fs::read_dir(folder.path()).unwrap().map(Result::unwrap);
        let of_journal =
            files.filter(|file| file.file_name().to_str().and_then(crate::journal::file::number).is_some());
        of_journal.map(|file| file.metadata().unwrap().len()).sum()
    };
    let engine = with_table(open());
    for n in 0..100 {
        write(&engine, &format!("{n:04}"), padded(n)).unwrap();
    }
    pollster::block_on(engine.checkpoint()).unwrap();
    write(&engine, "0100", padded(100)).unwrap();
    pollster::block_on(engine.close()).unwrap();
    assert!((30_000..31_000).contains(&journal()), "the frames of one row, not {} bytes", journal());

    let engine = open();
    assert_eq!(numbers(&engine), (0..=100).collect());
    pollster::block_on(engine.checkpoint()).unwrap();
    pollster::block_on(engine.close()).unwrap();
    assert!(journal() < 1_000, "a journal without frames, not {} bytes", journal());
    assert_eq!(numbers(&open()), (0..=100).collect());
}

#[test]
fn close_frees_the_reserve_for_frames_that_the_journal_no_longer_has() {
    let folder = tempfile::tempdir().unwrap();
    let open = || {
        EngineOptions::new().checkpoint_bytes(4 << 20).memtable_bytes(8 << 20).open(folder.path()).unwrap()
    };
    let reserve = || std::fs::metadata(folder.path().join("RESERVE")).unwrap().len();
    let engine = with_table(open());
    for n in 0..100 {
        write(&engine, &format!("{n:04}"), padded(n)).unwrap();
    }
    let used = reserve();
    assert!(used > 5_000_000, "{used}");
    // The journal still contains the frames, so the reserve keeps its size.
    pollster::block_on(engine.close()).unwrap();
    let kept = reserve();
    assert!((5_000_000..=used).contains(&kept), "{kept}");

    let engine = open();
    pollster::block_on(engine.checkpoint()).unwrap();
    pollster::block_on(engine.close()).unwrap();
    assert!(reserve() < (2 << 20) + 1_000, "the smallest reserve, not {} bytes", reserve());
    assert_eq!(numbers(&open()), (0..100).collect());
}
