//! Tests that `check` finds wide entities with parts from different writes or with missing parts, and does not report the rows of other entities.

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
    office: String,
    #[slots("Day", 1..=366)]
    days: [Option<i32>; 366],
}

/// Writes ten entities with two parts each, and a row that sorts between the parts of one entity.
fn fill(at: &Path) {
    block_on(async {
        let engine = Engine::open(at.join("db")).unwrap();
        let counts = engine.wide::<YearOfCounts>().create_if_missing().await.unwrap();
        for year in 2010..2020 {
            counts
                .insert_or_replace(&YearOfCounts {
                    employee: 1,
                    year,
                    office: "Riga".to_owned(),
                    days: [Some(1); 366],
                })
                .await
                .unwrap();
        }
        let rows = engine.untyped("Counts").unwrap();
        rows.insert(&TableEntity::new("000001", "2014_01_07").unwrap().with("Note", "x")).await.unwrap();
        engine.close().await.unwrap();
    });
}

/// Sets the `WriteId` of the row with this RowKey, or deletes the row.
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

#[test]
fn an_audit_explains_the_parts_of_wide_entities_by_the_schema_of_the_whole() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    fill(at);
    let text = shown(at, "audit Counts --store DB -o csv");
    let unexplained: Vec<_> = text.lines().filter(|line| line.contains("no declared type")).collect();
    assert!(unexplained.len() == 1 && unexplained[0].contains(",1,\"('000001', '2014_01_07')\","), "{text}");
    assert!(!text.contains("ENT-2") && !text.contains("TYPE-12"), "{text}");
}

/// Adds a third part to an entity, as if a program with a newer declaration had written all its parts together.
fn add_third_part(at: &Path) {
    block_on(async {
        let engine = Engine::open(at.join("db")).unwrap();
        let rows = engine.untyped("Counts").unwrap();
        let first = rows.get(&EntityKey::new("000001", "2015_01").unwrap()).await.unwrap().unwrap();
        let write = first.get("WriteId").unwrap().clone();
        rows.insert(&TableEntity::new("000001", "2015_03").unwrap().with("WriteId", write)).await.unwrap();
        engine.close().await.unwrap();
    });
}

#[test]
fn transfers_that_keep_other_parts_of_a_replaced_entity_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (at, source) = (folder.path(), tempfile::tempdir().unwrap());
    fill(at);
    fill(source.path());
    add_third_part(at);
    let other = source.path().join("db").display().to_string();
    shown(at, &format!("backup DIR/backup --store {other}"));
    shown(at, &format!("export Counts DIR/all.jsonl --store {other}"));
    let before = shown(at, "count Counts --checksum --store DB");
    for line in [
        format!("copy Counts --store {other} --to DB"),
        format!("copy --store {other} --to DB"),
        format!("copy Counts --partition 000001 --store {other} --to DB"),
        format!("sync Counts --no-delete --store {other} --to DB"),
        "restore DIR/backup DB Counts --keep".to_owned(),
        "restore DIR/backup DB --keep".to_owned(),
        "import Counts DIR/all.jsonl --store DB".to_owned(),
    ] {
        let (exit, text) = refused(at, &line);
        assert!(exit == Exit::Refused && text.contains("wide entity"), "{line}: {text}");
        assert_eq!(shown(at, "count Counts --checksum --store DB"), before, "{line}");
    }
    shown(at, &format!("sync Counts --store {other} --to DB"));
    shown(at, "check Counts --store DB");
    // A part is not from a different write if it is equal to the stored part.
    shown(at, &format!("copy Counts --store {other} --to DB"));
    shown(at, "import Counts DIR/all.jsonl --store DB");
    shown(at, "check Counts --store DB");
}

#[derive(Debug, PartialEq, Wide)]
#[entity(table = "Years", kind = "Year", crate = table_patterns)]
#[partition_key(employee)]
#[row_key(year)]
struct YearWithKind {
    #[digits(6)]
    employee: u32,
    #[digits(4)]
    year: u16,
    office: String,
    #[slots("Day", 1..=366)]
    days: [Option<i32>; 366],
}

#[test]
fn all_parts_of_a_wide_entity_with_a_kind_belong_to_its_type() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    block_on(async {
        let engine = Engine::open(at.join("db")).unwrap();
        let years = engine.wide::<YearWithKind>().create_if_missing().await.unwrap();
        for year in 2010..2013 {
            let whole = YearWithKind { employee: 1, year, office: "Riga".to_owned(), days: [Some(1); 366] };
            years.insert_or_replace(&whole).await.unwrap();
        }
        engine.close().await.unwrap();
    });
    let (_, audited) = common::tables(at, "audit Years --store DB -o csv");
    assert!(!audited.contains("PAT-HET-6") && !audited.contains("TYPE-12"), "{audited}");
    assert_eq!(shown(at, "count Years employee=1 --store DB -o csv"), "rows\n6\n");
    assert_eq!(shown(at, "count Years year=2011.. --store DB -o csv"), "rows\n4\n");
    assert_eq!(shown(at, "delete Years year=2011..2011 --yes --store DB"), "deleted 2 rows\n");
    assert_eq!(shown(at, "check Years --store DB -o csv").lines().count(), 2);
}
