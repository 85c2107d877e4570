//! Tests that a typed read returns only entities. It may also find index rows that could be decoded as entities.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use pollster::block_on;
use proptest::prelude::*;
use table_core::group::Many;
use table_core::query::EntityRef;
use table_core::{
    Engine, Entity, EntityGroup, FromEntity, IndexEntry, Projection, TableEntity, TableStoreExt, Versioned,
};

/// An employee. The rows of both indexes have the properties and the `RowKey` of an employee row.
#[expect(
    clippy::duplicated_attributes,
    reason = "each index has separate attributes, which clippy mistakes for duplicates"
)]
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

/// A member with an index in the same partition.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Members")]
#[partition_key(club)]
#[row_key("no_", number)]
#[index(ByEmail, unique, row_key("email_", email))]
struct Member {
    club: String,
    #[digits(3)]
    number: u32,
    email: String,
}

#[derive(EntityGroup, Debug)]
struct Club {
    members: Many<Member>,
}

#[derive(EntityGroup, Debug)]
struct ClubWithOthers {
    members: Many<Member>,
    #[other]
    others: Vec<TableEntity>,
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

/// Writes entities and the rows of their indexes.
fn written<E: Entity>(entities: &[E]) -> Engine {
    let engine = Engine::in_memory();
    block_on(async {
        let table = engine.untyped(E::SCHEMA.table).unwrap().create_if_missing().await.unwrap();
        for entity in entities {
            let own = IndexEntry { key: entity.key_of().unwrap(), row: entity.to_row().unwrap() };
            let entries = E::INDEXES.iter().filter_map(|index| index.entry(entity).unwrap());
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

#[test]
fn a_group_skips_the_index_rows_of_its_members() {
    let members = [1, 2].map(|number| Member { club: "A".into(), number, email: format!("{number}@b.c") });
    let table = written(&members).table::<Member>();
    let club: Club = block_on(table.read_group(Member::partition("A"))).unwrap();
    assert!(club.members.values().eq(&members));
    let club: ClubWithOthers = block_on(table.read_group(Member::partition("A"))).unwrap();
    assert_eq!((club.members.len(), club.others.len()), (2, 2));
    let rows = table.store().untyped("Members").unwrap();
    block_on(rows.insert(&TableEntity::new("A", "robot").unwrap())).unwrap();
    let error = block_on(table.read_group::<Club>(Member::partition("A"))).unwrap_err();
    assert_eq!((error.rule(), error.key()), (Some("PAT-HET-6"), Some(("A", "robot"))));
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
        let ids: std::collections::BTreeSet<_> = ages.iter().map(|it| it.id).collect();
        prop_assert_eq!((ids.len(), ages.len()), (employees.len(), employees.len()));
    }
}
