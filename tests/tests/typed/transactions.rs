//! Tests typed transactions and bulk writes: errors when an operation is added, results, and resumption after an error.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::num::NonZeroU32;

use pollster::block_on;
use table_core::embedded::{Engine, EngineOptions, FaultInjection};
use table_core::table::WrittenPositions;
use table_core::{ErrorCode, IfMatch, PartitionKey, Result, Table, TableStoreExt};
use tests::employee::Employee;

fn on(engine: &Engine) -> Table<Employee, Engine> {
    engine.table()
}

fn employees() -> Table<Employee, Engine> {
    block_on(on(&Engine::in_memory()).create_if_missing()).unwrap()
}

fn count(table: &Table<Employee, Engine>) -> usize {
    block_on(table.scan("to count").max_rows(1_000_000).collect()).unwrap().len()
}

#[test]
fn egt_6_a_transaction_chains_and_commits() -> Result<()> {
    block_on(async {
        let table = employees();
        let ada = table.insert(&Employee::new("Sales", 1)).await?;
        table.insert(&Employee::new("Sales", 9)).await?;
        let mut sales = table.transaction(Employee::partition("Sales"))?;
        sales
            .insert(&Employee::new("Sales", 2))?
            .replace(&Employee { age: 31, ..Employee::new("Sales", 1) }, ada)?
            .insert_or_merge(&Employee::new("Sales", 3))?
            .insert_or_replace(&Employee::new("Sales", 4))?
            .delete(Employee::key("Sales", 9), IfMatch::Any)?;
        assert_eq!((sales.len(), sales.bytes() > 0), (5, true));
        let etags = sales.commit().await?;
        assert_eq!(etags.iter().map(Option::is_some).collect::<Vec<_>>(), [true, true, true, true, false]);
        let read = table.get(Employee::key("Sales", 1)).await?.unwrap();
        assert_eq!((read.age, Some(read.etag())), (31, etags[1].as_ref()));
        Ok(())
    })
}

#[test]
fn egt_2_to_5_are_checked_at_the_call() -> Result<()> {
    let table = employees();
    let mut sales = table.transaction(&Employee::new("Sales", 0))?;
    sales.insert(&Employee::new("Sales", 0))?;
    let facts = |error: table_core::Error| (error.code(), error.rule(), error.operation());
    let error = sales.insert(&Employee::new("Marketing", 1)).unwrap_err();
    assert_eq!(error.table(), Some("Employee"));
    let partitions = ErrorCode::CommandsInBatchActOnDifferentPartitions;
    assert_eq!(facts(error), (partitions, Some("EGT-5"), Some(1)));
    let error = sales.delete(Employee::key("Sales", 0), IfMatch::Any).unwrap_err();
    assert_eq!(facts(error), (ErrorCode::InvalidDuplicateRow, Some("EGT-4"), Some(1)));
    for id in 1..100 {
        sales.insert(&Employee::new("Sales", id))?;
    }
    let error = sales.insert(&Employee::new("Sales", 100)).unwrap_err();
    assert!(error.to_string().contains("100"), "{error}");
    assert_eq!(facts(error), (ErrorCode::InvalidInput, Some("EGT-2"), Some(100)));
    // A rejected operation leaves the transaction unchanged.
    block_on(sales.commit())?;
    assert_eq!(count(&table), 100);

    let mut empty = table.transaction(PartitionKey::new("Sales")?)?;
    assert!(empty.is_empty());
    assert_eq!(block_on(empty.clone().commit()).unwrap_err().rule(), Some("EGT-12"));
    let large = Employee { first_name: "x".repeat(32_769), ..Employee::new("Sales", 7) };
    assert_eq!(empty.insert(&large).unwrap_err().rule(), Some("TYPE-10"));
    Ok(())
}

#[test]
fn imp_3_a_failed_commit_names_the_operation_and_applies_none() -> Result<()> {
    let table = employees();
    block_on(table.insert(&Employee::new("Sales", 5)))?;
    let mut sales = table.transaction(Employee::partition("Sales"))?;
    sales.insert(&Employee::new("Sales", 4))?.insert(&Employee::new("Sales", 5))?;
    let error = block_on(sales.commit()).unwrap_err();
    assert!(error.is_already_exists());
    assert_eq!((error.operation(), error.key()), (Some(1), Some(("Sales", "000005"))));
    assert_eq!(count(&table), 1);
    Ok(())
}

#[test]
fn bulk_writes_any_number_over_partitions_and_reports_progress() {
    let table = employees();
    let all: Vec<Employee> =
        (0..5_000).map(|id| Employee::new(if id % 3 == 0 { "Sales" } else { "Marketing" }, id)).collect();
    let mut reports = Vec::new();
    let written =
        block_on(table.bulk().on_progress(|progress| reports.push(progress)).insert_all(&all)).unwrap();
    assert_eq!(written, (0..5_000).collect());
    assert_eq!(count(&table), 5_000);
    assert!(reports.iter().all(|progress| progress.transaction <= 100));
    assert!(reports.is_sorted_by(|earlier, later| earlier.written < later.written));
    assert_eq!(reports.last().map(|progress| progress.written), Some(5_000));
    let deleted = block_on(table.bulk().delete_all((0..3).map(|id| Employee::key("Marketing", id + 1))));
    assert_eq!(deleted.unwrap_err().at, Some(2), "number 3 is in Sales");
}

#[test]
fn bulk_keeps_the_order_of_one_entity() -> Result<()> {
    let table = employees();
    let all = (0..350).map(|age| Employee { age, ..Employee::new("Sales", 1) });
    block_on(table.bulk().insert_or_replace_all(all)).unwrap();
    assert_eq!(block_on(table.get(Employee::key("Sales", 1)))?.unwrap().age, 349);
    Ok(())
}

#[test]
fn a_failed_bulk_write_states_exactly_what_is_written_and_resumes() {
    let table = employees();
    block_on(table.insert(&Employee::new("Sales", 250))).unwrap();
    let all: Vec<Employee> = (0..1_000)
        .map(|id| Employee::new(if id < 500 { "Sales" } else { "Marketing" }, id))
        .chain([Employee::new("a/b", 1)])
        .collect();
    let error = block_on(table.bulk().insert_all(&all)).unwrap_err();
    assert!(error.source.is_already_exists());
    assert_eq!((error.at, error.unknown.is_empty()), (Some(250), true));
    assert!(error.to_string().contains("entity 250"), "{error}");
    // The entities that were reported, and no others, are stored.
    for (position, employee) in all.iter().enumerate().take(1_000).filter(|(position, _)| *position != 250) {
        let key = Employee::key(&employee.department, employee.id);
        let stored = block_on(table.get(key)).unwrap();
        assert_eq!(stored.is_some(), error.written.contains(position), "{position}");
    }
    block_on(table.delete(Employee::key("Sales", 250), IfMatch::Any)).unwrap();
    let error = block_on(table.bulk().resume(error.written).insert_all(&all)).unwrap_err();
    assert_eq!((error.at, error.source.rule()), (Some(1_000), Some("KEY-3")));
    assert_eq!(error.written, (0..1_000).collect());
    assert_eq!(count(&table), 1_000);
}

#[test]
fn con_11_a_bulk_write_states_what_may_have_been_written() {
    let faults = FaultInjection { lose_answer_every: NonZeroU32::new(2), ..FaultInjection::default() };
    let engine = EngineOptions::new().faults(faults).in_memory();
    let table = on(&engine);
    // The table is created without a schema, because storing a schema would take another transaction.
    block_on(engine.create_table_if_missing(table.name().unwrap())).unwrap();
    let all: Vec<Employee> = (0..400).map(|id| Employee::new("Sales", id)).collect();
    let error = block_on(table.bulk().insert_all(&all)).unwrap_err();
    assert!(error.source.is_ambiguous());
    let expected: WrittenPositions = (0..100).collect();
    assert_eq!((error.written, error.unknown.len()), (expected, 100));
}
