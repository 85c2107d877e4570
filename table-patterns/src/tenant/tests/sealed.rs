//! Tests exports of sealed steps. Either every step is performed after the import, including steps that were set aside, or the export is refused.

use std::time::Duration;

use pollster::block_on;
use table_core::embedded::Engine;
use table_core::key::{EntityKey, PartitionKey, RowKey};
use table_core::name::TableName;
use table_core::queue::QueueName;
use table_core::row::RowWriter;
use table_core::runtime::Backoff;
use table_core::store::TableStore;
use table_core::transaction::Transaction;
use table_core::{Entity, ErrorCode, TableStoreExt, ValueRef};

use crate::EntityStore;
use crate::outbox::{Intent, Outbox, Step};
use crate::tenant::Tenant;
use crate::work::{Sweep, Worker, WorkerOptions};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company")]
#[partition_key(department)]
#[row_key("employee_", id)]
struct Employee {
    department: String,
    #[digits(4)]
    id: u32,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company")]
#[partition_key(department)]
#[row_key("room_", number)]
struct Room {
    department: String,
    #[digits(4)]
    number: u32,
}

/// A row of the directory, to which the steps write.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Directory")]
#[partition_key(book)]
#[row_key(of)]
struct Listed {
    book: String,
    of: String,
    phone: i32,
}

type Out = Outbox<Engine, Engine>;

fn outbox(store: &Engine, name: &str, key: Option<&str>) -> Out {
    let outbox = Outbox::new(store.clone(), Engine::in_memory(), QueueName::new(name).unwrap());
    block_on(outbox.create_queues()).unwrap();
    match key {
        Some(key) => outbox.sealed_by([key]),
        None => outbox,
    }
}

/// Returns a store with the companies table and, if `has_directory` is `true`, the table to which the recorded steps write.
fn store(has_directory: bool) -> Engine {
    let store = Engine::in_memory();
    block_on(async {
        store.table::<Employee>().create_if_missing().await?;
        if has_directory {
            store.create_table(&TableName::new("Directory")?).await?;
        }
        Ok::<_, table_core::Error>(())
    })
    .unwrap();
    store
}

/// Records a step that writes the row `row` to the directory.
fn record(outbox: &Out, row: &str) {
    record_phone(outbox, row, Some(7));
}

/// Records a step that writes `phone` to the row `row` of the directory, or that deletes the row if `phone` is `None`.
fn record_phone(outbox: &Out, row: &str, phone: Option<i32>) {
    let (table, key) = (TableName::new("Directory").unwrap(), EntityKey::new("phones", row).unwrap());
    let step = match phone {
        Some(phone) => {
            let mut writer = RowWriter::new();
            writer.property("Phone", ValueRef::Int32(phone));
            Step::insert_or_replace(table, key, writer.finish())
        }
        None => Step::delete_if_exists(table, key),
    };
    let limits = outbox.store().capabilities().limits;
    let mut transaction = Transaction::new(PartitionKey::new("Sales").unwrap(), limits).unwrap();
    outbox.record(&mut transaction, &Intent::of(RowKey::new(row).unwrap()).step(step)).unwrap();
    block_on(outbox.submit(&TableName::new("Company").unwrap(), transaction)).unwrap();
}

fn work(outbox: &Out) {
    let none = Backoff { initial: Duration::ZERO, max: Duration::ZERO };
    let options =
        WorkerOptions { redelivery: none, backoff: none, poison_after: 2, ..WorkerOptions::default() };
    block_on(Sweep::new(outbox.clone()).min_age(Duration::ZERO).sweep_registered()).unwrap();
    block_on(Worker::with_options(outbox.clone(), options).run_until_idle()).unwrap();
}

fn directory(store: &Engine) -> Vec<String> {
    let rows = store.untyped("Directory").unwrap();
    let rows = block_on(rows.query(table_core::Selection::partition("phones")).collect()).unwrap();
    rows.iter().map(|row| row.key().row_key.to_string()).collect()
}

#[test]
fn steps_that_were_set_aside_are_performed_after_an_import() {
    let (from, to) = (store(false), store(true));
    let (source, target) = (outbox(&from, "work", None), outbox(&to, "work", None));
    record(&source, "1");
    work(&source);
    record(&source, "2");
    assert_eq!(block_on(source.backlog()).unwrap().poison, 1);
    let tenant = |outbox: &Out| {
        let handle = outbox.store().entities_with_outbox::<Employee, _>(outbox.clone());
        Tenant::new().with_entities(&handle, Employee::partition("Sales")).unwrap()
    };
    block_on(tenant(&source).copy_to(&tenant(&target))).unwrap();
    work(&target);
    assert_eq!(directory(&to), ["1", "2"]);
    assert_eq!(block_on(target.backlog()).unwrap().poison, 0);
    assert_eq!(block_on(tenant(&target).count()).unwrap().reserved, 0);
}

#[test]
fn pat_ec_8_a_step_that_was_set_aside_overwrites_no_newer_step_after_an_import() {
    // The phone numbers that the two steps of one change write. The first step is set aside, and the second is performed before the export.
    for (first, second) in [(Some(7), Some(8)), (Some(7), None), (None, Some(8))] {
        let (from, to) = (store(false), store(true));
        let (source, target) = (outbox(&from, "work", None), outbox(&to, "work", None));
        record_phone(&source, "1", first);
        work(&source);
        assert_eq!(block_on(source.backlog()).unwrap().poison, 1);
        block_on(from.create_table(&TableName::new("Directory").unwrap())).unwrap();
        record_phone(&source, "1", second);
        work(&source);
        let tenant = |outbox: &Out| {
            let handle = outbox.store().entities_with_outbox::<Employee, _>(outbox.clone());
            let tenant = Tenant::new().with_entities(&handle, Employee::partition("Sales")).unwrap();
            tenant.with_table(&outbox.store().table::<Listed>(), Listed::partition("phones")).unwrap()
        };
        block_on(tenant(&source).copy_to(&tenant(&target))).unwrap();
        work(&target);
        let phone = block_on(to.table::<Listed>().get(Listed::key("phones", "1"))).unwrap();
        assert_eq!(phone.map(|phone| phone.phone), second, "after {first:?}");
        assert_eq!(block_on(tenant(&target).count()).unwrap().reserved, 1, "the guard");
    }
}

#[test]
fn pat_ec_4_an_export_without_an_outbox_is_refused_if_steps_are_recorded() {
    let (from, to) = (store(true), store(true));
    let (source, target) = (outbox(&from, "work", None), outbox(&to, "work", None));
    let plain = |store: &Engine| {
        Tenant::new().with_table(&store.table::<Employee>(), Employee::partition("Sales")).unwrap()
    };
    let with_outbox = |outbox: &Out| {
        let handle = outbox.store().entities_with_outbox::<Room, _>(outbox.clone());
        plain(outbox.store()).with_entities(&handle, Room::partition("Sales")).unwrap()
    };
    record(&source, "1");
    let error = block_on(plain(&from).copy_to(&with_outbox(&target))).unwrap_err();
    assert_eq!((error.code(), error.rule()), (ErrorCode::InvalidInput, Some("PAT-EC-4")), "{error}");
    assert!(error.message().contains("`EntityStore::entities_with_outbox`"), "{error}");
    // An import into a tenant without an outbox cannot seal the step.
    let mut export = String::new();
    let tenant = with_outbox(&source);
    let mut exporting = tenant.export();
    while let Some(lines) = block_on(exporting.step()).unwrap() {
        export += &lines;
    }
    let error = block_on(plain(&to).import().push(&export)).unwrap_err();
    assert_eq!(error.rule(), Some("PAT-EC-4"), "{error}");
    block_on(tenant.copy_to(&with_outbox(&target))).unwrap();
    work(&target);
    assert_eq!((directory(&to), block_on(target.backlog()).unwrap().poison), (vec!["1".to_owned()], 0));
    // If no steps are recorded, no outbox is needed.
    work(&source);
    block_on(plain(&from).copy_to(&plain(&store(true)))).unwrap();
}

#[test]
fn pat_ec_4_steps_of_two_outboxes_with_different_keys_are_performed_after_an_import() {
    for is_reversed in [false, true] {
        let (from, to) = (store(true), store(true));
        let sources = [
            outbox(&from, "first", Some("the first key of many")),
            outbox(&from, "second", Some("the second key of many")),
        ];
        record(&sources[0], "1");
        record(&sources[1], "2");
        let target = outbox(&to, "work", None);
        let tenant = |first: &Out, second: &Out| {
            let employees = first.store().entities_with_outbox::<Employee, _>(first.clone());
            let rooms = second.store().entities_with_outbox::<Room, _>(second.clone());
            let tenant = Tenant::new().with_entities(&employees, Employee::partition("Sales")).unwrap();
            tenant.with_entities(&rooms, Room::partition("Sales")).unwrap()
        };
        let [first, second] = &sources;
        let from = if is_reversed { tenant(second, first) } else { tenant(first, second) };
        block_on(from.copy_to(&tenant(&target, &target))).unwrap();
        work(&target);
        assert_eq!(directory(&to), ["1", "2"]);
        assert_eq!(block_on(target.backlog()).unwrap().poison, 0);
    }
}
