//! Tests the order in which a backup reads the tables: each registration of a restored row is restored too, although programs write during the backup.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use table_core::query::{Continuation, KeyRange, Page, Query, Select};
use table_core::store::{Capabilities, Committed, StoredRow, TablePage};
use table_core::table::{FEEDS, LAYOUTS, OUTBOXES};
use table_core::{
    DynTableStore, Engine, EntityKey, TableEntity, TableName, TableStore, TableStoreExt, Transaction,
};

use super::capture::{CaptureOptions, capture};
use super::opened::Opened;
use super::restore::{Existing, Restoring};
use super::*;
use crate::transfer::derived::OtherTables;

/// Tables with names before, between and after the names of the registries.
const SOURCES: [&str; 4] = ["Company", "TablesG", "TablesP", "Users"];

/// A store to which a program writes before each query except two. One query fails.
#[derive(Debug)]
struct Busy {
    engine: Engine,
    queries: AtomicUsize,
    fails_at: usize,
    rests_at: usize,
}

impl Busy {
    /// Registers a row, writes it to each source, and then declares that all sources have it, as a backfill does when it ends.
    async fn work(&self, number: usize) {
        for name in [FEEDS, OUTBOXES].into_iter().chain(SOURCES).chain([LAYOUTS]) {
            let table = self.engine.untyped(name).unwrap().create_if_missing().await.unwrap();
            table.insert(&TableEntity::new(format!("{number:04}"), "row").unwrap()).await.unwrap();
        }
    }
}

impl fmt::Display for Busy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a busy store")
    }
}

impl TableStore for Busy {
    fn capabilities(&self) -> &Capabilities {
        self.engine.capabilities()
    }

    async fn create_table(&self, table: &TableName) -> table_core::Result<()> {
        self.engine.create_table(table).await
    }

    async fn delete_table(&self, table: &TableName) -> table_core::Result<()> {
        self.engine.delete_table(table).await
    }

    async fn list_tables(
        &self,
        prefix: &str,
        from: Option<&str>,
        top: usize,
    ) -> table_core::Result<TablePage> {
        self.engine.list_tables(prefix, from, top).await
    }

    async fn get(
        &self,
        table: &TableName,
        key: &EntityKey,
        select: &Select,
    ) -> table_core::Result<Option<StoredRow>> {
        self.engine.get(table, key, select).await
    }

    async fn query(
        &self,
        table: &TableName,
        query: &Query,
        from: Option<&Continuation>,
    ) -> table_core::Result<Page> {
        let number = self.queries.fetch_add(1, Ordering::Relaxed) + 1;
        if number == self.fails_at {
            // A table is created while no backup runs.
            self.engine.untyped("Visits").unwrap().create_if_missing().await?;
            for table in [FEEDS, OUTBOXES, "Visits"] {
                self.engine.untyped(table)?.insert(&TableEntity::new("9999", "row")?).await?;
            }
            return Err(Query::parse("V gt").unwrap_err());
        }
        if ![self.rests_at, self.rests_at + 1].contains(&number) {
            self.work(number).await;
        }
        self.engine.query(table, query, from).await
    }

    async fn submit(&self, table: &TableName, transaction: Transaction) -> table_core::Result<Committed> {
        self.engine.submit(table, transaction).await
    }
}

/// Backs up a busy store, and restores the backup. The query with the number `fails_at` fails, and the program rests before the query with the number
/// `rests_at` and the next one.
async fn restored(fails_at: usize, rests_at: usize, settle: bool) -> Engine {
    let folder = tempfile::tempdir().unwrap();
    let busy =
        Arc::new(Busy { engine: Engine::in_memory(), queries: AtomicUsize::new(0), fails_at, rests_at });
    busy.work(0).await;
    let store = DynTableStore::new(busy);
    let options = CaptureOptions { settle, ..CaptureOptions::default() };
    let captured = loop {
        let repository = Repository::create(folder.path(), "busy").unwrap();
        if let Ok(captured) = capture(&repository, &store, &options).await {
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
    let plain = (0..9).map(|at| (at, 17, false));
    // The five passes of the schemas find changes, and the last two passes of the next table find none.
    let settled = (8..17).flat_map(|at| [(at, 17, true), (at, 12, true)]);
    for (fails_at, rests_at, settle) in plain.chain(settled) {
        let case = format!("fails at {fails_at}, rests at {rests_at}, settle: {settle}");
        let engine = restored(fails_at, rests_at, settle).await;
        let declared = keys(&engine, LAYOUTS).await;
        for source in SOURCES.into_iter().chain(["Visits"]) {
            let rows = keys(&engine, source).await;
            for registry in [FEEDS, OUTBOXES] {
                let registered = keys(&engine, registry).await;
                assert!(rows.is_subset(&registered), "{source}, {registry}: {case}");
            }
            let is_whole = source == "Visits" || declared.is_subset(&rows);
            assert!(is_whole, "{source} lacks declared rows: {case}");
        }
    }
}
