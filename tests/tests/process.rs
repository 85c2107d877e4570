//! Tests an engine in a hostile process. The process changes its working directory, renames the engine's folder, and runs out of file descriptors.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![cfg(unix)]

use std::path::Path;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use table_core::embedded::{Durability, Engine, EngineOptions};
use table_core::limits::Limits;
use table_core::query::{KeyRange, Query, Select};
use table_core::row::RowWriter;
use table_core::{
    BlockOn, EntityKey, ErrorCode, Operation, OperationKind, PartitionKey, Result, RowKey, TableName,
    TableStore, Transaction, ValueRef,
};

fn table() -> TableName {
    TableName::new("Employee").unwrap()
}

fn options() -> EngineOptions {
    EngineOptions::new().durability(Durability::Relaxed).checkpoint_bytes(192 << 10).cache_bytes(0)
}

fn open(folder: &Path) -> Engine {
    let engine = options().open(folder).unwrap();
    match engine.create_table(&table()).block_on() {
        Err(error) if error.code() != ErrorCode::TableAlreadyExists => panic!("{error}"),
        _ => engine,
    }
}

/// Inserts one row for each number. The number is the key.
fn put(engine: &Engine, partition: &str, rows: std::ops::Range<u32>) -> Result<()> {
    for first in rows.clone().step_by(100) {
        let mut transaction = Transaction::new(PartitionKey::new(partition)?, Limits::UNLIMITED)?;
        for row in first..rows.end.min(first + 100) {
            let mut writer = RowWriter::new();
            writer.property("V", ValueRef::Binary(&[7; 100]));
            let kind = OperationKind::InsertOrReplace(writer.finish());
            transaction.push(Operation { row_key: RowKey::new(format!("{row:06}"))?, kind })?;
        }
        engine.submit(&table(), transaction).block_on()?;
    }
    Ok(())
}

fn count(engine: &Engine, partition: &str) -> usize {
    let (query, mut from, mut count) = (Query::new(KeyRange::partition(partition)), None, 0);
    loop {
        let page = engine.query(&table(), &query, from.as_ref()).block_on().unwrap();
        count += page.rows.len();
        from = page.continuation;
        if from.is_none() {
            return count;
        }
    }
}

/// Tests everything in a single function, because each step affects the entire process.
#[test]
fn an_engine_stays_in_its_folder_and_survives_a_lack_of_descriptors() {
    let root = tempfile::tempdir().unwrap();
    a_relative_path_is_resolved_at_the_opening(root.path());
    a_renamed_folder_is_written_and_its_replacement_is_not(root.path());
    few_descriptors_suffice_and_none_refuses_temporarily(root.path());
}

fn a_relative_path_is_resolved_at_the_opening(root: &Path) {
    let (first, second) = (root.join("first"), root.join("second"));
    for directory in [&first, &second] {
        std::fs::create_dir(directory).unwrap();
        std::env::set_current_dir(directory).unwrap();
        let engine = open(Path::new("db"));
        put(&engine, &directory.display().to_string().replace('/', "."), 0..1_000).unwrap();
        std::env::set_current_dir(root).unwrap();
        engine.compact().block_on().unwrap();
        engine.backup("backup of db").block_on().unwrap();
        engine.close().block_on().unwrap();
        std::fs::rename(root.join("backup of db"), directory.join("backup")).unwrap();
    }
    for (directory, other) in [(&first, &second), (&second, &first)] {
        let partition = |directory: &Path| directory.display().to_string().replace('/', ".");
        let engine = open(&directory.join("db"));
        assert_eq!((count(&engine, &partition(directory)), count(&engine, &partition(other))), (1_000, 0));
    }
}

fn a_renamed_folder_is_written_and_its_replacement_is_not(root: &Path) {
    let (path, moved) = (root.join("db"), root.join("db.old"));
    let first = open(&path);
    put(&first, "first", 0..5_000).unwrap();
    first.checkpoint().block_on().unwrap();
    std::fs::rename(&path, &moved).unwrap();
    assert_eq!(count(&first, "first"), 5_000, "reads after the rename");
    let second = open(&path);
    put(&second, "second", 0..5_000).unwrap();
    second.checkpoint().block_on().unwrap();
    put(&first, "first", 5_000..10_000).unwrap();
    first.compact().block_on().unwrap();
    assert_eq!(Engine::open(&moved).unwrap_err().code(), ErrorCode::FolderLocked);
    first.backup(root.join("backup")).block_on().unwrap();
    first.close().block_on().unwrap();
    second.close().block_on().unwrap();
    let (first, second) = (open(&moved), open(&path));
    assert_eq!((count(&first, "first"), count(&first, "second")), (10_000, 0));
    assert_eq!((count(&second, "first"), count(&second, "second")), (0, 5_000));
    assert!(first.verify().unwrap().is_whole() && second.verify().unwrap().is_whole());
}

fn few_descriptors_suffice_and_none_refuses_temporarily(root: &Path) {
    let path = root.join("many");
    let engine = open(&path);
    // These rows fill more than 60 runs (sorted files) of 64 KiB each.
    put(&engine, "p", 0..60_000).unwrap();
    engine.compact().block_on().unwrap();
    assert!(engine.statistics().unwrap().runs > 60);
    engine.close().block_on().unwrap();
    let before = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: Some(48), ..before }).unwrap();
    let engine = open(&path);
    assert_eq!(count(&engine, "p"), 60_000);
    put(&engine, "q", 0..20_000).unwrap();
    engine.compact().block_on().unwrap();
    engine.backup(root.join("many backup")).block_on().unwrap();
    Engine::restore(root.join("many backup"), root.join("many restored")).unwrap();
    assert_eq!(count(&Engine::open_read_only(root.join("many backup")).unwrap(), "p"), 60_000);
    // If a folder may have a writer, a read-only engine keeps all files open. This takes more descriptors than the limit allows.
    assert!(Engine::open_read_only(&path).unwrap_err().is_throttled());

    let mut held = Vec::new();
    while let Ok(file) = std::fs::File::open("/dev/null") {
        held.push(file);
    }
    // These writes trigger checkpoints, but no descriptor is left for a new file.
    let key = EntityKey::new("p", "000777").unwrap();
    for round in 0..20 {
        let written = put(&engine, "r", round * 1_000..(round + 1) * 1_000);
        assert!(written.as_ref().is_ok_and(|()| true) || written.is_err_and(|error| error.is_throttled()));
        let read = engine.get(&table(), &key, &Select::All).block_on();
        assert!(read.as_ref().is_ok_and(Option::is_some) || read.is_err_and(|error| error.is_throttled()));
    }
    drop(held);
    put(&engine, "r", 0..20_000).unwrap();
    engine.compact().block_on().unwrap();
    engine.close().block_on().unwrap();
    setrlimit(Resource::Nofile, before).unwrap();
    let engine = open(&path);
    assert_eq!((count(&engine, "p"), count(&engine, "q"), count(&engine, "r")), (60_000, 20_000, 20_000));
    assert!(engine.verify().unwrap().is_whole());
}
