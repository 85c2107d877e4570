//! Tests that checkpoints keep every row, shorten the journal, reclaim space, and limit memory use.

use super::*;

fn files(folder: &Path, suffix: &str) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(suffix))
        .collect();
    names.sort();
    names
}

#[test]
fn a_checkpoint_moves_rows_into_the_base_and_releases_the_journal_it_covers() {
    let folder = tempfile::tempdir().unwrap();
    let engine = on_disk(folder.path());
    for n in 0..10 {
        write(&engine, &n.to_string(), insert(n)).unwrap();
    }
    wait(engine.checkpoint()).unwrap();
    // The next file already exists, because the first file was reused for it.
    assert_eq!(files(folder.path(), ".journal"), ["0000000002.journal", "0000000003.journal"]);
    assert_eq!(engine.inner.state().unwrap().memtable.len(), 0);
    for n in 0..10 {
        write(&engine, &n.to_string(), if n % 2 == 0 { delete() } else { upsert(n + 100) }).unwrap();
    }
    let wanted: Vec<_> = [1, 3, 5, 7, 9].map(|n| ("Sales".to_owned(), n.to_string(), n + 100)).into();
    assert_eq!(all(&engine), wanted);
    wait(engine.checkpoint()).unwrap();
    assert_eq!(all(&engine), wanted);
    drop(engine);
    assert_eq!(all(&on_disk(folder.path())), wanted);
}

#[test]
fn checkpoints_start_automatically_and_full_memory_delays_writers() {
    let folder = tempfile::tempdir().unwrap();
    let options = options().checkpoint_bytes(40_000).memtable_bytes(60_000);
    let engine = with_table(options.open(folder.path()).unwrap());
    let (mut most, mut count) = (0, 0);
    for n in 0..300 {
        let keys: Vec<String> = (0..10).map(|m| format!("{n:03}-{m}")).collect();
        submit(&engine, "Sales", keys.iter().map(|key| (key.as_str(), insert(n))).collect()).unwrap();
        count += 10;
        let state = engine.inner.state().unwrap();
        most = most.max(
            state.memtable.bytes() + state.frozen.as_ref().map_or(0, super::super::memtable::Memtable::bytes),
        );
    }
    assert_eq!(all(&engine).len(), count);
    assert!(most < 70_000, "{most}");
    let numbers: Vec<u64> = files(folder.path(), ".journal")
        .iter()
        .filter_map(|name| crate::journal::file::number(name))
        .collect();
    assert!(numbers.iter().max().is_some_and(|newest| *newest > 3), "{numbers:?}");
}

#[test]
fn repeatedly_writing_one_key_does_not_grow_the_journal_without_bound() {
    let folder = tempfile::tempdir().unwrap();
    // The memtable is limited to a small size, so writers block until the checkpoint thread catches up. Otherwise, the timing of that thread would determine
    // the number of checkpoints.
    let options = options().checkpoint_bytes(20_000).memtable_bytes(10_000);
    let engine = with_table(options.open(folder.path()).unwrap());
    for n in 0..1_500 {
        write(&engine, "1", upsert(n)).unwrap();
    }
    wait(engine.checkpoint()).unwrap();
    let newest = files(folder.path(), ".journal").pop().unwrap();
    assert!(newest.as_str() > "0000000003.journal", "{newest}");
}

#[test]
fn the_memtable_is_bounded_even_if_its_size_is_below_that_of_a_checkpoint() {
    for checkpoint_bytes in [4 << 20, 1 << 40] {
        let folder = tempfile::tempdir().unwrap();
        let options = EngineOptions::new().memtable_bytes(1 << 20).checkpoint_bytes(checkpoint_bytes);
        let engine = with_table(options.open(folder.path()).unwrap());
        for n in 0..64 {
            let row = properties(&[("Bytes", Value::Binary(vec![7; 60_000]))]);
            write(&engine, &n.to_string(), OperationKind::Insert(row)).unwrap();
            let held = engine.statistics().unwrap().memtable_bytes;
            assert!(held < 2 << 20, "{held} bytes after {n} rows");
        }
    }
}

#[test]
fn compact_keeps_each_row_once_and_readers_of_merged_runs_continue() {
    let folder = tempfile::tempdir().unwrap();
    let engine = on_disk(folder.path());
    for n in 0..10 {
        write(&engine, &n.to_string(), insert(n)).unwrap();
    }
    wait(engine.checkpoint()).unwrap();
    let snapshot = engine.snapshot().unwrap();
    write(&engine, "0", delete()).unwrap();
    wait(engine.compact()).unwrap();
    eventually("only the snapshot keeps merged files", || files(folder.path(), ".rows").len() == 2);
    let query = Query::new(KeyRange::ALL);
    assert_eq!(snapshot.query(&employees(), &query, None).unwrap().rows.len(), 10);
    assert_eq!(all(&engine).len(), 9);
    drop(snapshot);
    wait(engine.checkpoint()).unwrap();
    eventually("merged files are removed", || files(folder.path(), ".rows").len() == 1);
    write(&engine, "new", insert(1)).unwrap();
    wait(engine.checkpoint()).unwrap();
    drop(engine);
    let engine = on_disk(folder.path());
    assert_eq!(all(&engine).len(), 10);
}

#[test]
fn rows_of_a_dropped_table_leave_the_base_even_after_a_reopen() {
    let folder = tempfile::tempdir().unwrap();
    let engine = on_disk(folder.path());
    for n in 0..30 {
        let keys: Vec<String> = (0..100).map(|m| format!("{n}-{m}")).collect();
        submit(&engine, "Sales", keys.iter().map(|key| (key.as_str(), insert(1))).collect()).unwrap();
    }
    wait(engine.checkpoint()).unwrap();
    wait(engine.delete_table(&employees())).unwrap();
    drop(engine); // perhaps before anything was reclaimed
    let engine = Engine::open(folder.path()).unwrap();
    wait(engine.checkpoint()).unwrap();
    let rows_left = || {
        let state = engine.inner.state().unwrap();
        let base = state.base.as_ref().unwrap();
        base.may_hold(&crate::key::Span::table(1))
    };
    eventually("the rows of the dropped table leave the base", || !rows_left());
}
