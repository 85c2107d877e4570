//! Tests the number of bytes that creating or dropping a table writes. It must not be greater in a store with thousands of tables than in one with a few.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use pollster::block_on;
use simulation::power::{Call, SimulatedDisk};
use table_core::embedded::{Engine, EngineOptions};
use table_core::{Error, Result, TableEntity, TableName, TableStore, TableStoreExt};

/// Counts the bytes written by an engine since the last call to `take`.
struct Written(Arc<AtomicU64>);

impl Written {
    fn take(&self) -> u64 {
        self.0.swap(0, Ordering::Relaxed)
    }
}

fn engine() -> (Engine, Written) {
    let bytes = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&bytes);
    let disk = SimulatedDisk::new().watched(move |call| {
        if let Call::Write(_, _, length) = call {
            count.fetch_add(*length as u64, Ordering::Relaxed);
        }
    });
    let engine = EngineOptions::new().disk(Arc::new(disk)).open("/engine").unwrap();
    (engine, Written(bytes))
}

/// Creates tables with one row each, makes a checkpoint, and drops the tables one by one. Returns the number of bytes written per created table and per dropped
/// table.
async fn cost(tables: u64) -> Result<(u64, u64)> {
    let (engine, written) = engine();
    let name = |n: u64| format!("Table{n:05}");
    written.take();
    for n in 0..tables {
        let table = engine.untyped(&name(n))?.create_if_missing().await?;
        table.insert(&TableEntity::new("p", "r")?.with("Text", "x".repeat(100))).await?;
    }
    let created = written.take();
    engine.checkpoint().await?;
    written.take();
    for n in 0..tables {
        engine.delete_table(&TableName::new(&name(n))?).await?;
    }
    let dropped = written.take();
    engine.checkpoint().await?;
    let statistics = engine.statistics()?;
    assert_eq!((statistics.tables, statistics.base_bytes), (0, 0));
    Ok((created / tables, dropped / tables))
}

#[test]
fn a_table_among_two_thousand_is_created_or_dropped_by_one_journal_frame() {
    let (created, dropped) = block_on(cost(2_000)).unwrap();
    // The journal grows in steps of 1 MiB. The limit leaves room for one step, divided among all tables.
    assert!(created < 1_024 && dropped < 1_024, "{created} and {dropped} bytes a table");
}

#[test]
fn the_space_of_dropped_tables_is_reclaimed_automatically() {
    let (engine, written) = engine();
    let name = |n: u64| format!("Table{n:05}");
    let filled = async {
        for n in 0..40 {
            let table = engine.untyped(&name(n))?.create_if_missing().await?;
            for row in 0..4 {
                table
                    .insert(&TableEntity::new("p", row.to_string())?.with("Text", "x".repeat(30_000)))
                    .await?;
            }
        }
        engine.checkpoint().await?;
        written.take();
        for n in 0..40 {
            engine.delete_table(&TableName::new(&name(n))?).await?;
        }
        Ok::<_, Error>(())
    };
    block_on(filled).unwrap();
    let began = Instant::now();
    // Garbage below the reclaim threshold remains until the next checkpoint.
    while engine.statistics().unwrap().base_bytes > 2 << 20 {
        assert!(began.elapsed() < Duration::from_secs(10 * 60), "{:?}", engine.statistics());
        std::thread::sleep(Duration::from_millis(5));
    }
    let written = written.take();
    assert!(written < 12 << 20, "{written} bytes were written to give back 5 MiB");
}
