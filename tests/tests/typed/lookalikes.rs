//! Tests of indexes in other partitions of their entities' table whose rows could be read as entities: a typed read returns the entities alone.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use pollster::block_on;
use proptest::prelude::*;
use table_core::query::EntityRef;
use table_core::{Engine, Entity, FromEntity, IndexEntry, Projection, TableEntity, TableStoreExt, Versioned};

/// An employee. The rows of both indexes have the properties and the `RowKey` of an employee.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Staff")]
#[partition_key(department)]
#[row_key(id)]
#[index(ByBadge, unique, partition_key("badge_", badge), row_key(id))]
#[index(ByName, unique, partition_key("name_", name), row_key(id))]
struct Employee {
    department: String,
    #[digits(3)]
    id: u32,
    badge: Option<String>,
    name: String,
    age: i32,
}

#[derive(Projection, Clone, Debug, PartialEq)]
#[projection(of = Employee)]
struct Age {
    id: u32,
    age: i32,
}

fn employees() -> impl Strategy<Value = Vec<Employee>> {
    let department = prop_oneof![Just("Sales"), Just("badge"), Just("name`"), Just("zoo")];
    let badge = prop::option::of("[12]");
    let employee = (department, badge, "[xy]", 0..99).prop_map(|(department, badge, name, age)| Employee {
        department: department.to_owned(),
        id: 0,
        badge,
        name,
        age,
    });
    let numbered = |employees: Vec<Employee>| {
        employees.into_iter().zip(0..).map(|(employee, id)| Employee { id, ..employee }).collect()
    };
    prop::collection::vec(employee, 0..12).prop_map(numbered)
}

/// Writes employees and the rows of their indexes.
fn written(employees: &[Employee]) -> Engine {
    let engine = Engine::in_memory();
    block_on(async {
        let table = engine.untyped("Staff").unwrap().create_if_missing().await.unwrap();
        for employee in employees {
            let own = IndexEntry { key: employee.key_of().unwrap(), row: employee.to_row().unwrap() };
            let entries = Employee::INDEXES.iter().filter_map(|index| index.entry(employee).unwrap());
            for IndexEntry { key, row } in [own].into_iter().chain(entries) {
                let bag = EntityRef::new(key.partition_key.as_str(), key.row_key.as_str(), row.view());
                table.insert(&TableEntity::from_entity(bag).unwrap()).await.unwrap();
            }
        }
    });
    engine
}

fn sorted(mut employees: Vec<Employee>) -> Vec<Employee> {
    employees.sort_by_key(|employee| employee.id);
    employees
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn scans_and_queries_of_a_table_skip_index_rows_that_look_like_entities(employees in employees()) {
        let table = written(&employees).table::<Employee>();
        let scan = || table.scan("a test").max_rows(100);
        prop_assert_eq!(&sorted(block_on(scan().collect()).unwrap()), &employees);
        let mut lent = Vec::new();
        block_on(scan().for_each(|employee| lent.push(Versioned::clone(employee).into_value()))).unwrap();
        prop_assert_eq!(&sorted(lent), &employees);
        let all = || table.query(Employee::partitions_by_department(..));
        prop_assert_eq!(&sorted(block_on(all().collect()).unwrap()), &employees);
        prop_assert_eq!(block_on(all().count()).unwrap(), employees.len() as u64);
        let ages = block_on(all().project::<Age>().collect()).unwrap();
        prop_assert_eq!(ages.iter().map(|it| it.age).sum::<i32>(), employees.iter().map(|it| it.age).sum::<i32>());
        let ages = block_on(scan().project::<Age>().collect()).unwrap();
        prop_assert_eq!(ages.iter().map(|it| it.id).count(), employees.len());
    }
}
