//! Tests of the complete engine, with one file per topic. This file contains shared test functions.

mod answers;
mod backup;
pub(crate) mod callbacks;
mod checkpoints;
mod close;
mod compactions;
mod copies;
mod crashes;
mod extremes;
mod faults;
mod faulty;
mod folders;
mod full_disk;
pub(crate) mod gate;
mod images;
mod model;
mod pages;
mod power;
mod read_only;
mod recovery;
mod restore;
mod reuse;
mod room;
pub(crate) mod sim;
mod statistics;
mod synced;
mod tables;
mod threads;
mod writes;

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use table_store::etag::{ETag, IfMatch};
use table_store::key::{EntityKey, PartitionKey, RowKey};
use table_store::limits::Limits;
use table_store::name::TableName;
use table_store::operation::{Operation, OperationKind};
use table_store::query::{KeyRange, Query, Select};
use table_store::row::{Row, RowWriter};
use table_store::store::{Committed, StoredRow, TableStore};
use table_store::transaction::Transaction;
use table_store::{Error, ErrorCode, Result, Value, ValueRef};

use self::gate::GatedDisk;
use crate::{Engine, EngineOptions};

fn wait<T>(future: impl Future<Output = T>) -> T {
    pollster::block_on(future)
}

fn name(text: &str) -> TableName {
    TableName::new(text).unwrap()
}

fn employees() -> TableName {
    name("Employee")
}

/// Returns a row whose only property is `N`.
fn row(n: i32) -> Row {
    properties(&[("N", Value::Int32(n))])
}

fn properties(properties: &[(&str, Value)]) -> Row {
    let mut writer = RowWriter::new();
    for (name, value) in properties {
        writer.property(name, value.as_ref());
    }
    writer.finish()
}

fn insert(n: i32) -> OperationKind {
    OperationKind::Insert(row(n))
}

fn upsert(n: i32) -> OperationKind {
    OperationKind::InsertOrReplace(row(n))
}

fn delete() -> OperationKind {
    OperationKind::Delete(IfMatch::Any)
}

fn transaction(partition_key: &str, operations: Vec<(&str, OperationKind)>) -> Transaction {
    let mut transaction =
        Transaction::new(PartitionKey::new(partition_key).unwrap(), Limits::UNLIMITED).unwrap();
    for (row_key, kind) in operations {
        transaction.push(Operation { row_key: RowKey::new(row_key).unwrap(), kind }).unwrap();
    }
    transaction
}

fn submit(engine: &Engine, partition_key: &str, operations: Vec<(&str, OperationKind)>) -> Result<Committed> {
    wait(engine.submit(&employees(), transaction(partition_key, operations)))
}

/// Applies one operation to the entity (`Sales`, `row_key`).
fn write(engine: &Engine, row_key: &str, kind: OperationKind) -> Result<Option<ETag>> {
    submit(engine, "Sales", vec![(row_key, kind)]).map(|committed| committed[0].clone())
}

fn get(engine: &Engine, partition_key: &str, row_key: &str) -> Option<StoredRow> {
    let key = EntityKey::new(partition_key, row_key).unwrap();
    wait(engine.get(&employees(), &key, &Select::All)).unwrap()
}

/// Returns the `N` property of the entity (`Sales`, `row_key`).
fn number(engine: &Engine, row_key: &str) -> Option<i32> {
    get(engine, "Sales", row_key).map(|found| number_of(&found.row))
}

fn number_of(row: &Row) -> i32 {
    match row.view().find("N", &mut 0).unwrap() {
        Some(ValueRef::Int32(n)) => n,
        other => panic!("N is {other:?}"),
    }
}

/// Returns the keys of all entities in the table, each with its value of `N`.
fn all(engine: &Engine) -> Vec<(String, String, i32)> {
    let query = Query::new(KeyRange::ALL);
    let (mut found, mut from) = (Vec::new(), None);
    loop {
        let page = wait(engine.query(&employees(), &query, from.as_ref())).unwrap();
        for entity in page.rows.iter() {
            let row = entity.row.to_row();
            let n = number_of(&row);
            found.push((entity.partition_key.to_owned(), entity.row_key.to_owned(), n));
        }
        match page.continuation {
            Some(next) => from = Some(next),
            None => return found,
        }
    }
}

fn outcome(error: &Error) -> (ErrorCode, Option<usize>) {
    (error.code(), error.operation())
}

fn in_memory() -> Engine {
    let engine = Engine::in_memory();
    wait(engine.create_table(&employees())).unwrap();
    engine
}

/// Returns engine options with a test disk.
fn options() -> EngineOptions {
    EngineOptions::new().disk(Arc::new(GatedDisk::default()))
}

/// Opens an engine in a folder, and creates the table `Employee` if it is missing.
fn on_disk(folder: &Path) -> Engine {
    with_table(options().open(folder).unwrap())
}

fn with_table(engine: Engine) -> Engine {
    callbacks::with_panics_at_events();
    match wait(engine.create_table(&employees())) {
        Err(error) if !error.is_already_exists() => panic!("{error}"),
        _ => engine,
    }
}

/// Waits until `holds` returns `true`. Panics after a time limit that is far longer than any expected wait.
fn eventually(what: &str, holds: impl Fn() -> bool) {
    const BOUND: Duration = Duration::from_secs(10 * 60);
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < BOUND, "it did not happen: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Copies a folder as a crash of the process would leave it. All writes have reached the operating system, but no file has been closed.
fn copy_folder(from: &Path) -> tempfile::TempDir {
    let copy = tempfile::tempdir().unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        std::fs::copy(entry.path(), copy.path().join(entry.file_name())).unwrap();
    }
    copy
}

/// Runs a test on an in-memory engine and on an engine on disk. The second argument of the test is a function. On disk, it moves the rows written so far to the
/// base.
fn everywhere(test: impl Fn(&Engine, &dyn Fn())) {
    let engine = in_memory();
    test(&engine, &|| ());
    let folder = tempfile::tempdir().unwrap();
    let engine = on_disk(folder.path());
    test(&engine, &|| wait(engine.checkpoint()).unwrap());
}
