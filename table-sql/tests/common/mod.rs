//! A fixture store with the tables that the tests use: employees, a row of a different kind, and reviews.

#![allow(dead_code, reason = "each test uses some of the functions")]

use chrono::{DateTime, TimeDelta, Utc};
use table_core::{DynTableStore, Engine, Entity, TableEntity, TableStoreExt};

/// An employee in a department.
#[derive(Clone, Debug, Entity)]
#[entity(table = "Company")]
#[partition_key(department)]
#[row_key("empid_", id)]
pub(crate) struct Employee {
    department: String,
    #[digits(6)]
    id: u32,
    first_name: String,
    age: i32,
    salary: f64,
    active: bool,
    badge: Option<i64>,
    born: Option<DateTime<Utc>>,
}

/// An employee's review for one year.
#[derive(Clone, Debug, Entity)]
#[entity(table = "Reviews")]
#[partition_key(department)]
#[row_key("empid_", employee, "_", year)]
pub(crate) struct Review {
    department: String,
    #[digits(6)]
    employee: u32,
    #[digits(4)]
    year: u32,
    rating: i32,
    comments: Option<String>,
}

const DEPARTMENTS: [&str; 4] = ["Finance", "Marketing", "Sales", "Élan"];
const NAMES: [&str; 7] = ["Ada", "Ben", "Cleo", "Dan", "Eve", "Özgür", "Anna"];

/// Returns a store with 800 employees, 1,200 reviews and a row of a different kind.
pub(crate) async fn store() -> DynTableStore {
    let engine = Engine::in_memory();
    let employees = engine.table::<Employee>().create_if_missing().await.unwrap();
    let reviews = engine.table::<Review>().create_if_missing().await.unwrap();
    let epoch: DateTime<Utc> = "1960-02-29T12:30:00.1234567Z".parse().unwrap();
    for number in 0..800_u32 {
        // The sequence has no obvious order, and is the same in every run.
        let random = number.wrapping_mul(2_654_435_761) >> 16;
        let name = NAMES[random as usize % NAMES.len()];
        let department = DEPARTMENTS[number as usize % DEPARTMENTS.len()].to_owned();
        let employee = Employee {
            department: department.clone(),
            id: number,
            first_name: name.to_owned(),
            age: 18 + (random % 50) as i32,
            salary: f64::from(random % 9_000) + 0.25,
            active: random % 3 > 0,
            badge: (random % 4 > 0).then(|| 9_007_199_254_740_993 + i64::from(random)),
            born: (random % 5 > 0).then(|| epoch + TimeDelta::days(i64::from(random % 15_000))),
        };
        employees.insert(&employee).await.unwrap();
        for year in 2024..2024 + number % 4 {
            let rating = ((random + year) % 6) as i32;
            let comments = (rating == 0).then(|| format!("see {year}"));
            let review = Review { department: department.clone(), employee: number, year, rating, comments };
            reviews.insert(&review).await.unwrap();
        }
    }
    let note = TableEntity::new("Sales", "note_1").unwrap().with("Note", "hello").with("Age", "unknown");
    engine.untyped("Company").unwrap().insert(&note).await.unwrap();
    DynTableStore::new(engine)
}
