//! Tests that the archive example does not lose an employee, whichever process dies while others write (PAT-EC-1 to PAT-EC-6).

use std::time::Duration;

use pollster::block_on;
use table_core::query::Select;
use table_core::row::RowWriter;
use table_core::{
    EntityKey, IfMatch, Operation, OperationKind, TableName, TableStore, Transaction, ValueRef,
};
use table_patterns::outbox::Intent;
use table_patterns::work::{Archive, Worker, archive};
use tests::faults::{Control, Death};

use crate::outbox::company::{Company, Store};

fn current() -> TableName {
    TableName::new("Current").unwrap()
}

fn archived() -> TableName {
    TableName::new("Archive").unwrap()
}

fn key() -> EntityKey {
    EntityKey::new("Sales", "000456").unwrap()
}

fn write(company: &Company, age: i32, insert: bool) -> bool {
    let mut writer = RowWriter::new();
    writer.property("Age", ValueRef::Int32(age));
    let row = writer.finish();
    let kind = if insert { OperationKind::Insert(row) } else { OperationKind::Replace(row, IfMatch::Any) };
    let limits = company.engine.capabilities().limits;
    let mut transaction = Transaction::new(key().partition_key, limits).unwrap();
    transaction.push(Operation { row_key: key().row_key, kind }).unwrap();
    block_on(company.engine.submit(&current(), transaction)).is_ok()
}

fn age(company: &Company, table: &TableName) -> Option<i32> {
    let found = block_on(company.engine.get(table, &key(), &Select::All)).unwrap()?;
    let Some(ValueRef::Int32(age)) = found.row.view().find("Age", &mut 0).unwrap() else { panic!("no age") };
    Some(age)
}

fn company() -> Company {
    let company = Company::new();
    for table in [current(), archived()] {
        block_on(company.engine.create_table(&table)).unwrap();
    }
    assert!(write(&company, 64, true));
    let intent = Intent::of(key().row_key).step(archive(&current(), &key(), &archived()).unwrap());
    let outbox = company.outbox(&Control::default());
    block_on(outbox.enqueue(&current(), &key().partition_key, &intent)).unwrap();
    company
}

fn worker(company: &Company, control: &Control) -> Worker<Store, Store> {
    company.worker(control).handler(Archive::new(control.over(company.engine.clone())))
}

fn settle(company: &Company) {
    let worker = worker(company, &Control::default());
    for _ in 0..3 {
        company.pass(Duration::from_secs(700));
        block_on(worker.run_until_idle()).unwrap();
    }
}

#[test]
fn pat_ec_3_que_22_and_que_23_an_entity_is_moved_without_a_gap_despite_crashes() {
    let control = Control::default();
    block_on(worker(&company(), &control).run_until_idle()).unwrap();
    assert!(control.calls() >= 6);
    for call in 1..=control.calls() {
        for death in [Death::Before, Death::After] {
            let company = company();
            let control = Control::dying(call, death);
            let _ = block_on(worker(&company, &control).run_until_idle());
            assert!(control.is_dead());
            // The entity may be in both tables, but must always be in at least one of them (PAT-EC-6).
            assert!(age(&company, &current()).or(age(&company, &archived())).is_some(), "lost at {call}");
            settle(&company);
            assert_eq!((age(&company, &current()), age(&company, &archived())), (None, Some(64)));
        }
    }
}

#[test]
fn pat_ec_2_a_write_between_any_two_calls_ends_up_in_the_archive() {
    let control = Control::default();
    block_on(worker(&company(), &control).run_until_idle()).unwrap();
    for before in 0..control.calls() {
        let company = company();
        let control = Control::default().stepped();
        let slow = worker(&company, &control);
        let mut running = Box::pin(slow.run_once());
        let mut ended = false;
        for _ in 0..=before {
            ended = ended || control.step(&mut running).is_some();
        }
        let written = write(&company, 65, false);
        // Another worker takes over and finishes before the first worker resumes.
        company.pass(Duration::from_secs(60));
        settle(&company);
        while !ended {
            ended = control.step(&mut running).is_some();
        }
        settle(&company);
        let last = if written { 65 } else { 64 };
        assert_eq!((age(&company, &current()), age(&company, &archived())), (None, Some(last)), "{before}");
    }
}
