//! Tests set members with equal keys. One of them has no stored kind. Each read must return only the rows of its own type.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;

use pollster::block_on;
use proptest::prelude::*;
use table_core::{
    Engine, Entity, EntitySet, ErrorCode, Projection, Table, TableEntity, TableStoreExt, ToEntity, Versioned,
};

/// An employee without a kind, as declared by the first release of a program.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", set = Staff)]
#[partition_key(department)]
#[row_key("empid_", id)]
struct Employee {
    department: String,
    #[digits(3)]
    id: u32,
    name: String,
}

/// A manager, who has all properties of an employee.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", kind = "Manager", set = Staff)]
#[partition_key(department)]
#[row_key("empid_", id)]
struct Manager {
    department: String,
    #[digits(3)]
    id: u32,
    name: String,
    rate: i32,
}

#[derive(EntitySet, Clone, Debug, PartialEq)]
enum Staff {
    Employee(Employee),
    Manager(Manager),
    #[other]
    Unknown(TableEntity),
}

#[derive(Projection, Clone, Debug, PartialEq)]
#[projection(of = Employee)]
struct EmployeeName {
    name: String,
}

#[derive(Projection, Clone, Debug, PartialEq)]
#[projection(of = Manager)]
struct ManagerName {
    name: String,
}

fn staff() -> impl Strategy<Value = Staff> {
    let department = || "Sales".to_owned();
    (0_u32..8, "[ab]", prop::option::of(0..9)).prop_map(move |(id, name, rate)| match rate {
        Some(rate) => Staff::Manager(Manager { department: department(), id, name, rate }),
        None => Staff::Employee(Employee { department: department(), id, name }),
    })
}

fn written(staff: &[Staff]) -> Engine {
    let engine = Engine::in_memory();
    let table = block_on(engine.set::<Staff>().create_if_missing()).unwrap();
    for entity in staff {
        block_on(table.insert_or_replace(entity)).unwrap();
    }
    engine
}

/// Returns the entities in a partition. All kinds of reads must find the same entities.
fn found<E: Entity + Clone + std::fmt::Debug + PartialEq>(
    table: &Table<E, Engine>,
    sales: impl Fn() -> table_core::Selection<E, table_core::selection::Partition>,
) -> Vec<E> {
    let found = block_on(table.query(sales()).collect()).unwrap();
    let mut lent = Vec::new();
    block_on(table.query(sales()).for_each(|entity| lent.push(Versioned::clone(entity).into_value())))
        .unwrap();
    assert_eq!(lent, found);
    assert_eq!(block_on(table.scan("a test").max_rows(100).collect()).unwrap(), found);
    let first = block_on(table.query(sales()).first()).unwrap();
    assert_eq!(first.map(Versioned::into_value).as_ref(), found.first());
    found
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn each_row_of_equal_keys_belongs_to_the_type_of_its_kind(staff in prop::collection::vec(staff(), 0..12)) {
        let engine = written(&staff);
        let key = |it: &Staff| it.entity_key().unwrap().to_string();
        let model: BTreeMap<_, _> = staff.into_iter().map(|it| (key(&it), it)).collect();
        let (mut employees, mut managers) = (Vec::new(), Vec::new());
        for entity in model.values().cloned() {
            match entity {
                Staff::Employee(employee) => employees.push(employee),
                Staff::Manager(manager) => managers.push(manager),
                Staff::Unknown(_) => {}
            }
        }
        let (of_employees, of_managers) = (engine.table::<Employee>(), engine.table::<Manager>());
        prop_assert_eq!(&found(&of_employees, || Employee::partition("Sales")), &employees);
        prop_assert_eq!(&found(&of_managers, || Manager::partition("Sales")), &managers);
        let names = block_on(of_employees.query(Employee::partition("Sales")).project::<EmployeeName>().collect());
        prop_assert!(names.unwrap().iter().map(|it| &it.name).eq(employees.iter().map(|it| &it.name)));
        let names = block_on(of_managers.query(Manager::partition("Sales")).project::<ManagerName>().collect());
        prop_assert!(names.unwrap().iter().map(|it| &it.name).eq(managers.iter().map(|it| &it.name)));
        for Manager { id, .. } in managers {
            let error = block_on(of_employees.get(Employee::key("Sales", id))).unwrap_err();
            prop_assert_eq!((error.code(), error.rule()), (ErrorCode::EntityMismatch, Some("PAT-HET-1")));
            let key = Employee::key("Sales", id);
            let error = block_on(of_employees.update(key, |it| it.name.clear())).unwrap_err();
            prop_assert_eq!(error.code(), ErrorCode::EntityMismatch);
        }
    }
}

#[test]
fn a_row_of_an_unknown_kind_is_not_read_as_the_type_without_a_kind() {
    let engine = written(&[]);
    let robot = TableEntity::new("Sales", "empid_001").unwrap().with("EntityType", "Robot").with("Name", "R");
    block_on(engine.untyped("Company").unwrap().insert(&robot)).unwrap();
    let error =
        block_on(engine.table::<Employee>().query(Employee::partition("Sales")).collect()).unwrap_err();
    assert_eq!((error.code(), error.rule()), (ErrorCode::EntityMismatch, Some("PAT-HET-6")));
}
