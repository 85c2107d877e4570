//! Tests that a synchronisation neither deletes nor reverts rows that another synchronisation of the same tables writes at the same time.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use table_core::{Engine, TableEntity, Transaction};

use super::*;
use crate::hooked::{Hooked, Hooks};

/// Two tables, and a program that writes the same row to both of them, as if another synchronisation had copied the row.
#[derive(Debug)]
struct Tables {
    source: Engine,
    target: Engine,
    random: Mutex<StdRng>,
    /// The number of remaining writes of the program.
    left: AtomicUsize,
    /// The lock held while a row is written to both tables.
    turn: futures_util::lock::Mutex<()>,
}

fn row(random: &mut StdRng) -> TableEntity {
    let (partition, row) = (random.random_range(0..2), random.random_range(0..12));
    let entity = TableEntity::new(format!("p{partition}"), format!("r{row:02}")).unwrap();
    entity.with("V", random.random_range(0..1_000))
}

impl Tables {
    async fn write(&self) {
        let row = {
            let mut random = self.random.lock().unwrap();
            let left = self.left.load(Ordering::SeqCst);
            if left == 0 || random.random_bool(0.5) {
                return;
            }
            self.left.store(left - 1, Ordering::SeqCst);
            row(&mut random)
        };
        let _turn = self.turn.lock().await;
        for engine in [&self.source, &self.target] {
            engine.untyped("Company").unwrap().insert_or_replace(&row).await.unwrap();
        }
    }
}

/// One of the tables. The program writes before each request.
#[derive(Debug)]
struct Side {
    tables: Arc<Tables>,
    is_source: bool,
}

impl Hooks for Side {
    fn engine(&self) -> &Engine {
        if self.is_source { &self.tables.source } else { &self.tables.target }
    }

    fn page_rows(&self) -> Option<usize> {
        Some(3)
    }

    async fn before_get(&self, _: &TableName) -> table_core::Result<()> {
        self.tables.write().await;
        Ok(())
    }

    async fn before_query(&self, _: &TableName) -> table_core::Result<()> {
        self.tables.write().await;
        Ok(())
    }

    async fn before_submit(&self, _: &TableName, _: &Transaction) -> table_core::Result<()> {
        self.tables.write().await;
        Ok(())
    }
}

async fn rows(engine: &Engine) -> BTreeMap<String, Option<table_core::Value>> {
    let rows = engine.untyped("Company").unwrap().scan("all are compared").max_rows(1_000);
    let key = |row: &TableEntity| format!("{:?}", row.key());
    rows.collect().await.unwrap().iter().map(|row| (key(row), row.get("V").cloned())).collect()
}

#[tokio::test]
async fn rows_that_another_synchronisation_writes_are_neither_deleted_nor_set_back() {
    let mut written = 0;
    for seed in 0..300 {
        let mut random = StdRng::seed_from_u64(seed);
        let (source, target) = (Engine::in_memory(), Engine::in_memory());
        for engine in [&source, &target] {
            let table = engine.untyped("Company").unwrap().create_if_missing().await.unwrap();
            for _ in 0..random.random_range(0..20) {
                table.insert_or_replace(&row(&mut random)).await.unwrap();
            }
        }
        let (random, left) = (Mutex::new(random), AtomicUsize::new(30));
        let tables =
            Arc::new(Tables { source, target, random, left, turn: futures_util::lock::Mutex::default() });
        let side =
            |is_source| DynTableStore::new(Hooked(Arc::new(Side { tables: tables.clone(), is_source })));
        let name = TableName::new("Company").unwrap();
        sync(&side(true), &side(false), &name, &SyncOptions::default()).await.unwrap();
        assert_eq!(rows(&tables.source).await, rows(&tables.target).await, "seed {seed}");
        written += 30 - tables.left.load(Ordering::SeqCst);
    }
    assert!(written > 1_000, "{written}");
}

/// Tests that only rows of the target that differ, and that exist there, are read again.
#[tokio::test]
async fn only_different_rows_of_the_target_are_read_again() {
    #[derive(Debug)]
    struct Counting {
        engine: Engine,
        reads: AtomicUsize,
    }

    impl Hooks for Counting {
        fn engine(&self) -> &Engine {
            &self.engine
        }

        async fn before_get(&self, _: &TableName) -> table_core::Result<()> {
            self.reads.fetch_add(1, Ordering::SeqCst);
            Ok(())
        }
    }

    let counting = Arc::new(Counting { engine: Engine::in_memory(), reads: AtomicUsize::new(0) });
    let target = Engine::in_memory();
    let fill = async |engine: &Engine, numbers: std::ops::Range<i32>, factor: i32| {
        let table = engine.untyped("Company").unwrap().create_if_missing().await.unwrap();
        for number in numbers {
            let entity = TableEntity::new("p", format!("{number:03}")).unwrap();
            table.insert(&entity.with("V", number * factor)).await.unwrap();
        }
    };
    // 100 rows are missing, 99 are different, one is equal, and 50 are extra.
    fill(&counting.engine, 0..200, 1).await;
    fill(&target, 0..100, 2).await;
    fill(&target, 200..250, 1).await;
    let (source, store) = (DynTableStore::new(Hooked(counting.clone())), DynTableStore::new(target.clone()));
    let name = TableName::new("Company").unwrap();
    let found = sync(&source, &store, &name, &SyncOptions::default()).await.unwrap();
    assert_eq!(found, Differences { added: 100, changed: 99, deleted: 50, omitted: 0 });
    assert_eq!(counting.reads.load(Ordering::SeqCst), 149);
    assert_eq!(rows(&counting.engine).await, rows(&target).await);
}
