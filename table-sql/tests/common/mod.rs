//! A fixture store with employees, reviews and a row without a declared type, and helpers that return the results of statements.

#![allow(dead_code, reason = "each test uses some of the functions")]

use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use datafusion::arrow::array::{Array, AsArray};
use datafusion::arrow::compute::concat_batches;
use datafusion::catalog::MemorySchemaProvider;
use datafusion::datasource::MemTable;
use datafusion::prelude::SessionContext;
use table_core::{DynTableStore, Engine, Entity, TableEntity, TableStoreExt};
use table_sql::{SqlOptions, session};

/// The name of the in-memory table registered by [`with_plain`].
pub(crate) const PLAIN: &str = "plain.\"Plain\"";

/// Creates a session for a store, which also contains an in-memory copy of one table.
pub(crate) async fn with_plain(store: &DynTableStore, table: &str) -> SessionContext {
    let options = SqlOptions { sample: None, key_order: false };
    let session = session(store, &options).await.unwrap();
    let all = session.sql(&format!("SELECT * FROM {table}")).await.unwrap().collect().await.unwrap();
    let all = concat_batches(&all[0].schema(), &all).unwrap();
    let plain = MemTable::try_new(all.schema(), vec![vec![all]]).unwrap();
    let catalog = session.catalog("datafusion").unwrap();
    catalog.register_schema("plain", Arc::new(MemorySchemaProvider::new())).unwrap();
    session.register_table(PLAIN, Arc::new(plain)).unwrap();
    session
}

/// Runs a statement and returns the values in the first column of the result, which must contain strings.
pub(crate) async fn texts(session: &SessionContext, statement: &str) -> Vec<String> {
    let batches = session.sql(statement).await.unwrap().collect().await;
    let batches = batches.unwrap_or_else(|error| panic!("{statement}: {error}"));
    let text = |text: Option<&str>| text.unwrap().to_owned();
    let texts = |column: &Arc<dyn Array>| column.as_string::<i32>().iter().map(text).collect::<Vec<_>>();
    batches.iter().flat_map(|batch| texts(batch.column(0))).collect()
}

/// Returns the sorted keys of the rows that satisfy a condition.
pub(crate) async fn answer(session: &SessionContext, table: &str, condition: &str) -> Vec<String> {
    let statement = format!("SELECT concat(PartitionKey, '/', RowKey) FROM {table} WHERE {condition}");
    let mut keys = texts(session, &statement).await;
    keys.sort();
    keys
}

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

/// Returns a store with 800 employees, 1,200 reviews and a row without a declared type.
pub(crate) async fn store() -> DynTableStore {
    let engine = Engine::in_memory();
    let employees = engine.table::<Employee>().create_if_missing().await.unwrap();
    let reviews = engine.table::<Review>().create_if_missing().await.unwrap();
    let epoch: DateTime<Utc> = "1960-02-29T12:30:00.1234567Z".parse().unwrap();
    for number in 0..800_u32 {
        // The sequence has no obvious order and is the same in every run.
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
