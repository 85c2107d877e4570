//! Tests a backup's reading order: the registrations of all restored rows must be restored too, even if programs write during the backup.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use table_core::query::{KeyRange, Query};
use table_core::table::{FEEDS, LAYOUTS, OUTBOXES};
use table_core::{DynTableStore, Engine, TableEntity, TableName, TableStoreExt};

use super::capture::{CaptureOptions, capture};
use super::opened::Opened;
use super::restore::{Existing, Restoring};
use super::*;
use crate::hooked::{Hooked, Hooks};
use crate::transfer::derived::OtherTables;

/// Tables whose names sort before, between and after the names of the registries.
const SOURCES: [&str; 4] = ["Company", "TablesG", "TablesP", "Users"];

/// A store to which a program writes before each query except two, until the program ends. One query fails.
#[derive(Debug)]
struct Busy {
    engine: Engine,
    queries: AtomicUsize,
    case: Case,
}

/// The numbers of queries at which the store and the program change their behaviour, and the options of the backup.
#[derive(Clone, Debug)]
struct Case {
    /// The query that fails.
    fails_at: usize,
    /// The first of the two queries before which the program does not write.
    rests_at: usize,
    /// The query after which the program does not write.
    ends_at: usize,
    options: CaptureOptions,
}

impl Busy {
    /// Registers a row, writes it to each source, and then declares that all sources have it, as a completed backfill does.
    async fn work(&self, number: usize) {
        for name in [FEEDS, OUTBOXES].into_iter().chain(SOURCES).chain([LAYOUTS]) {
            let table = self.engine.untyped(name).unwrap().create_if_missing().await.unwrap();
            table.insert(&TableEntity::new(format!("{number:04}"), "row").unwrap()).await.unwrap();
        }
    }
}

impl Hooks for Busy {
    fn engine(&self) -> &Engine {
        &self.engine
    }

    async fn before_query(&self, _: &TableName) -> table_core::Result<()> {
        let number = self.queries.fetch_add(1, Ordering::Relaxed) + 1;
        if number == self.case.fails_at {
            // A table is created while no backup runs.
            self.engine.untyped("Visits").unwrap().create_if_missing().await?;
            // These keys sort before and after those the backup may have read.
            for (table, key) in
                [FEEDS, OUTBOXES, "Visits"].into_iter().flat_map(|table| [(table, "!"), (table, "9999")])
            {
                self.engine.untyped(table)?.insert(&TableEntity::new(key, "row")?).await?;
            }
            return Err(Query::parse("V gt").unwrap_err());
        }
        let Case { rests_at, ends_at, .. } = self.case;
        if number <= ends_at && ![rests_at, rests_at + 1].contains(&number) {
            self.work(number).await;
        }
        Ok(())
    }
}

/// Backs up a busy store, and restores the backup.
async fn restored(case: &Case) -> Engine {
    let folder = tempfile::tempdir().unwrap();
    let busy =
        Arc::new(Busy { engine: Engine::in_memory(), queries: AtomicUsize::new(0), case: case.clone() });
    busy.work(0).await;
    let store = DynTableStore::new(Hooked(busy));
    let captured = loop {
        let repository = Repository::create(folder.path(), "busy").unwrap();
        if let Ok(captured) = capture(&repository, &store, &case.options).await {
            break captured;
        }
    };
    let repository = Repository::open(folder.path()).unwrap();
    let backup = Opened::generation(repository, captured.generation).unwrap();
    let engine = Engine::in_memory();
    let target = DynTableStore::new(engine.clone());
    let (range, existing, others) = (&KeyRange::ALL, Existing::Refuse, OtherTables::default());
    let restoring = Restoring { backup: &backup, target: &target, range, existing, others, rate: None };
    for table in backup.tables().await.unwrap() {
        restoring.table(&table, &table).await.unwrap();
    }
    engine
}

async fn keys(engine: &Engine, table: &str) -> BTreeSet<String> {
    let rows = engine.untyped(table).unwrap().scan("all are compared").max_rows(1_000);
    match rows.collect().await {
        Ok(rows) => rows.iter().map(|row| row.key().partition_key.as_str().to_owned()).collect(),
        Err(error) if error.is_table_not_found() => BTreeSet::new(),
        Err(error) => panic!("{error}"),
    }
}

#[tokio::test]
async fn a_backup_contains_the_registrations_of_all_its_rows_and_all_rows_of_its_schemas() {
    let options = CaptureOptions::default;
    let case = |fails_at, rests_at, settle| Case {
        fails_at,
        rests_at,
        ends_at: usize::MAX,
        options: CaptureOptions { settle, ..options() },
    };
    let plain = (0..9).map(|at| case(at, 17, false));
    // All five passes over the schemas find changes, and the last two passes over the next table find none.
    let settled = (8..17).flat_map(|at| [case(at, 17, true), case(at, 12, true)]);
    // The progress is saved after each page, so a continued backup continues in the middle of a table.
    let paged = (8..24).map(|fails_at| Case {
        fails_at,
        rests_at: 0,
        ends_at: 8,
        options: CaptureOptions { pause: Duration::ZERO, page: 2, ..options() },
    });
    for case in plain.chain(settled).chain(paged) {
        let engine = restored(&case).await;
        let declared = keys(&engine, LAYOUTS).await;
        for source in SOURCES.into_iter().chain(["Visits"]) {
            let rows = keys(&engine, source).await;
            for registry in [FEEDS, OUTBOXES] {
                let registered = keys(&engine, registry).await;
                assert!(rows.is_subset(&registered), "{source}, {registry}: {case:?}");
            }
            let is_whole = source == "Visits" || declared.is_subset(&rows);
            assert!(is_whole, "{source} lacks declared rows: {case:?}");
        }
    }
}
