//! Tests that a flipped bit in the base's files makes only the rows at that position unreadable, and never causes an incorrect result.

use std::collections::BTreeSet;

use super::*;
use crate::key::SplitKey;
use crate::tests::sim::SimDisk;

/// Returns a folder and the expected rows of its base. The base has several segments, some of them with several layers.
fn folder() -> (tempfile::TempDir, Model) {
    let folder = tempfile::tempdir().unwrap();
    let mut base = base(folder.path());
    let mut model = Model::new();
    let mut flush = |numbers: &[u16], bytes: Option<u16>| {
        let row = |n: u16| bytes.map(|bytes| row_of(u64::from(n) + u64::from(bytes), bytes));
        let keys: Vec<_> = numbers.iter().map(|n| (key_of(1, *n), row(*n))).collect();
        base.flush(keys.iter().map(|(key, row)| (key.as_slice(), row.as_ref().map(Row::view))), meta(&[1]))
            .unwrap();
        for n in numbers {
            match row(*n) {
                Some(row) => model.insert(*n, row),
                None => model.remove(n),
            };
        }
    };
    flush(&(0..60).collect::<Vec<_>>(), Some(50));
    flush(&[7, 30, 31], Some(20));
    flush(&[8, 31, 59], None);
    assert!(base.version.segments().len() > 1);
    (folder, model)
}

/// Reads key ranges in the base's only table, and in tables without rows. `broken` is the corrupted file. A read may fail only if its range overlaps the keys
/// of the run in this file.
fn read_ranges(base: &Base, model: &Model, broken: &str) {
    let (view, runs) = (base.view(), base.version.runs());
    let broken = runs.iter().find(|run| pool::name(run.number) == broken).unwrap();
    let ends = [0, 8, 31, 60, 500];
    let within = |start: u16| ends.into_iter().filter(move |end| *end > start).map(move |end| (start, end));
    let ranges = ends.into_iter().flat_map(within).map(|(start, end)| (1, start, end));
    for (table, start, end) in ranges.chain([(0, 0, 500), (2, 0, 500)]) {
        let span = Span { start: key_of(table, start), end: key_of(table, end) };
        let mut found = Vec::new();
        let visit = |key: SplitKey<'_>, row: Option<RowView<'_>>| {
            found.extend(row.map(|row| (key.to_vec(), row.to_row())));
            Ok(ControlFlow::Continue(()))
        };
        let outcome = view.range(&span).and_then(|mut cursor| cursor.visit(None, visit));
        let rows = model.range(start..end).filter(|_| table == 1);
        match outcome {
            Ok(_) => assert!(found.into_iter().eq(rows.map(|(n, row)| (key_of(1, *n), row.clone())))),
            Err(error) => {
                let is_met = *broken.last >= *span.start && *broken.first < *span.end;
                assert!(is_met && error.code() == ErrorCode::Corrupted, "{table}, {start}..{end}: {error}");
            }
        }
    }
}

/// Reads every key. Each result must be the expected row, or an error with the position of the corruption.
fn read(base: &Base, model: &Model) -> Vec<u16> {
    let view = base.view();
    let mut lost = Vec::new();
    for n in 0..60 {
        match view.get(&key_of(1, n)) {
            Ok(row) => assert_eq!(row, model.get(&n).cloned(), "{n}"),
            Err(error) => {
                assert_eq!(error.code(), ErrorCode::Corrupted, "{error}");
                assert!(error.to_string().contains(".rows of "), "{error}");
                lost.push(n);
            }
        }
    }
    let mut found = Vec::new();
    let mut cursor = match view.range(&Span::table(1)) {
        Ok(cursor) => cursor,
        Err(error) => {
            assert!(error.code() == ErrorCode::Corrupted && !lost.is_empty(), "{error}");
            return lost;
        }
    };
    let visit = |key: SplitKey<'_>, row: Option<RowView<'_>>| {
        found.extend(row.map(|row| (key.to_vec(), row.to_row())));
        Ok(ControlFlow::Continue(()))
    };
    let outcome = cursor.visit(None, visit);
    let wanted: Vec<_> = model.iter().map(|(n, row)| (key_of(1, *n), row.clone())).collect();
    assert!(wanted.starts_with(&found), "rows before the error");
    match outcome {
        Ok(_) => assert_eq!(found, wanted),
        Err(error) => assert!(error.code() == ErrorCode::Corrupted && !lost.is_empty(), "{error}"),
    }
    lost
}

#[test]
fn a_flipped_bit_costs_at_most_its_block_and_is_never_merged_away() {
    let (folder, model) = folder();
    let names: Vec<String> = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .filter(|name| pool::number(name).is_some())
        .collect();
    assert!(names.len() >= 4, "{names:?}");
    for name in &names {
        let path = folder.path().join(name);
        let whole = std::fs::read(&path).unwrap();
        for at in 0..whole.len() {
            let mut broken = whole.clone();
            broken[at] ^= 1 << (at % 8);
            std::fs::write(&path, &broken).unwrap();
            let base = Base::open(&place(folder.path())).unwrap();
            read_ranges(&base, &model, name);
            let lost = read(&base, &model);
            assert!(lost.len() < 60, "{name}, byte {at}: a run is not the folder");
            let verified = base.view().verify();
            assert!(!verified.is_whole(), "{name}, byte {at}");
            assert!(verified.damage.iter().all(|error| error.to_string().contains(name.as_str())));
        }
        std::fs::write(&path, &whole).unwrap();
    }
    assert!(Base::open(&place(folder.path())).unwrap().view().verify().is_whole());
}

/// Tests a block that was already corrupted when its checksum was computed, for example by faulty memory. The salvaged copy must be valid, because a restore
/// verifies it.
#[test]
fn a_row_that_was_written_damaged_is_reported_as_lost_with_its_block() {
    let (folder, copy) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let damaged = 30;
    let rows: Vec<_> = (0..60)
        .map(|n| {
            let row = row_of(1, 50);
            let bytes: Vec<u8> = if n == damaged { vec![250; 40] } else { row.as_bytes().to_vec() };
            (key_of(1, n), Row::from_bytes(bytes.into()))
        })
        .collect();
    let mut base = base(folder.path());
    base.flush(rows.iter().map(|(key, row)| (key.as_slice(), Some(row.view()))), meta(&[1])).unwrap();
    let view = base.view();
    assert!(!view.verify().is_whole());
    let disk = place(copy.path()).disk;
    let (_, lost) = view.salvage_to(&disk, copy.path()).unwrap();
    let is_lost = |n: u16| lost.iter().any(|lost| (&*lost.first..=&*lost.last).contains(&&*key_of(1, n)));
    assert!(is_lost(damaged));
    let salvaged = Base::open(&place(copy.path())).unwrap().view();
    assert!(salvaged.verify().is_whole(), "{:?}", salvaged.verify());
    for n in 0..60 {
        assert_eq!(salvaged.get(&key_of(1, n)).unwrap().is_some(), !is_lost(n), "{n}");
    }
    assert!((0..60).any(|n| !is_lost(n)));
}

/// Tests that a flush succeeds even if an index is unreadable. A flush reads indexes to find out whether rows are adjacent.
#[test]
fn rows_flushed_next_to_a_run_with_a_broken_index_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let row = row_of(1, 10);
    put(&mut base(folder.path()), &key_of(1, 500), Some(&row));
    let path = folder.path().join("0000000001.rows");
    let mut broken = std::fs::read(&path).unwrap();
    let index = broken.len() - 60;
    broken[index] ^= 4;
    std::fs::write(&path, &broken).unwrap();
    let mut base = Base::open(&place(folder.path())).unwrap();
    for n in [900, 901, 100] {
        put(&mut base, &key_of(1, n), Some(&row));
        assert!(base.view().get(&key_of(1, n)).unwrap().is_some());
    }
    assert_eq!(base.view().get(&key_of(1, 500)).unwrap_err().code(), ErrorCode::Corrupted);
}

#[test]
fn a_merge_keeps_broken_blocks_unchanged_and_merges_the_rest() {
    // The corruption is in the header, in the first block, or in the index.
    for place_of in [|_| 3, |_| 30, |length: usize| length - 60] {
        let (folder, model) = folder();
        let path = folder.path().join("0000000001.rows");
        let mut broken = std::fs::read(&path).unwrap();
        let at = place_of(broken.len());
        broken[at] ^= 4;
        std::fs::write(&path, &broken).unwrap();
        let mut base = Base::open(&place(folder.path())).unwrap();
        let lost = read(&base, &model);
        assert!(!lost.is_empty());
        // Further writes add layers, including one with a row in the corrupted range.
        put(&mut base, &key_of(1, lost[0]), model.get(&lost[0]));
        let lost = read(&base, &model);
        base.merge_all();
        let mut failures = 0;
        loop {
            match base.merge().unwrap() {
                Merged::Apart(error) => {
                    assert_eq!(error.code(), ErrorCode::Corrupted);
                    failures += 1;
                }
                Merged::All => break,
                Merged::Failed(error) => panic!("{error}"),
                Merged::Slice | Merged::Nothing => {}
            }
        }
        assert!(failures > 0);
        assert_eq!(read(&base, &model), lost, "neither mended nor spread");
        let base = Base::open(&place(folder.path())).unwrap();
        assert_eq!(read(&base, &model), lost, "nor after it was opened again");
        assert!(!base.view().verify().is_whole());
    }
}

/// Opens the base in [`folder`] after changing a byte of its first run, either in the first block or in the index.
fn broken(folder: &Path, disk: &Arc<SimDisk>, place_of: impl Fn(usize) -> usize) -> Base {
    let path = folder.join("0000000001.rows");
    let file = disk.open(&path, false).unwrap();
    let mut byte = [0];
    let at = place_of(usize::try_from(file.len().unwrap()).unwrap()) as u64;
    file.read_at(at, &mut byte).unwrap();
    file.write_at(at, &[byte[0] ^ 4]).unwrap();
    Base::open(&on_disk(folder, disk)).unwrap()
}

fn on_disk(folder: &Path, disk: &Arc<SimDisk>) -> Place {
    let disk: Arc<dyn Disk> = disk.clone();
    Place { disk, ..place(folder) }
}

/// Creates a base with rows on a simulated disk.
fn simulated() -> (&'static Path, Arc<SimDisk>) {
    let (folder, disk) = (Path::new("/sim"), Arc::new(SimDisk::without_reserve()));
    disk.create_dir(folder).unwrap();
    let mut base = Base::create(&on_disk(folder, &disk), meta(&[1])).unwrap();
    flush(&mut base, 0..60, Some(50));
    (folder, disk)
}

#[test]
fn layers_above_a_broken_block_are_merged_and_bounded() {
    for place_of in [|_| 30, |length: usize| length - 60] {
        let (folder, disk) = simulated();
        let mut base = broken(folder, &disk, place_of);
        let mut apart = 0;
        for round in 0..200 {
            // Rows 0 to 19 are in the corrupted block.
            let numbers: BTreeSet<u16> = (0..3).map(|n| (n * 7 + round) % 20).collect();
            flush(&mut base, numbers.iter().copied(), Some(round % 50));
            while base.debt() != Debt::None {
                match base.merge().unwrap() {
                    Merged::Apart(_) => apart += 1,
                    Merged::Failed(error) => panic!("{error}"),
                    _ => {}
                }
            }
            let deepest = base.version.segments().iter().map(|segment| segment.layers.len()).max();
            assert!(deepest <= Some(policy::LAYERS), "round {round}: {deepest:?}");
            for n in numbers {
                assert_eq!(base.view().get(&key_of(1, n)).unwrap(), Some(row_of(7, round % 50)));
            }
            base.remove_obsolete();
        }
        assert!(apart > 0);
        // A compaction reads the isolated run again, and finds that it is corrupted.
        base.merge_all();
        assert!(matches!(base.merge().unwrap(), Merged::Apart(_)));
    }
}

/// Tests a corrupted block that is found while the disk is full. Without free space, the block's segment cannot be recorded, so the block must be found again
/// later.
#[test]
fn a_broken_block_found_on_a_full_disk_is_found_again_later() {
    let (folder, disk) = simulated();
    let mut base = broken(folder, &disk, |_| 30);
    flush(&mut base, [2], Some(9));
    base.merge_all();
    disk.set_room(0);
    for _ in 0..3 {
        let Merged::Failed(error) = base.merge().unwrap() else { panic!("not refused") };
        assert_eq!(error.code(), ErrorCode::DiskFull, "{error}");
    }
    disk.mend();
    let Merged::Apart(error) = base.merge().unwrap() else { panic!("not set apart") };
    assert_eq!(error.code(), ErrorCode::Corrupted, "{error}");
    assert!((0..20).any(|_| matches!(base.merge().unwrap(), Merged::All)));
    assert_eq!(base.view().get(&key_of(1, 2)).unwrap(), Some(row_of(7, 9)));
}

#[test]
fn the_base_file_survives_any_flipped_bit_but_not_two_broken_copies() {
    let (folder, model) = folder();
    let path = folder.path().join(BASE);
    let whole = std::fs::read(&path).unwrap();
    for at in 0..whole.len() {
        let mut broken = whole.clone();
        broken[at] ^= 1 << (at % 8);
        std::fs::write(&path, &broken).unwrap();
        let base = Base::open(&place(folder.path())).unwrap();
        assert_eq!(read(&base, &model), [0_u16; 0], "byte {at}");
        assert_eq!(base.view().verify().damage.len(), 1, "byte {at}");
    }
    for length in 0..whole.len() {
        std::fs::write(&path, &whole[..length]).unwrap();
        match Base::open(&place(folder.path())) {
            Ok(base) => assert_eq!(read(&base, &model), [0_u16; 0], "{length} bytes"),
            Err(error) => assert_eq!(error.code(), ErrorCode::Corrupted, "{length} bytes"),
        }
    }
    let mut broken = whole.clone();
    broken[40] ^= 1;
    broken[40 + whole.len() / 2] ^= 1;
    std::fs::write(&path, &broken).unwrap();
    let error = Base::open(&place(folder.path())).map(drop).unwrap_err();
    assert!(
        error.code() == ErrorCode::Corrupted && error.to_string().contains("BASE is damaged at byte"),
        "{error}"
    );
}

#[test]
fn a_missing_short_or_swapped_run_is_corrupted() {
    let (folder, model) = folder();
    let (path, other) = (folder.path().join("0000000001.rows"), folder.path().join("0000000002.rows"));
    let whole = std::fs::read(&path).unwrap();
    let check = |what: &str| {
        let base = Base::open(&place(folder.path())).unwrap();
        assert!(!read(&base, &model).is_empty(), "{what}");
        assert!(!base.view().verify().is_whole(), "{what}");
    };
    std::fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    check("cut");
    std::fs::write(&path, std::fs::read(&other).unwrap()).unwrap();
    check("another run's bytes");
    std::fs::remove_file(&path).unwrap();
    check("missing");
}
