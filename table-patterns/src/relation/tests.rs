mod many;
mod recorded;
mod reserved;
mod same_row;
mod unreadable;
mod whole_partition;

use std::time::Duration;

use pollster::block_on;
use table_core::embedded::Engine;
use table_core::group::{Many, One};
use table_core::retry::Retry;
use table_core::testing::LimitedStore;
use table_core::{Entity, EntityGroup, ErrorCode, TableStoreExt};

use super::*;
use crate::EntityStore;
use crate::participant::{Changes, Participant};
use crate::tests::faults::{Call, Fault, FaultyStore, sendable};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company")]
#[partition_key(department)]
#[row_key("empid_", id)]
struct Employee {
    department: String,
    #[digits(6)]
    id: u32,
    age: i32,
}

#[derive(Entity, Clone, Debug, PartialEq)]
// The table names differ in case, but are equal because table names are case-insensitive.
#[entity(table = "company")]
#[partition_key(department)]
#[row_key("empid_", employee, "_", year)]
struct Review {
    department: String,
    #[digits(6)]
    employee: u32,
    #[digits(4)]
    year: u16,
    rating: i32,
}

#[derive(EntityGroup)]
#[entity_group(under = Employee)]
struct EmployeeWithReviews {
    employee: One<Employee>,
    reviews: Many<Review>,
}

type Employees = Entities<Employee, FaultyStore<Engine>>;

fn employees() -> (Employees, FaultyStore<Engine>) {
    let store = FaultyStore::new(Engine::in_memory());
    let employees = block_on(store.entities::<Employee>().create_if_missing()).unwrap();
    store.heal();
    let retry = Retry::new(1_000, Duration::from_micros(10), Duration::from_millis(1));
    (employees.with_retry(retry), store)
}

fn ada() -> Employee {
    Employee { department: "Sales".into(), id: 223, age: 36 }
}

fn review(year: u16) -> Review {
    Review { department: "Sales".into(), employee: 223, year, rating: 5 }
}

fn key() -> Selection<Employee, Point> {
    Employee::key("Sales", 223)
}

fn rows(employees: &Employees) -> Vec<String> {
    let untyped = employees.table().store().untyped("Company").unwrap();
    let bags = block_on(untyped.query(Selection::partition("Sales")).collect()).unwrap();
    bags.iter().map(|bag| bag.key().row_key.to_string()).collect()
}

/// Tests that transactions maintain a one-to-many relationship (IMP-6).
#[test]
fn pat_ck_3_a_part_needs_its_owner() {
    let (employees, store) = employees();
    let error = block_on(employees.insert_part(key(), &review(2012))).unwrap_err();
    assert!(error.is_not_found() && error.operation() == Some(0));
    block_on(employees.insert(&ada())).unwrap();
    store.heal();
    block_on(employees.insert_part(key(), &review(2012))).unwrap();
    assert_eq!(store.calls(), [Call::Submit]);
    insta::assert_snapshot!(rows(&employees).join(" "), @"empid_000223 empid_000223_2012");
    assert_eq!(block_on(employees.insert_part(key(), &review(2012))).unwrap_err().operation(), Some(1));
    let group: EmployeeWithReviews = block_on(employees.table().read_group(key())).unwrap();
    assert_eq!(
        (group.employee.value(), group.reviews.len()),
        (&ada(), 1),
        "the owner is touched, not changed"
    );
}

#[test]
fn pat_ck_3_a_part_of_another_owner_is_refused() {
    let (employees, store) = employees();
    let elsewhere = Review { department: "Marketing".into(), ..review(2012) };
    let of_another = Review { employee: 224, ..review(2012) };
    for part in [elsewhere, of_another] {
        let error = block_on(employees.insert_part(key(), &part)).unwrap_err();
        assert_eq!((error.code(), error.rule()), (ErrorCode::InvalidInput, Some("PAT-CK-3")));
    }
    assert_eq!(block_on(employees.insert_part(key(), &ada())).unwrap_err().rule(), Some("PAT-CK-3"));
    assert_eq!(store.calls(), []);
}

#[test]
fn pat_ck_3_a_delete_removes_all_parts_and_none_of_other_owners() {
    let (employees, store) = employees();
    for id in [222, 223, 224] {
        block_on(employees.insert(&Employee { id, ..ada() })).unwrap();
        let part = Review { employee: id, ..review(2012) };
        block_on(employees.insert_part(Employee::key("Sales", id), &part)).unwrap();
    }
    store.heal();
    assert_eq!(block_on(employees.delete_with_parts(key())).unwrap(), 2);
    assert_eq!(store.calls(), [Call::Query, Call::Submit]);
    assert_eq!(rows(&employees), ["empid_000222", "empid_000222_2012", "empid_000224", "empid_000224_2012"]);
    assert!(block_on(employees.delete_with_parts(key())).unwrap_err().is_not_found());
}

#[test]
fn pat_ck_3_a_concurrently_inserted_part_is_deleted_too() {
    let (employees, store) = employees();
    block_on(employees.insert(&ada())).unwrap();
    let other = employees.clone();
    store.script(move |_, number| {
        let other = other.clone();
        match number {
            1 => {
                Fault::Meanwhile(Box::new(move || block_on(other.insert_part(key(), &review(2012))).unwrap()))
            }
            _ => Fault::None,
        }
    });
    assert_eq!(block_on(employees.delete_with_parts(key())).unwrap(), 2);
    assert_eq!(rows(&employees), [""; 0]);
}

/// Tests deletes that race with an insert: a part is inserted before each request of the delete in turn, at every position in the paged list of parts.
#[test]
fn pat_ck_3_a_part_inserted_at_any_request_of_a_delete_never_outlives_its_owner() {
    for (is_ordered, page, year) in [(true, 1), (false, 1), (false, 2)]
        .into_iter()
        .flat_map(|(is, page)| (0..30).map(move |year| (is, page, year)))
    {
        for at in 0..8 {
            let engine = LimitedStore::new(Engine::in_memory(), |capabilities| {
                (capabilities.ordered, capabilities.checks) = (is_ordered, false);
            });
            let store =
                FaultyStore::new(if is_ordered { engine } else { engine.shuffled(page) }).pages_of(page);
            let employees = block_on(store.entities::<Employee>().create_if_missing()).unwrap();
            let employees = employees.with_retry(Retry::new(8, Duration::ZERO, Duration::ZERO));
            block_on(employees.insert(&ada())).unwrap();
            for year in [100, 101, 102] {
                block_on(employees.insert_part(key(), &review(year))).unwrap();
            }
            store.heal();
            let other = employees.clone();
            store.script(move |_, number| {
                let other = other.clone();
                if number != at {
                    return Fault::None;
                }
                Fault::Meanwhile(Box::new(move || drop(block_on(other.insert_part(key(), &review(year))))))
            });
            block_on(employees.delete_with_parts(key())).unwrap();
            store.heal();
            let untyped = store.untyped("Company").unwrap();
            let left = block_on(untyped.query(Selection::partition("Sales")).collect()).unwrap();
            assert_eq!(
                left.len(),
                0,
                "ordered: {is_ordered}, {page} rows per page, year {year}, request {at}"
            );
        }
    }
}

#[test]
fn egt_2_more_parts_than_a_transaction_allows_are_refused_as_a_whole() {
    let (employees, _) = employees();
    block_on(employees.insert(&ada())).unwrap();
    for year in 0..100 {
        block_on(employees.insert_part(key(), &review(year))).unwrap();
    }
    assert_eq!(block_on(employees.delete_with_parts(key())).unwrap_err().rule(), Some("EGT-2"));
    assert_eq!(rows(&employees).len(), 101);
    let review = employees.table().store().table::<Review>();
    block_on(review.delete(Review::key("Sales", 223, 7), IfMatch::Any)).unwrap();
    assert_eq!(block_on(sendable(employees.delete_with_parts(key()))).unwrap(), 100);
}

#[test]
fn pat_ck_3_with_concurrent_writers_no_part_outlives_its_owner() {
    let (employees, _) = employees();
    std::thread::scope(|scope| {
        for thread in 0..3_u16 {
            let employees = employees.clone();
            scope.spawn(move || {
                for number in 0..30 {
                    let _ = block_on(employees.insert_part(key(), &review(thread * 100 + number)));
                }
            });
        }
        scope.spawn(|| {
            for _ in 0..30 {
                let _ = block_on(employees.insert(&ada()));
                let _ = block_on(employees.delete_with_parts(key()));
                let left = rows(&employees);
                assert!(left.is_empty() || left[0] == "empid_000223", "{left:?}");
            }
        });
    });
    match block_on(employees.delete_with_parts(key())) {
        Ok(_) => {}
        Err(error) => assert!(error.is_not_found()),
    }
    assert_eq!(rows(&employees), [""; 0]);
}

/// A row written by a participant for each review. It is not one of the employee's parts.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company")]
#[partition_key(department)]
#[row_key("trace_", employee, "_", year)]
struct Trace {
    department: String,
    #[digits(6)]
    employee: u32,
    #[digits(4)]
    year: u16,
}

/// A row written by a participant for each review. It is itself a part of the employee.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company")]
#[partition_key(department)]
#[row_key("empid_", employee, "_of_", year)]
struct Mark {
    department: String,
    #[digits(6)]
    employee: u32,
    #[digits(4)]
    year: u16,
}

struct Marks;

impl Participant<Review> for Marks {
    fn name(&self) -> &'static str {
        "marks"
    }

    fn changes(&self, old: Option<&Review>, new: Option<&Review>, out: &mut Changes) -> Result<()> {
        match (old, new) {
            (None, Some(Review { department, employee, year, .. })) => {
                out.insert(&Trace { department: department.clone(), employee: *employee, year: *year })?;
                out.insert(&Mark { department: department.clone(), employee: *employee, year: *year })
            }
            (Some(old), None) => {
                out.delete(Trace::key(&old.department, old.employee, old.year))?;
                out.delete(Mark::key(&old.department, old.employee, old.year))
            }
            _ => Ok(()),
        }
    }
}

#[test]
fn pat_ck_3_inserts_and_deletes_call_the_participants_of_the_parts() {
    let engine = Engine::in_memory();
    let store = engine.clone().with_participant::<Review>(Marks);
    let employees = block_on(store.entities::<Employee>().create_if_missing()).unwrap();
    let partition =
        || block_on(engine.untyped("Company").unwrap().query(Selection::partition("Sales")).collect());
    block_on(employees.insert(&ada())).unwrap();
    for year in [2012, 2013] {
        block_on(employees.insert_part(key(), &review(year))).unwrap();
    }
    assert_eq!(partition().unwrap().len(), 7);
    assert_eq!(block_on(employees.delete_with_parts(key())).unwrap(), 5);
    assert_eq!(partition().unwrap(), []);
}
