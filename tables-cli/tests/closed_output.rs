//! Tests that the program does the same work and returns the same exit code if its standard output has been closed by the reader.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;
use std::process::{Command, Output};

use table_core::{Engine, TableEntity, TableStoreExt};

/// Runs the program with its standard output closed.
fn unread(at: &Path, words: &[&str]) -> Output {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = Command::new(env!("CARGO_BIN_EXE_tables"));
    command.current_dir(at).args(words).stdout(writer).output().unwrap()
}

#[test]
fn a_failure_is_reported_also_if_the_output_is_closed() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("f.csv"), "PartitionKey,RowKey,Age\np,1,x\n").unwrap();
    let words = ["import", "Things", "f.csv", "--types", "Age=Int32", "--errors", "e", "--store", "s"];
    let done = unread(folder.path(), &words);
    let message = String::from_utf8(done.stderr).unwrap();
    assert!(
        done.status.code() == Some(3) && message.contains("1 row rejected"),
        "{}: {message}",
        done.status
    );
}

#[test]
fn a_copy_continues_after_its_output_is_closed_and_a_query_ends() {
    let folder = tempfile::tempdir().unwrap();
    let names: Vec<String> = (0..300).map(|n| format!("ATableWithALongName{n:03}")).collect();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let engine = Engine::open(folder.path().join("a")).unwrap();
        for name in &names {
            let table = engine.untyped(name).unwrap().create_if_missing().await.unwrap();
            table.insert(&TableEntity::new("p", "r").unwrap()).await.unwrap();
        }
    });
    let done = unread(folder.path(), &["copy", "--store", "a", "--to", "b"]);
    assert_eq!((done.status.code(), String::from_utf8(done.stderr).unwrap().as_str()), (Some(0), ""));
    let done = unread(folder.path(), &["get", names.last().unwrap(), "p", "r", "--store", "b"]);
    assert_eq!((done.status.code(), String::from_utf8(done.stderr).unwrap().as_str()), (Some(0), ""));
    let done = unread(folder.path(), &["ls", "--store", "b"]);
    assert_eq!((done.status.code(), String::from_utf8(done.stderr).unwrap().as_str()), (Some(0), ""));
}
