//! Tests backups in which each request fails in turn, and restores of corrupted backups.

use pollster::block_on;
use table_core::{ErrorCode, TableEntity, TableStoreExt};

use super::*;
use crate::tests::faults::FaultyBlobs;

/// Creates an engine with small row files.
fn engine(folder: &Folder) -> Engine {
    EngineOptions::new().checkpoint_bytes(6_000).open(folder).unwrap()
}

async fn write(engine: &Engine, rows: std::ops::Range<i32>) -> Result<()> {
    let table = engine.untyped("Employee")?.create_if_missing().await?;
    for n in rows {
        let entity = TableEntity::new("Sales", format!("{n:04}"))?.with("Text", "x".repeat(400)).with("N", n);
        table.insert_or_replace(&entity).await?;
    }
    engine.checkpoint().await
}

async fn keys(engine: &Engine) -> Result<Vec<String>> {
    let mut keys = Vec::new();
    let rows = engine.untyped("Employee")?.scan("all are compared").max_rows(1_000);
    rows.for_each(|row| keys.push(row.key().row_key.as_str().to_owned())).await?;
    Ok(keys)
}

fn wanted(rows: std::ops::Range<i32>) -> Vec<String> {
    rows.map(|n| format!("{n:04}")).collect()
}

fn restored(blobs: &FaultyBlobs) -> Result<Vec<String>> {
    restored_from(blobs, "nightly")
}

fn restored_from(blobs: &FaultyBlobs, prefix: &str) -> Result<Vec<String>> {
    let folder = tempfile::tempdir().unwrap();
    let backup = BlobBackup::new(Arc::new(blobs.clone()), prefix)?;
    block_on(async {
        backup.restore(folder.path()).await?;
        let engine = Engine::open(folder.path())?;
        assert!(engine.verify()?.is_whole());
        keys(&engine).await
    })
}

#[test]
fn new_files_are_uploaded_and_unneeded_ones_removed() {
    let folder = tempfile::tempdir().unwrap();
    let blobs = FaultyBlobs::default();
    let backup = BlobBackup::new(Arc::new(blobs.clone()), "nightly").unwrap();
    block_on(async {
        let engine = engine(folder.path());
        write(&engine, 0..40).await?;
        let first = backup.back_up(&engine).await?;
        assert!(first.copied_files > 2 && first.kept_files == 0, "{first:?}");
        assert_eq!(backup.back_up(&engine).await?.copied_files, 0);
        write(&engine, 40..42).await?;
        let second = backup.back_up(&engine).await?;
        assert!(second.kept_files > 0 && second.copied_bytes < first.copied_bytes, "{second:?}");
        write(&engine, 0..42).await?;
        engine.compact().await?;
        let third = backup.back_up(&engine).await?;
        assert!(third.removed_files > 0, "{third:?}");
        Ok::<_, Error>(())
    })
    .unwrap();
    assert_eq!(restored(&blobs).unwrap(), wanted(0..42));
    // A missing or truncated file is uploaded again.
    let names = blobs.names();
    blobs.damage(names.iter().find(|name| name.ends_with(ROWS)).unwrap(), Some(b"cut"));
    assert_eq!(restored(&blobs).unwrap_err().code(), ErrorCode::Corrupted);
    let engine = engine(folder.path());
    assert_eq!(block_on(backup.back_up(&engine)).unwrap().copied_files, 1);
    assert_eq!(restored(&blobs).unwrap(), wanted(0..42));
}

#[test]
fn a_failure_of_any_request_leaves_the_earlier_backup_or_the_new_one() {
    for lost in [false, true] {
        let (mut seen, mut request) = ([0, 0], 0);
        loop {
            let folder = tempfile::tempdir().unwrap();
            let blobs = FaultyBlobs::default();
            let backup = BlobBackup::new(Arc::new(blobs.clone()), "nightly").unwrap();
            let engine = engine(folder.path());
            block_on(write(&engine, 0..16)).unwrap();
            block_on(backup.back_up(&engine)).unwrap();
            block_on(write(&engine, 8..20)).unwrap();
            block_on(engine.compact()).unwrap();
            blobs.fail_at(request, lost);
            let outcome = block_on(backup.back_up(&engine));
            blobs.heal();
            let found = restored(&blobs).unwrap();
            assert!(found == wanted(0..16) || found == wanted(0..20), "request {request}: {found:?}");
            seen[usize::from(found.len() == 20)] += 1;
            assert!(outcome.is_err() || found.len() == 20);
            block_on(backup.back_up(&engine)).unwrap();
            assert_eq!(restored(&blobs).unwrap(), wanted(0..20), "request {request}: the next backup");
            if outcome.is_ok() {
                break;
            }
            request += 1;
        }
        assert!(request > 6 && seen[0] > 3 && seen[1] > 1, "{request} requests, {seen:?}");
    }
}

#[test]
fn a_failure_of_any_restore_request_leaves_no_folder_that_opens() {
    let (folder, target) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let blobs = FaultyBlobs::default();
    let backup = BlobBackup::new(Arc::new(blobs.clone()), "nightly").unwrap();
    let engine = engine(folder.path());
    block_on(write(&engine, 0..30)).unwrap();
    block_on(backup.back_up(&engine)).unwrap();
    let mut refused = 0;
    for request in 0.. {
        let to = target.path().join(request.to_string());
        blobs.fail_at(request, false);
        let outcome = block_on(backup.restore(&to));
        blobs.heal();
        if outcome.is_ok() {
            assert!(request > 3 && refused > 0, "{request} requests, {refused} refused");
            break;
        }
        assert!(!to.join("FORMAT").exists());
        // The folder counts as empty until the first row file exists.
        let begun = to.exists() && std::fs::read_dir(&to).unwrap().count() > 1;
        if begun {
            assert_eq!(Engine::open(&to).unwrap_err().code(), ErrorCode::FolderNotOurs);
            refused += 1;
        }
    }
}

#[test]
fn other_blobs_and_engines_are_kept_and_an_empty_store_is_not_restored() {
    let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let blobs = FaultyBlobs::default();
    let backup = |prefix: &str| BlobBackup::new(Arc::new(blobs.clone()), prefix);
    assert_eq!(backup("").unwrap_err().code(), ErrorCode::InvalidInput);
    assert_eq!(restored(&blobs).unwrap_err().code(), ErrorCode::FolderNotOurs);
    let (one, other) = (engine(one.path()), engine(other.path()));
    block_on(write(&one, 0..3)).unwrap();
    block_on(write(&other, 5..9)).unwrap();
    block_on(backup("nightly").unwrap().back_up(&one)).unwrap();
    let error = block_on(backup("nightly").unwrap().back_up(&other)).unwrap_err();
    assert_eq!(error.code(), ErrorCode::FolderNotOurs);
    blobs.damage("letters/dear", Some(b"Dear"));
    let error = block_on(backup("letters").unwrap().back_up(&one)).unwrap_err();
    assert_eq!(error.code(), ErrorCode::FolderNotOurs);
    assert_eq!(restored(&blobs).unwrap(), wanted(0..3));
}

#[test]
fn backups_to_a_prefix_and_below_it_can_be_made_in_any_order() {
    for prefixes in [["nightly", "nightly/weekly"], ["nightly/weekly", "nightly"]] {
        let folder = tempfile::tempdir().unwrap();
        let blobs = FaultyBlobs::default();
        let engine = engine(folder.path());
        block_on(write(&engine, 0..40)).unwrap();
        for prefix in prefixes {
            let backup = BlobBackup::new(Arc::new(blobs.clone()), prefix).unwrap();
            block_on(backup.back_up(&engine)).unwrap();
        }
        for prefix in prefixes {
            assert_eq!(restored_from(&blobs, prefix).unwrap(), wanted(0..40), "{prefix} of {prefixes:?}");
        }
    }
}

#[test]
fn a_backup_below_a_longer_prefix_is_another_backup() {
    let folder = tempfile::tempdir().unwrap();
    let blobs = FaultyBlobs::default();
    let backup = |prefix: &str| BlobBackup::new(Arc::new(blobs.clone()), prefix).unwrap();
    let (outer, inner) = (backup("nightly"), backup("nightly/weekly"));
    let engine = engine(folder.path());
    block_on(write(&engine, 0..40)).unwrap();
    block_on(outer.back_up(&engine)).unwrap();
    block_on(inner.back_up(&engine)).unwrap();
    let files = |prefix: &str| -> Vec<String> {
        let names = blobs.names().into_iter();
        names.filter_map(|name| name.strip_prefix(prefix)?.strip_suffix(ROWS).map(str::to_owned)).collect()
    };
    let is_outer = |name: &String| !name.contains('/');
    // The other backup has a file with the same name and length.
    let lost = files("nightly/").into_iter().find(is_outer).unwrap();
    blobs.damage(&format!("nightly/{lost}{ROWS}"), None);
    assert_eq!(block_on(outer.back_up(&engine)).unwrap().copied_files, 1);
    assert_eq!(restored(&blobs).unwrap(), wanted(0..40));
    // Obsolete files of the other backup are neither removed nor counted.
    let weekly = files("nightly/weekly/");
    let before: Vec<_> = files("nightly/").into_iter().filter(is_outer).collect();
    block_on(write(&engine, 0..40)).unwrap();
    block_on(engine.compact()).unwrap();
    let report = block_on(outer.back_up(&engine)).unwrap();
    let after: Vec<_> = files("nightly/").into_iter().filter(is_outer).collect();
    let removed = before.iter().filter(|name| !after.contains(name)).count();
    assert!(removed > 0);
    assert_eq!(report.removed_files, u64::try_from(removed).unwrap());
    assert_eq!(files("nightly/weekly/"), weekly);
}

/// Backs up once for each of `rounds`. The first backup runs after the first `skipped` requests of a restore, and each further one after `skipped` more
/// requests. Before each backup, adds a row and compacts the engine, so the backup removes all files of the previous one.
fn back_up_meanwhile(blobs: &FaultyBlobs, engine: &Engine, skipped: usize, rounds: std::ops::Range<i32>) {
    if rounds.is_empty() {
        return;
    }
    let (again, engine) = (blobs.clone(), engine.clone());
    blobs.before(skipped, move |_| {
        block_on(async {
            write(&engine, 0..21 + rounds.start).await?;
            engine.compact().await?;
            BlobBackup::new(Arc::new(again.clone()), "nightly")?.back_up(&engine).await
        })
        .unwrap();
        back_up_meanwhile(&again, &engine, skipped, rounds.start + 1..rounds.end);
    });
}

#[test]
fn a_restore_beside_backups_returns_one_of_them() {
    let mut seen = [0; 4];
    for (skipped, last) in (0..14).flat_map(|skipped| [(skipped, 1), (skipped, 3)]) {
        let folder = tempfile::tempdir().unwrap();
        let blobs = FaultyBlobs::default();
        let engine = engine(folder.path());
        block_on(write(&engine, 0..20)).unwrap();
        block_on(BlobBackup::new(Arc::new(blobs.clone()), "nightly").unwrap().back_up(&engine)).unwrap();
        back_up_meanwhile(&blobs, &engine, skipped, 0..last);
        let found = restored(&blobs).unwrap_or_else(|error| panic!("{skipped} {last}: {error}"));
        let rows = i32::try_from(found.len()).unwrap();
        assert!((20..=20 + last).contains(&rows) && found == wanted(0..rows), "{skipped} {last}: {rows}");
        seen[usize::try_from(rows - 20).unwrap()] += 1;
    }
    // Some restores have returned the original backup, some the first newer one, and some the third newer one.
    assert!(seen[0] > 0 && seen[1] > 3 && seen[3] > 0, "{seen:?}");
}

#[test]
fn a_restore_that_continues_with_a_newer_backup_fetches_common_files_once() {
    let folder = tempfile::tempdir().unwrap();
    let blobs = FaultyBlobs::default();
    let engine = engine(folder.path());
    block_on(write(&engine, 0..400)).unwrap();
    let backup = BlobBackup::new(Arc::new(blobs.clone()), "nightly").unwrap();
    let first = block_on(backup.back_up(&engine)).unwrap();
    let (meanwhile, again, calls) = (engine.clone(), backup.clone(), blobs.clone());
    let (told, second) = std::sync::mpsc::channel();
    blobs.heal();
    // The first two requests read `BACKUP` and `BASE`. When the backup begins, all files except one have been fetched.
    blobs.before(usize::try_from(first.copied_files).unwrap() + 1, move |_| {
        let before = calls.calls();
        let report = block_on(async {
            write(&meanwhile, 395..400).await?;
            meanwhile.compact().await?;
            again.back_up(&meanwhile).await
        });
        told.send((report.unwrap(), calls.calls() - before)).unwrap();
    });
    assert_eq!(restored(&blobs).unwrap(), wanted(0..400));
    let (second, others) = second.recv().unwrap();
    assert!(second.removed_files > 0 && second.kept_files > 1, "{second:?}");
    let own = u64::try_from(blobs.calls() - others).unwrap();
    // The request for the missing file fails, and `BASE` is read again.
    assert!(own <= 2 + first.copied_files + 1 + second.copied_files, "{own} requests, {first:?}, {second:?}");
}
