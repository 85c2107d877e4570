//! Tests entities with properties that cannot be decoded, and bookkeeping rows that another program has written. Each of these may affect only one entity.

use pollster::block_on;
use table_core::embedded::Engine;
use table_core::key::EntityKey;
use table_core::operation::OperationKind;
use table_core::property::Property;
use table_core::row::RowWriter;
use table_core::{EdmType, Entity, Error, ErrorCode, Result, TableStoreExt, ValueRef};

use super::kit::{Company, Employee, Headcount};
use crate::EntityStore;
use crate::converge;
use crate::view::record::{places_key, share_key};
use crate::view::{Projection, View, ViewTable};

/// A percentage. Decoding a larger number fails with the error code of a busy store.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Percent(i32);

impl Property for Percent {
    const EDM: EdmType = EdmType::Int32;

    fn write_to(&self, name: &str, row: &mut RowWriter) -> Result<()> {
        row.property(name, ValueRef::Int32(self.0));
        Ok(())
    }

    fn from_value(value: Option<ValueRef<'_>>) -> Result<Self> {
        match value {
            Some(ValueRef::Int32(percent)) if percent <= 100 => Ok(Self(percent)),
            _ => Err(Error::new(ErrorCode::ServerBusy, "not a percentage")),
        }
    }
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Progress", feed)]
#[partition_key(project)]
#[row_key(number)]
struct Task {
    project: String,
    #[digits(4)]
    number: u32,
    done: Percent,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Totals")]
#[partition_key(project)]
#[row_key("total")]
struct Total {
    project: String,
    tasks: i64,
}

struct Totals;

impl View for Totals {
    type Source = Task;
    type Row = Total;

    fn project(task: &Task, view: &mut Projection<Total>) -> Result<()> {
        view.add(Total::key(&task.project), Total::TASKS, 1)
    }
}

#[test]
fn imp_6_an_entity_whose_decoding_returns_any_error_is_set_aside_and_stops_no_other() {
    let engine = Engine::in_memory();
    block_on(async {
        let tasks = engine.entities::<Task>().create_if_missing().await.unwrap();
        let view = ViewTable::<Totals, _>::new(engine.clone()).create_if_missing().await.unwrap();
        for (number, done) in [(1, 10), (2, 101), (3, 30)] {
            tasks.insert(&Task { project: "a".into(), number, done: Percent(done) }).await.unwrap();
        }
        assert_eq!(view.rebuild().run().await.unwrap().failed, 1);
        tasks.insert(&Task { project: "a".into(), number: 4, done: Percent(40) }).await.unwrap();
        tasks.insert(&Task { project: "a".into(), number: 5, done: Percent(400) }).await.unwrap();
        assert_eq!(view.catch_up(100).await.unwrap().failed, 1);
        let total = view.table().await.unwrap().get(Total::key("a")).await.unwrap().unwrap();
        assert_eq!(total.tasks, 3);
        let poison = view.poison().await.unwrap();
        assert!(
            poison.len() == 2 && poison.iter().all(|one| one.error.contains("not a percentage")),
            "{poison:?}"
        );
        assert_eq!(view.apply(&poison[0].source).await.unwrap_err().code(), ErrorCode::InvalidInput);
    });
}

/// Replaces a bookkeeping row of the view, as another program might.
fn damage(company: &Company, key: &EntityKey, properties: &[(&str, &str)]) {
    let mut row = RowWriter::new();
    for (name, text) in properties {
        row.property(name, ValueRef::String(text));
    }
    let write = [(key.row_key.clone(), OperationKind::InsertOrReplace(row.finish()))];
    let table = company.view.rows.name().unwrap();
    block_on(converge::submit(&company.engine, table, &key.partition_key, write)).unwrap();
}

#[test]
fn imp_6_a_damaged_list_or_record_with_an_invalid_key_stops_no_other_entity() {
    let source = |id| Employee::key("Sales", id).into_key().unwrap();
    let london = table_core::PartitionKey::new("London").unwrap();
    let record = share_key(&london, &source(1)).unwrap();
    let of = "[\"Sales\",\"empid_000001\"]";
    let damages: [(EntityKey, &[(&str, &str)]); 5] = [
        (places_key(&source(1)).unwrap(), &[("Places", "[\"a/b\"]")]),
        (record.clone(), &[("Source", of), ("Rows", "[]"), ("Sums", "{\"a/b\":{\"Years\":1}}")]),
        (record.clone(), &[("Source", of), ("Rows", "[\"a/b\"]"), ("Sums", "{}")]),
        (record.clone(), &[("Source", of), ("Rows", "[]"), ("Sums", "1 year")]),
        (record, &[("Source", of), ("Rows", "[]"), ("Sums", "{}"), ("Cut", "{\"a\":{\"a/b\":{}}}")]),
    ];
    for (key, properties) in damages {
        let company = Company::new();
        for id in 1..3 {
            company.hire("Sales", id, "Ada", "London", 70);
        }
        company.catch_up();
        damage(&company, &key, properties);
        company.change("Sales", 1, |one| one.age = 71);
        company.change("Sales", 2, |one| "Rome".clone_into(&mut one.city));
        company.hire("Sales", 3, "Ed", "Rome", 80);
        company.catch_up();
        let at = format!("{properties:?}");
        let sums = |of: &str| {
            let row = block_on(company.engine.table::<Headcount>().get(Headcount::key(of, "all")));
            row.unwrap().map(|row| (row.employees, row.years)).unwrap()
        };
        assert_eq!(sums("Rome"), (2, 150), "{at}");
        let poison = block_on(company.view.poison()).unwrap();
        assert_eq!(poison.iter().map(|one| one.source.clone()).collect::<Vec<_>>(), [source(1)], "{at}");
        let progress = block_on(company.view.rebuild().run()).unwrap();
        assert!(progress.failed >= 1, "{at}");
        // A recount without the record would lose the last valid contribution of the entity.
        assert_eq!((sums("London"), sums("Rome"), sums("Sales")), ((1, 70), (2, 150), (3, 0)), "{at}");
    }
}
