//! Tests of backups. A backup taken during writes is complete, and a later backup copies only new data. An interrupted or corrupted backup is never accepted as
//! complete.

use proptest::prelude::*;

use super::images::ImagingDisk;
use super::sim::SimDisk;
use super::*;
use crate::disk::Disk;

#[test]
fn a_backup_contains_earlier_acknowledged_writes_and_whole_transactions() {
    let (folder, copies) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let engine = on_disk(folder.path());
    for n in 0..20 {
        submit(&engine, "Sales", vec![("a", upsert(n)), ("b", upsert(n)), (&format!("{n:03}"), upsert(n))])
            .unwrap();
    }
    write(&engine, "007", delete()).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for n in 20..60 {
                submit(&engine, "Sales", vec![("a", upsert(n)), ("b", upsert(n))]).unwrap();
            }
        });
        for n in 0..3 {
            wait(engine.backup(copies.path().join(n.to_string()))).unwrap();
        }
    });
    for n in 0..3 {
        let restored = copies.path().join(format!("restored {n}"));
        let report = options().restore(copies.path().join(n.to_string()), &restored).unwrap();
        assert!(report.copied_files > 0 && report.kept_files == 0, "{report:?}");
        let copy = on_disk(&restored);
        assert!(copy.verify().unwrap().is_whole());
        let (a, b) = (number(&copy, "a").unwrap(), number(&copy, "b").unwrap());
        assert!(a == b && a >= 19, "{a} and {b}");
        assert_eq!(all(&copy).len(), 21);
        // The restored folder can be written to like any other.
        write(&copy, "007", insert(7)).unwrap();
        wait(copy.compact()).unwrap();
        drop(copy);
        assert_eq!(all(&on_disk(&restored)).len(), 22);
        // An engine's folder cannot be used as a backup, and a backup cannot be opened as an engine's folder.
        let error = wait(engine.backup(&restored)).unwrap_err();
        assert_eq!(error.code(), ErrorCode::FolderNotOurs);
        assert_eq!(Engine::open(copies.path().join(n.to_string())).unwrap_err().code(), ErrorCode::ReadOnly);
    }
    assert_eq!(
        wait(in_memory().backup(copies.path().join("9"))).unwrap_err().code(),
        ErrorCode::InvalidInput
    );
}

#[test]
fn broken_rows_are_not_copied_as_if_they_were_intact() {
    let (folder, copy) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let engine = on_disk(folder.path());
    write(&engine, "1", insert(1)).unwrap();
    wait(engine.checkpoint()).unwrap();
    drop(engine);
    let run = folder.path().join("0000000001.rows");
    let mut bytes = std::fs::read(&run).unwrap();
    bytes[40] ^= 1;
    std::fs::write(&run, &bytes).unwrap();
    let engine = on_disk(folder.path());
    assert_eq!(wait(engine.backup(copy.path())).unwrap_err().code(), ErrorCode::Corrupted);
    let restored = copy.path().join("restored");
    assert_eq!(Engine::restore(copy.path(), restored).unwrap_err().code(), ErrorCode::FolderNotOurs);
}

/// Opens an engine with a very small checkpoint threshold. A few large rows, such as those written by `pad`, then fill a run.
fn padded(disk: &Arc<dyn Disk>, folder: &str) -> Engine {
    with_table(EngineOptions::new().disk(disk.clone()).checkpoint_bytes(6_000).open(folder).unwrap())
}

fn pad(engine: &Engine, numbers: std::ops::Range<i32>) {
    for n in numbers {
        let pad = properties(&[("N", Value::Int32(n)), ("Bytes", Value::Binary(vec![7; 900]))]);
        write(engine, &format!("{n:04}"), OperationKind::InsertOrReplace(pad)).unwrap();
    }
    wait(engine.checkpoint()).unwrap();
}

fn restored(disk: &Arc<dyn Disk>, from: &str, to: &str) -> Result<Vec<i32>> {
    EngineOptions::new().disk(disk.clone()).restore(from, to)?;
    let engine = EngineOptions::new().disk(disk.clone()).open(to)?;
    assert!(engine.verify().unwrap().is_whole());
    Ok(all(&engine).into_iter().map(|(_, _, n)| n).collect())
}

#[test]
fn a_later_backup_copies_new_files_and_removes_unneeded_ones() {
    let disk: Arc<dyn Disk> = Arc::new(SimDisk::default());
    let engine = padded(&disk, "/engine");
    pad(&engine, 0..40);
    let first = wait(engine.backup("/backup")).unwrap();
    assert!(first.copied_files >= 3 && first.kept_files == 0, "{first:?}");
    let nothing = wait(engine.backup("/backup")).unwrap();
    assert_eq!((nothing.copied_files, nothing.kept_bytes), (0, first.copied_bytes));
    pad(&engine, 40..44);
    let second = wait(engine.backup("/backup")).unwrap();
    assert!(second.copied_bytes > 0 && second.copied_bytes < first.copied_bytes, "{second:?}");
    assert!(second.kept_files > 0, "{second:?}");
    wait(engine.compact()).unwrap();
    wait(engine.delete_table(&employees())).unwrap();
    wait(engine.create_table(&employees())).unwrap();
    pad(&engine, 100..103);
    wait(engine.compact()).unwrap();
    let third = wait(engine.backup("/backup")).unwrap();
    assert!(third.removed_files > 3, "{third:?}");
    assert_eq!(restored(&disk, "/backup", "/restored").unwrap(), [100, 101, 102]);
    // The restored engine continues to work, and can make its own backups.
    let engine = padded(&disk, "/restored");
    wait(engine.backup("/next")).unwrap();
    pad(&engine, 103..110);
    assert!(wait(engine.backup("/next")).unwrap().kept_files > 0);
    assert_eq!(restored(&disk, "/next", "/again").unwrap(), (100..110).collect::<Vec<_>>());
}

#[test]
fn a_power_loss_during_a_backup_leaves_the_earlier_or_the_new_one_intact() {
    let sim = Arc::new(SimDisk::default());
    let imaging = Arc::new(ImagingDisk::new(sim.clone()));
    let disk: Arc<dyn Disk> = imaging.clone();
    let engine = padded(&disk, "/engine");
    pad(&engine, 0..20);
    wait(engine.backup("/backup")).unwrap();
    let old: Vec<i32> = (0..20).collect();
    // Merges and updates replace runs.
    pad(&engine, 10..24);
    wait(engine.compact()).unwrap();
    imaging.take();
    let report = wait(engine.backup("/backup")).unwrap();
    assert!(report.copied_files > 0 && report.removed_files > 0, "{report:?}");
    let images = imaging.take();
    let new: Vec<i32> = (0..24).collect();
    let mut seen = [0, 0];
    for (at, image) in images.iter().enumerate() {
        for seed in 0..4 {
            let crashed = image.image();
            let mut state = (at * 4 + seed) * 2_654_435_769 + 1;
            crashed.lose_power(|| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                seed > 0 && state >> 33 & 1 == 0
            });
            let disk: Arc<dyn Disk> = crashed;
            let found = restored(&disk, "/backup", "/restored").unwrap();
            assert!(found == old || found == new, "call {at}, seed {seed}: {found:?}");
            seen[usize::from(found == new)] += 1;
            // The next backup is complete, whatever files an interrupted backup has left.
            let engine = padded(&disk, "/engine");
            wait(engine.backup("/backup")).unwrap();
            let found = restored(&disk, "/backup", "/next").unwrap();
            assert_eq!(found, new, "call {at}, seed {seed}: the next backup");
        }
    }
    assert!(images.len() > 12 && seen[0] > 0 && seen[1] > 0, "{} calls, {seen:?}", images.len());
}

#[test]
fn a_power_loss_during_a_first_backup_or_restore_leaves_no_false_copy() {
    let sim = Arc::new(SimDisk::default());
    let imaging = Arc::new(ImagingDisk::new(sim.clone()));
    let disk: Arc<dyn Disk> = imaging.clone();
    let engine = padded(&disk, "/engine");
    pad(&engine, 0..20);
    wait(engine.backup("/a/backup")).unwrap();
    let wanted: Vec<i32> = (0..20).collect();
    for image in imaging.take() {
        image.lose_power(|| false);
        let disk: Arc<dyn Disk> = image;
        match restored(&disk, "/a/backup", "/restored") {
            Ok(found) => assert_eq!(found, wanted),
            Err(error) => assert_eq!(error.code(), ErrorCode::FolderNotOurs, "{error}"),
        }
    }
    drop(engine);
    EngineOptions::new().disk(disk).restore("/a/backup", "/b/restored").unwrap();
    let mut refused = 0;
    for image in imaging.take() {
        let names = image.list(Path::new("/b/restored")).unwrap_or_default();
        let began = names.iter().any(|name| is_run(name));
        image.lose_power(|| false);
        let disk: Arc<dyn Disk> = image;
        match EngineOptions::new().disk(disk.clone()).open("/b/restored") {
            // The interrupted backup has not written any content to the folder.
            Ok(engine) if wait(engine.list_tables("", None, 10)).unwrap().names.is_empty() => {
                assert!(!began, "a started backup opens as an empty engine");
                assert_eq!(engine.statistics().unwrap().runs, 0);
            }
            Ok(engine) => assert_eq!(all(&engine).len(), wanted.len()),
            Err(error) => {
                assert_eq!(error.code(), ErrorCode::FolderNotOurs, "{error}");
                refused += 1;
            }
        }
    }
    assert!(refused > 5, "{refused}");
}

fn is_run(name: &str) -> bool {
    name.starts_with('0')
}

#[test]
fn a_damaged_backup_is_not_restored_and_the_next_one_repairs_what_it_can() {
    let disk: Arc<dyn Disk> = Arc::new(SimDisk::default());
    let engine = padded(&disk, "/engine");
    pad(&engine, 0..20);
    wait(engine.backup("/backup")).unwrap();
    let names = disk.list(Path::new("/backup")).unwrap();
    let mut refused = 0;
    for name in names.iter().filter(|name| is_run(name) || *name == "BASE") {
        let file = disk.open(&Path::new("/backup").join(name), false).unwrap();
        for at in (0..file.len().unwrap()).step_by(977).chain([file.len().unwrap() - 1]) {
            let mut byte = [0];
            file.read_at(at, &mut byte).unwrap();
            file.write_at(at, &[byte[0] ^ 1]).unwrap();
            let folder = format!("/restored-{name}-{at}");
            match restored(&disk, "/backup", &folder) {
                // One intact copy of the base is sufficient.
                Ok(found) => assert!(name == "BASE" && found.len() == 20, "{name} at {at}"),
                Err(error) => {
                    assert_eq!(error.code(), ErrorCode::Corrupted, "{error}");
                    assert!(error.to_string().contains(&format!("{name} of /backup")), "{error}");
                    let opened = EngineOptions::new().disk(disk.clone()).open(&folder);
                    assert_eq!(opened.unwrap_err().code(), ErrorCode::FolderNotOurs);
                    refused += 1;
                }
            }
            file.write_at(at, &byte).unwrap();
        }
    }
    assert!(refused > 20, "{refused}");
    // A run whose index is lost is copied again.
    let name = names.iter().find(|name| is_run(name)).unwrap();
    let file = disk.open(&Path::new("/backup").join(name), false).unwrap();
    file.write_at(file.len().unwrap() - 8, &[0xAB; 8]).unwrap();
    assert!(restored(&disk, "/backup", "/broken").is_err());
    assert_eq!(wait(engine.backup("/backup")).unwrap().copied_files, 1);
    assert_eq!(restored(&disk, "/backup", "/whole").unwrap().len(), 20);
}

#[test]
fn a_backup_of_another_engine_or_of_the_engine_before_a_restore_is_not_overwritten() {
    let disk: Arc<dyn Disk> = Arc::new(SimDisk::default());
    let engine = padded(&disk, "/engine");
    pad(&engine, 0..10);
    wait(engine.backup("/early")).unwrap();
    pad(&engine, 10..20);
    wait(engine.backup("/late")).unwrap();
    let other = padded(&disk, "/other");
    pad(&other, 0..10);
    let refused = |engine: &Engine, folder: &str| {
        let error = wait(engine.backup(folder)).unwrap_err();
        assert_eq!(error.code(), ErrorCode::FolderNotOurs, "{error}");
        error.to_string()
    };
    assert!(refused(&other, "/late").contains("another engine"));
    // An older state is restored and written to, so run numbers are reused.
    restored(&disk, "/early", "/restored").unwrap();
    let restored_engine = padded(&disk, "/restored");
    assert!(refused(&restored_engine, "/late").contains("another engine, such as"));
    pad(&restored_engine, 30..80);
    assert!(refused(&restored_engine, "/late").contains("another engine, such as"));
    // After the compactions, no run has the same number as a run of the later backup.
    for _ in 0..3 {
        pad(&restored_engine, 0..80);
        wait(restored_engine.compact()).unwrap();
        for folder in ["/early", "/late"] {
            refused(&restored_engine, folder);
        }
    }
    assert_eq!(restored(&disk, "/early", "/first").unwrap(), (0..10).collect::<Vec<_>>());
    assert_eq!(restored(&disk, "/late", "/still").unwrap(), (0..20).collect::<Vec<_>>());
    wait(restored_engine.backup("/other-backup")).unwrap();
    wait(restored_engine.backup("/other-backup")).unwrap();
}

/// Writes a backup's manifest as an earlier release did, and returns its bytes.
fn set_earlier_format(disk: &Arc<dyn Disk>, folder: &str) -> Vec<u8> {
    let mut manifest = crate::manifest::bytes();
    manifest.truncate(12);
    manifest[8] -= 1;
    manifest.extend(crc32c::crc32c(&manifest).to_le_bytes());
    disk.open(&Path::new(folder).join("BACKUP"), false).unwrap().write_at(0, &manifest).unwrap();
    manifest
}

#[test]
fn a_backup_of_an_earlier_release_stays_readable_for_it_until_it_is_replaced() {
    let sim = Arc::new(SimDisk::without_reserve());
    let disk: Arc<dyn Disk> = sim.clone();
    let (engine, other) = (padded(&disk, "/engine"), padded(&disk, "/other"));
    pad(&engine, 0..10);
    pad(&other, 0..10);
    wait(engine.backup("/backup")).unwrap();
    let manifest = set_earlier_format(&disk, "/backup");
    let bytes = || {
        let (file, mut bytes) = (disk.open_to_read(Path::new("/backup/BACKUP")).unwrap(), vec![0; 16]);
        file.read_at(0, &mut bytes).unwrap();
        bytes
    };
    assert_eq!(wait(other.backup("/backup")).unwrap_err().code(), ErrorCode::FolderNotOurs);
    assert_eq!(bytes(), manifest);
    pad(&engine, 10..40);
    // No merge can begin later and free space during the attempts.
    wait(engine.compact()).unwrap();
    wait(other.compact()).unwrap();
    // Each attempt has more free space, so the disk becomes full at a later point.
    let mut failed = 0;
    for room in (0..30_000).step_by(1_000) {
        sim.set_room(room);
        match wait(engine.backup("/backup")) {
            Ok(_) => break,
            Err(error) => assert_eq!(error.code(), ErrorCode::DiskFull),
        }
        assert_eq!(bytes(), manifest);
        failed += 1;
    }
    assert!(failed > 1, "{failed}");
    sim.mend();
    set_earlier_format(&disk, "/backup");
    wait(other.close()).unwrap();
    wait(engine.backup("/backup")).unwrap();
    assert_eq!(bytes(), crate::manifest::bytes());
    assert_eq!(restored(&disk, "/backup", "/late").unwrap(), (0..40).collect::<Vec<_>>());
}

#[test]
fn a_backup_of_readable_rows_names_the_unreadable_ones() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let engine = on_disk(&path("engine"));
    let padded = |n| {
        OperationKind::Insert(properties(&[("N", Value::Int32(n)), ("Bytes", Value::Binary(vec![7; 2_000]))]))
    };
    (0..60).for_each(|n| drop(write(&engine, &format!("{n:04}"), padded(n)).unwrap()));
    wait(engine.checkpoint()).unwrap();
    wait(engine.close()).unwrap();
    let run = path("engine").join("0000000001.rows");
    let whole = std::fs::read(&run).unwrap();
    let at = whole.len() / 2;
    let numbers = |engine: &Engine| -> Vec<i32> { all(engine).into_iter().map(|(_, _, n)| n).collect() };
    // The corruption is either in a block or in the index.
    for (name, at) in [("block", at), ("index", whole.len() - 10)] {
        let mut broken = whole.clone();
        broken[at] ^= 1;
        std::fs::write(&run, &broken).unwrap();
        let engine = on_disk(&path("engine"));
        assert_eq!(wait(engine.backup(path("whole"))).unwrap_err().code(), ErrorCode::Corrupted);
        let backup = wait(engine.salvage_backup(path(name))).unwrap();
        assert_eq!(backup.lost.len(), 1, "{backup:?}");
        let lost = &backup.lost[0];
        assert_eq!((lost.table.as_str(), lost.cause.code()), ("Employee", ErrorCode::Corrupted));
        Engine::restore(path(name), path(&format!("{name} restored"))).unwrap();
        let restored = Engine::open(path(&format!("{name} restored"))).unwrap();
        assert!(restored.verify().unwrap().is_whole());
        let [from, to] = [&lost.first, &lost.last].map(|key| key.as_ref().unwrap().row_key.as_str());
        let is_lost = |n: &i32| (from..=to).contains(&&*format!("{n:04}"));
        let kept: Vec<i32> = (0..60).filter(|n| !is_lost(n)).collect();
        assert_eq!(numbers(&restored), kept);
        assert!(kept.len() < 60 && (name == "index") == kept.is_empty());
        // A salvaged backup is neither extended nor replaced.
        assert_eq!(wait(engine.salvage_backup(path(name))).unwrap_err().code(), ErrorCode::FolderNotOurs);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Tests the corruption of a file that contains several tables. Each row is either in the backup, or in a lost range that is reported for its table.
    #[test]
    fn a_backup_of_readable_rows_reports_each_table_with_lost_rows(
        rows in prop::collection::vec(1_u8..40, 1..8),
        deleted in prop::collection::vec(any::<bool>(), 8),
        at in any::<prop::sample::Index>(),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let tables: Vec<_> = (0..rows.len()).map(|n| name(&format!("T{n:02}"))).collect();
        let engine = Engine::open(path("engine")).unwrap();
        for (table, count) in tables.iter().zip(&rows) {
            wait(engine.create_table(table)).unwrap();
            for n in 0..*count {
                let kind = OperationKind::Insert(properties(&[("Bytes", Value::Binary(vec![n; 700]))]));
                wait(engine.submit(table, transaction("p", vec![(&format!("{n:02}"), kind)]))).unwrap();
            }
        }
        wait(engine.checkpoint()).unwrap();
        wait(engine.close()).unwrap();
        let run = path("engine").join("0000000001.rows");
        let mut bytes = std::fs::read(&run).unwrap();
        let at = at.index(bytes.len());
        bytes[at] ^= 1;
        std::fs::write(&run, bytes).unwrap();
        let engine = Engine::open(path("engine")).unwrap();
        for (table, _) in tables.iter().zip(&deleted).filter(|(_, deleted)| **deleted) {
            wait(engine.delete_table(table)).unwrap();
        }
        let lost = wait(engine.salvage_backup(path("copy"))).unwrap().lost;
        Engine::restore(path("copy"), path("restored")).unwrap();
        let restored = Engine::open(path("restored")).unwrap();
        prop_assert!(restored.verify().unwrap().is_whole());
        for ((table, count), _) in tables.iter().zip(&rows).zip(&deleted).filter(|(_, deleted)| !**deleted) {
            for n in 0..*count {
                let key = EntityKey::new("p", format!("{n:02}")).unwrap();
                let is_reported = lost.iter().filter(|lost| lost.table == *table).any(|lost| {
                    lost.first.as_ref().is_none_or(|first| first.row_key <= key.row_key)
                        && lost.last.as_ref().is_none_or(|last| last.row_key >= key.row_key)
                });
                let found = wait(restored.get(table, &key, &Select::All)).unwrap();
                prop_assert!(found.is_some() != is_reported, "{} {n}: {lost:?}", table.as_str());
            }
        }
        for lost in &lost {
            prop_assert!(tables.iter().zip(&deleted).any(|(table, deleted)| lost.table == *table && !deleted));
        }
    }
}

#[test]
fn the_files_of_an_image_stay_readable_after_the_engine_was_dropped() {
    let folder = tempfile::tempdir().unwrap();
    let small = || with_table(EngineOptions::new().checkpoint_bytes(6_000).open(folder.path()).unwrap());
    let rewrite = |engine: &Engine| {
        for n in 0..50 {
            write(engine, &n.to_string(), upsert(n)).unwrap();
        }
        wait(engine.compact()).unwrap();
    };
    let engine = small();
    rewrite(&engine);
    let image = wait(engine.backup_image()).unwrap();
    let files = image.files(None, "the archive").unwrap();
    assert!(!files.is_empty());
    drop(engine);
    // The engine keeps running while the image exists.
    assert_eq!(Engine::open(folder.path()).unwrap_err().code(), ErrorCode::FolderLocked);
    assert!(files.iter().all(|file| image.check(file).is_ok()));
    drop(image);
    let engine = small();
    rewrite(&engine);
    let image = wait(engine.backup_image()).unwrap();
    let files = image.files(None, "the archive").unwrap();
    wait(engine.close()).unwrap();
    let engine = small();
    rewrite(&engine);
    wait(engine.checkpoint()).unwrap();
    let errors: Vec<_> = files.iter().map(|file| image.check(file).map_err(|error| error.code())).collect();
    assert!(errors.iter().all(|read| matches!(read, Ok(()) | Err(ErrorCode::EngineClosed))), "{errors:?}");
}
