//! Tests commands whose process dies at a random request. After another process has completed the command, the rows, numbers and files must be the same as
//! after an uninterrupted command.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test panics where a result is not the expected one"
)]

mod mortal;

use std::cell::Cell;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use mortal::killed;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use table_core::query::{KeyRange, TextRange};
use table_core::{Engine, Query, TableEntity, TableName, TableStoreExt, Value};
use table_inspect::record::{Record, Rejected};
use tables_cli::backup::capture::{CaptureOptions, capture};
use tables_cli::backup::opened::Opened;
use tables_cli::backup::restore::{Existing, Restoring};
use tables_cli::backup::verify::verify;
use tables_cli::backup::{Contents, Repository};
use tables_cli::transfer::copy::Copying;
use tables_cli::transfer::delete::delete;
use tables_cli::transfer::derived::OtherTables;
use tables_cli::transfer::import::Importing;
use tables_cli::transfer::rejections::{RejectedRecords, Rejections};
use tables_cli::transfer::state::StateFile;
use tables_cli::transfer::sync::{Differences, SyncOptions, sync};
use tables_cli::transfer::writer::Mode;

/// The minimum number of processes that die in each test.
const DEATHS: usize = 50;

/// The rows of a table. Each row contains a number.
type Model = BTreeMap<(String, String), i64>;

fn table() -> TableName {
    TableName::new("Things").unwrap()
}

/// Returns a temporary folder, in an in-memory file system if the machine has one, because state files are written after every record.
fn folder() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() { tempfile::tempdir_in(memory).unwrap() } else { tempfile::tempdir().unwrap() }
}

fn entity((partition, row): &(String, String), number: i64) -> TableEntity {
    TableEntity::new(partition.as_str(), row.as_str()).unwrap().with("N", number)
}

fn random_key(random: &mut StdRng) -> (String, String) {
    (format!("p{:02}", random.random_range(0..30)), format!("r{:02}", random.random_range(0..40)))
}

fn random_rows(random: &mut StdRng, count: usize) -> Model {
    (0..count).map(|_| (random_key(random), random.random_range(0..5))).collect()
}

async fn filled(model: &Model) -> Engine {
    let engine = Engine::in_memory();
    let table = engine.untyped(table().as_str()).unwrap().create_if_missing().await.unwrap();
    let rows: Vec<_> = model.iter().map(|(key, number)| entity(key, *number)).collect();
    table.bulk().insert_all(&rows).await.unwrap();
    engine
}

async fn stored(engine: &Engine) -> Model {
    let table = engine.untyped(table().as_str()).unwrap();
    let rows = table.scan("all are compared").max_rows(10_000).collect().await.unwrap();
    let row = |entity: &TableEntity| {
        let key = entity.key();
        let Some(Value::Int64(number)) = entity.get("N") else { panic!("no number in {entity:?}") };
        ((key.partition_key.as_str().to_owned(), key.row_key.as_str().to_owned()), *number)
    };
    rows.iter().map(row).collect()
}

/// Opens the state file of a transfer. It is written after every record or only rarely, depending on `pause`.
fn state(path: &Path, pause: Duration) -> StateFile {
    StateFile::open(Some(path), "a transfer").unwrap().with_pause(pause)
}

fn pause(random: &mut StdRng) -> Duration {
    if random.random_bool(0.7) { Duration::ZERO } else { Duration::from_secs(60) }
}

#[tokio::test]
async fn killed_copies_write_and_count_each_row_once() {
    let (mut random, mut deaths, mut resumed) = (StdRng::seed_from_u64(1), 0, 0);
    while deaths < DEATHS {
        let (model, folder, pause) = (random_rows(&mut random, 900), folder(), pause(&mut random));
        let (source, target, path) = (filled(&model).await, Engine::in_memory(), folder.path().join("state"));
        let name = table();
        let (records, died) = killed(&mut random, [&source, &target], async |[source, target]| {
            let copying = Copying {
                source: (&source, &name),
                target: (&target, &name),
                selected: Query::new(KeyRange::ALL).into(),
                rewrite: &Ok,
                mode: Mode::Replace,
                guards_parts: true,
                rate: None,
            };
            let mut state = state(&path, pause);
            copying.run(&mut state).await
        })
        .await;
        deaths += died;
        resumed += usize::from(died > 0 && pause.is_zero());
        assert_eq!(records, model.len() as u64);
        assert_eq!(stored(&target).await, model);
    }
    assert!(resumed > 3, "{resumed}");
}

#[tokio::test]
async fn killed_imports_write_each_row_and_report_each_rejected_line_once() {
    let (mut random, mut deaths) = (StdRng::seed_from_u64(2), 0);
    while deaths < DEATHS {
        let (mut model, mut records, mut wrong) = (Model::new(), Vec::<Record>::new(), String::new());
        for line in 1..=900 {
            let key = random_key(&mut random);
            if random.random_bool(0.02) {
                let rejected = Rejected { line, column: 0, reason: "not an entity".to_owned() };
                wrong.push_str(&rejected.to_string());
                wrong.push('\n');
                records.push(Err(rejected));
            } else {
                let number = random.random_range(0..5);
                records.push(Ok(entity(&key, number)));
                model.insert(key, number);
            }
        }
        let (folder, pause, target, name) = (folder(), pause(&mut random), Engine::in_memory(), table());
        let (path, errors) = (folder.path().join("state"), folder.path().join("errors"));
        let (written, died) = killed(&mut random, [&target], async |[store]| {
            let mut state = state(&path, pause);
            let mut rejections = Rejections::open(Some(&errors), &state.state().rejected)?;
            let importing =
                Importing { store: &store, name: &name, mode: Mode::Replace, guards_parts: true, rate: None };
            importing.run((1..).zip(records.iter().cloned()).map(Ok), &mut state, &mut rejections).await
        })
        .await;
        deaths += died;
        assert_eq!(written, records.iter().filter(|record| record.is_ok()).count() as u64);
        assert_eq!(std::fs::read_to_string(&errors).unwrap(), wrong);
        assert_eq!(stored(&target).await, model);
    }
}

#[tokio::test]
async fn an_import_that_stops_at_a_rejected_line_has_written_all_earlier_lines() {
    let mut random = StdRng::seed_from_u64(3);
    let (folder, target, name) = (folder(), Engine::in_memory(), table());
    let store = table_core::DynTableStore::new(target.clone());
    let rows: Vec<_> = (0..500).map(|row| entity(&("p".to_owned(), format!("{row:03}")), row)).collect();
    let broken = random.random_range(100..400);
    let mut records: Vec<Record> = rows.iter().cloned().map(Ok).collect();
    records[broken] = Err(Rejected { line: broken as u64 + 1, column: 0, reason: "broken".to_owned() });
    let mut state = state(&folder.path().join("state"), Duration::ZERO);
    let importing =
        Importing { store: &store, name: &name, mode: Mode::Replace, guards_parts: true, rate: None };
    let mut rejections = Rejections::open(None, &RejectedRecords::default()).unwrap();
    let failure =
        importing.run((1..).zip(records.into_iter()).map(Ok), &mut state, &mut rejections).await.unwrap_err();
    assert!(failure.to_string().starts_with(&format!("line {}: broken", broken + 1)), "{failure}");
    assert_eq!(state.state().records, broken as u64);
    assert_eq!(stored(&target).await.len(), broken);
    let records = (1..).zip(rows.into_iter().map(Ok)).map(Ok);
    assert_eq!(importing.run(records, &mut state, &mut rejections).await.unwrap(), 500);
    assert_eq!(stored(&target).await.len(), 500);
}

#[tokio::test]
async fn killed_synchronisations_end_with_equal_tables() {
    let (mut random, mut deaths) = (StdRng::seed_from_u64(4), 0);
    while deaths < DEATHS {
        let (left, mut right) = (random_rows(&mut random, 700), random_rows(&mut random, 200));
        right.extend(left.iter().filter(|_| random.random_bool(0.3)).map(|(key, n)| (key.clone(), *n)));
        let (source, target, name) = (filled(&left).await, filled(&right).await, table());
        let run = async |[source, target]: [table_core::DynTableStore; 2]| {
            sync(&source, &target, &name, &SyncOptions::default()).await
        };
        let (_, died) = killed(&mut random, [&source, &target], run).await;
        deaths += died;
        assert_eq!(stored(&target).await, left);
        let stores = [&source, &target].map(|engine| table_core::DynTableStore::new(engine.clone()));
        assert_eq!(run(stores).await.unwrap(), Differences::default());
    }
}

#[tokio::test]
async fn killed_deletions_delete_only_the_selected_rows() {
    let (mut random, mut deaths) = (StdRng::seed_from_u64(5), 0);
    while deaths < DEATHS {
        let model = random_rows(&mut random, 900);
        let (engine, name) = (filled(&model).await, table());
        let keys = KeyRange { partition_key: TextRange::prefix("p1"), row_key: TextRange::ALL };
        let (last, died) = killed(&mut random, [&engine], async |[store]| {
            delete(&store, &name, Query::new(keys.clone()).into(), false, None).await
        })
        .await;
        deaths += died;
        assert_eq!(last.kept, 0);
        let rest: Model =
            model.into_iter().filter(|((partition, _), _)| !partition.starts_with("p1")).collect();
        assert_eq!(stored(&engine).await, rest);
    }
}

#[tokio::test]
async fn killed_backups_and_restores_contain_each_row_once() {
    let (mut random, mut deaths, resumed) = (StdRng::seed_from_u64(6), 0, Cell::new(0));
    while deaths < 2 * DEATHS {
        let (first, second) = (random_rows(&mut random, 900), random_rows(&mut random, 900));
        let (folder, pause, name) = (folder(), pause(&mut random), table());
        let mut generations = Vec::new();
        for model in [&first, &second] {
            let engine = filled(model).await;
            let (captured, died) = killed(&mut random, [&engine], async |[store]| {
                // If a process does not die, it completes a generation, and the next process compares its rows with that generation.
                let repository = Repository::create(folder.path(), "a store")?;
                let options = CaptureOptions { pause, ..CaptureOptions::default() };
                let captured = capture(&repository, &store, &options).await?;
                resumed.set(resumed.get() + usize::from(captured.is_resumed));
                Ok(captured)
            })
            .await;
            deaths += died;
            let Contents::Rows { tables } = &captured.generation.contents else { panic!("rows") };
            assert_eq!(tables.iter().map(|table| table.rows).sum::<u64>(), model.len() as u64);
            generations.push(captured.generation);
        }
        let found = verify(&Repository::open(folder.path()).unwrap()).await.unwrap();
        assert!(found.damage.is_empty(), "{found:?}");
        for (generation, model) in generations.into_iter().zip([&first, &second]) {
            let target = Engine::in_memory();
            let (restored, died) = killed(&mut random, [&target], async |[target]| {
                let repository = Repository::open(folder.path())?;
                let backup = Opened::generation(repository, generation.clone())?;
                let (range, existing) = (&KeyRange::ALL, Existing::Refuse);
                let restoring = Restoring {
                    backup: &backup,
                    target: &target,
                    range,
                    existing,
                    others: OtherTables::default(),
                    rate: None,
                };
                restoring.table(&name, &name).await
            })
            .await;
            deaths += died;
            assert_eq!((restored.rows, restored.deleted), (model.len() as u64, 0));
            assert_eq!(stored(&target).await, *model);
        }
    }
    assert!(resumed.get() > 5, "{resumed:?}");
}

/// Tests that a restore accepts the rows of an interrupted restore. If the table also contains a different row, written by another program, the restore must
/// write nothing.
#[tokio::test]
async fn a_restore_that_would_overwrite_another_row_is_refused() {
    let mut random = StdRng::seed_from_u64(7);
    let (model, folder, name) = (random_rows(&mut random, 200), folder(), table());
    let repository = Repository::create(folder.path(), "a store").unwrap();
    let store = table_core::DynTableStore::new(filled(&model).await);
    let captured = capture(&repository, &store, &CaptureOptions::default()).await.unwrap();
    drop(repository);
    let part: Model = model.clone().into_iter().take(50).collect();
    let other_number = {
        let mut part = part.clone();
        *part.values_mut().last().unwrap() += 1;
        part
    };
    let other_key = part.clone().into_iter().chain([(("z".to_owned(), "z".to_owned()), 1)]).collect();
    for (found, is_refused) in [(part, false), (other_number, true), (other_key, true)] {
        let target = filled(&found).await;
        let repository = Repository::open(folder.path()).unwrap();
        let backup = Opened::generation(repository, captured.generation.clone()).unwrap();
        let store = table_core::DynTableStore::new(target.clone());
        let (range, existing) = (&KeyRange::ALL, Existing::Refuse);
        let restoring = Restoring {
            backup: &backup,
            target: &store,
            range,
            existing,
            others: OtherTables::default(),
            rate: None,
        };
        let outcome = restoring.table(&name, &name).await;
        assert_eq!(outcome.is_err(), is_refused, "{outcome:?}");
        assert_eq!(stored(&target).await, if is_refused { found } else { model.clone() });
    }
}
