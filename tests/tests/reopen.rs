//! Tests that an engine can be reopened as soon as it has been dropped or closed. This must work even while it merges segments and the process starts child
//! processes.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![cfg(unix)]

use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use table_core::embedded::{Durability, Engine, EngineOptions};
use table_core::limits::Limits;
use table_core::row::RowWriter;
use table_core::{
    BlockOn, ErrorCode, Operation, OperationKind, PartitionKey, Result, RowKey, TableName, TableStore,
    Transaction, ValueRef,
};

/// The number of times that the folder is opened, each time by a new engine.
const LIVES: u32 = 40;

fn open(folder: &Path) -> Result<Engine> {
    EngineOptions::new().durability(Durability::Relaxed).checkpoint_bytes(48 << 10).open(folder)
}

/// Replaces a hundred rows with rows that contain `number`.
fn put(engine: &Engine, table: &TableName, number: u32) -> Result<()> {
    let mut transaction = Transaction::new(PartitionKey::new("Sales")?, Limits::PORTABLE)?;
    for row in 0..100 {
        let mut writer = RowWriter::new();
        writer.property("Number", ValueRef::Int32(i32::try_from(number).unwrap()));
        writer.property("Text", ValueRef::Binary(&[7; 400]));
        let row_key = RowKey::new(format!("{:05}", (number * 37 + row) % 1_000))?;
        transaction.push(Operation { row_key, kind: OperationKind::InsertOrReplace(writer.finish()) })?;
    }
    engine.submit(table, transaction).block_on().map(drop)
}

/// Writes enough rows to trigger checkpoints and merges, and then closes or drops the engine.
fn live(engine: Engine, table: &TableName, number: u32) -> Result<()> {
    let snapshot = engine.snapshot()?;
    for part in 0..4 {
        put(&engine, table, number * 4 + part)?;
    }
    drop(snapshot);
    if number.is_multiple_of(2) { engine.close().block_on() } else { Ok(()) }
}

#[test]
fn a_folder_is_free_once_its_engine_is_dropped_even_while_processes_start() {
    let (root, table) = (tempfile::tempdir().unwrap(), TableName::new("Employee").unwrap());
    let folder = root.path().join("db");
    let ends = AtomicBool::new(false);
    let lives = || -> Result<()> {
        for number in 0..LIVES {
            let engine = open(&folder)?;
            match engine.create_table(&table).block_on() {
                Err(error) if error.code() != ErrorCode::TableAlreadyExists => return Err(error),
                _ => live(engine, &table, number)?,
            }
            // Backups and restores use different locks.
            if number.is_multiple_of(10) {
                let (copy, restored) = (root.path().join("copy"), root.path().join(number.to_string()));
                open(&folder)?.backup(&copy).block_on()?;
                Engine::restore(&copy, &restored)?;
                assert!(open(&restored)?.verify()?.is_whole());
            }
        }
        Ok(())
    };
    let outcome = thread::scope(|scope| {
        // Between fork and exec, a child process still holds this process's open files.
        let starts = || {
            while !ends.load(Ordering::Relaxed) {
                assert!(Command::new("true").status().unwrap().success());
            }
        };
        let started = scope.spawn(starts);
        let outcome = lives();
        ends.store(true, Ordering::Relaxed);
        started.join().unwrap();
        outcome
    });
    outcome.unwrap();
}
