//! Tests of `check` on wide entities: parts of different writes and missing parts are found, and rows of other entities are not.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::path::Path;

use common::{block_on, refused, shown};
use table_core::{Engine, EntityKey, IfMatch, TableEntity, TableStoreExt, Value};
use table_patterns::wide::{Wide, WideStore};
use tables_cli::Exit;
use uuid::Uuid;

#[derive(Debug, PartialEq, Wide)]
#[entity(table = "Counts", crate = table_patterns)]
#[partition_key(employee)]
#[row_key(year)]
struct YearOfCounts {
    #[digits(6)]
    employee: u32,
    #[digits(4)]
    year: u16,
    #[slots("Day", 1..=366)]
    days: [Option<i32>; 366],
}

/// Writes ten entities of two parts, and a row that lies between the parts of one entity.
fn fill(at: &Path) {
    block_on(async {
        let engine = Engine::open(at.join("db")).unwrap();
        let counts = engine.wide::<YearOfCounts>().create_if_missing().await.unwrap();
        for year in 2010..2020 {
            counts
                .insert_or_replace(&YearOfCounts { employee: 1, year, days: [Some(1); 366] })
                .await
                .unwrap();
        }
        let rows = engine.untyped("Counts").unwrap();
        rows.insert(&TableEntity::new("000001", "2014_01_07").unwrap().with("Note", "x")).await.unwrap();
        engine.close().await.unwrap();
    });
}

/// Changes or deletes the row with this RowKey.
fn change(at: &Path, row: &str, write: Option<u128>) {
    block_on(async {
        let engine = Engine::open(at.join("db")).unwrap();
        let (rows, key) = (engine.untyped("Counts").unwrap(), EntityKey::new("000001", row).unwrap());
        match write {
            None => {
                rows.delete(&key, IfMatch::Any).await.unwrap();
            }
            Some(write) => {
                let entity = TableEntity::new("000001", row).unwrap();
                let write = Value::Guid(Uuid::from_u128(write));
                rows.insert_or_merge(&entity.with("WriteId", write)).await.unwrap();
            }
        }
        engine.close().await.unwrap();
    });
}

#[test]
fn mixed_and_incomplete_wide_entities_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    fill(at);
    let text = shown(at, "check Counts --store DB -o csv");
    assert!(text.contains("Counts,,wide,ok,10 wide entities"), "{text}");
    change(at, "2014_02", Some(7));
    change(at, "2016_01", None);
    let (exit, text) = refused(at, "check Counts --store DB");
    assert!(exit == Exit::Refused && text.starts_with("2 faults"), "{text}");
    let (_, text) = common::tables(at, "check Counts --store DB -o csv");
    let expected =
        "('000001', '2014'): part 2 belongs to another write, ('000001', '2016'): part 1 is missing";
    assert!(text.contains(expected), "{text}");
    change(at, "2012_05", Some(9));
    let (_, text) = common::tables(at, "check Counts --store DB -o csv");
    assert!(text.contains("('000001', '2012'): part 3 is missing"), "{text}");
}
