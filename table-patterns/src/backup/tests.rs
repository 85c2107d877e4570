//! Tests of backups that fail at every request, and of restores of damaged backups.

use pollster::block_on;
use table_core::{ErrorCode, TableEntity, TableStoreExt};

use super::*;
use crate::faults::FaultyBlobs;

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
    let folder = tempfile::tempdir().unwrap();
    let backup = BlobBackup::new(Arc::new(blobs.clone()), "nightly")?;
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
    // A file that is missing or truncated is sent again.
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
        // Until the first row file exists, the folder is considered empty.
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
    // The other backup has a file of the same name and length.
    let lost = files("nightly/").into_iter().find(is_outer).unwrap();
    blobs.damage(&format!("nightly/{lost}{ROWS}"), None);
    assert_eq!(block_on(outer.back_up(&engine)).unwrap().copied_files, 1);
    assert_eq!(restored(&blobs).unwrap(), wanted(0..40));
    // Obsolete files of the other backup remain, and are not counted.
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
