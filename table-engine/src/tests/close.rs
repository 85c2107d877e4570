//! Tests of reads while the engine is being closed. They return either the correct result or `EngineClosed`.

use std::sync::atomic::{AtomicBool, Ordering};

use super::*;

/// Reads until the engine is closed. Returns all wrong results.
fn read_until_closed(engine: &Engine, begun: &AtomicBool) -> Vec<String> {
    let (key, mut wrong) = (EntityKey::new("Sales", "1").unwrap(), Vec::new());
    // Another reader may have started, and the engine may have been closed, before this reader starts.
    let Ok(snapshot) = engine.snapshot() else { return wrong };
    let query = Query::new(KeyRange::ALL);
    loop {
        begun.store(true, Ordering::Relaxed);
        let found = [
            wait(engine.list_tables("", None, 10)).map(|page| page.names.len()),
            wait(engine.get(&employees(), &key, &Select::All)).map(|found| found.iter().len()),
            wait(engine.query(&employees(), &query, None)).map(|page| page.rows.len()),
            snapshot.get(&employees(), &key, &Select::All).map(|found| found.iter().len()),
            engine.statistics().map(|statistics| statistics.tables),
            engine.table_statistics(&employees()).map(|statistics| usize::try_from(statistics.rows).unwrap()),
        ];
        for (read, found) in found.into_iter().enumerate() {
            match found {
                Ok(1) => {}
                Err(error) if error.code() == ErrorCode::EngineClosed => return wrong,
                other => wrong.push(format!("read {read}: {other:?}")),
            }
        }
    }
}

#[test]
fn a_read_during_a_close_is_correct_or_refused() {
    for round in 0..200 {
        let folder = tempfile::tempdir().unwrap();
        let engine = if round % 20 == 0 {
            on_disk(folder.path())
        } else {
            with_table(EngineOptions::new().in_memory())
        };
        write(&engine, "1", insert(1)).unwrap();
        let begun = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let readers: Vec<_> =
                (0..2).map(|_| scope.spawn(|| read_until_closed(&engine, &begun))).collect();
            while !begun.load(Ordering::Relaxed) {
                std::thread::yield_now();
            }
            wait(engine.clone().close()).unwrap();
            for reader in readers {
                assert_eq!(reader.join().unwrap(), Vec::<String>::new());
            }
        });
    }
}
