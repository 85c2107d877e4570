//! The forms that the messages for the first uses recommend, and the declarations that the derive proposes. Each form compiles for the struct in the messages and
//! is marked with the number of its message.
#![allow(dead_code, reason = "the declarations are only compiled")]

use std::collections::BTreeMap;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use table_core::group::Many;
use table_core::{
    BlockOn, Condition, Engine, Entity, EntityGroup, ErrorCode, IfMatch, Table, TableStoreExt, Value,
    Versioned,
};
use uuid::Uuid;

#[derive(Entity, Clone)]
#[partition_key(customer)]
#[row_key("order_", number)]
struct Order {
    customer: String,
    number: u32,
    total: f64,
    note: Option<String>,
    placed: DateTime<Utc>,
}

/// A trait in the user's program with names that a table, a store and a `Versioned` refuse.
trait Named {
    fn get_one(&self) -> u32;
    fn get_table_client(&self, name: &str) -> usize;
    fn find_by_id(&self, id: &str) -> usize;
    fn len(&self) -> usize;
    fn clear(&self) {}
}

impl Named for Table<Order, Engine> {
    fn get_one(&self) -> u32 {
        2
    }

    fn get_table_client(&self, name: &str) -> usize {
        name.len()
    }

    fn find_by_id(&self, id: &str) -> usize {
        id.len()
    }

    fn len(&self) -> usize {
        3
    }
}

/// A trait in the user's program with a name that a `Versioned` refuses.
trait Unwrap {
    fn into_inner(self) -> u32;
}

impl Unwrap for Versioned<Order> {
    fn into_inner(self) -> u32 {
        self.number
    }
}

/// A trait in the user's program with names that a table refuses with any arguments, one of them by value.
trait Entries {
    fn entry(&self, name: &str) -> usize;
    fn touch(self) -> u32;
}

impl Entries for Table<Order, Engine> {
    fn entry(&self, name: &str) -> usize {
        name.len()
    }

    fn touch(self) -> u32 {
        8
    }
}

/// Accepts a stream that a loop reads without `pin!`.
fn is_unpin(_: impl Unpin) {}

/// A store of the user's program behind an `Arc`.
trait Repositories {
    fn repository(&self) -> u32;
}

impl Repositories for Engine {
    fn repository(&self) -> u32 {
        4
    }
}

impl Named for Engine {
    fn get_one(&self) -> u32 {
        1
    }

    fn get_table_client(&self, name: &str) -> usize {
        name.len()
    }

    fn find_by_id(&self, id: &str) -> usize {
        id.len()
    }

    fn len(&self) -> usize {
        5
    }
}

async fn reads(table: &Table<Order, Engine>) -> table_core::Result<()> {
    let all = || table.query(Order::partition("ada"));
    assert!(table.get(Order::key("ada", 42)).await?.is_some()); // T191
    assert!(table.exists(Order::key("ada", 42)).await?); // T191
    assert_eq!(table.query(Order::partition("ada")).collect().await?.len(), 1); // T201, T086
    assert_eq!(table.scan("the reason").max_rows(9).collect().await?.len(), 1); // T086
    assert_eq!(table.query(Order::rows("ada").number(42..=42)).collect().await?.len(), 1); // T081
    assert_eq!(all().filter(Order::NOTE.is_absent()).collect().await?.len(), 1); // T087
    let start = "2024-01-01T00:00:00Z".parse::<DateTime<Utc>>().unwrap_or_default();
    assert_eq!(all().filter(Order::PLACED.ge(start)).collect().await?.len(), 0); // T087
    let conditions = vec![Order::TOTAL.gt(3.0)];
    assert_eq!(all().filter(Condition::all(conditions)).collect().await?.len(), 1); // T096
    let found = table.get(Order::key("ada", 42)).await?;
    assert_eq!(found.map(|found| found.into_value().number), Some(42)); // T245
    let found = table.get(Order::key("ada", 42)).await?;
    assert_eq!(found.map(Unwrap::into_inner), Some(42));
    if let Some(found) = table.get(Order::key("ada", 42)).await? {
        assert_eq!(found.into_inner(), 42);
    }
    let shared = Arc::new(table.clone());
    assert_eq!((table.get_one(), table.find_by_id("ada"), table.len()), (2, 3, 3));
    assert_eq!((shared.get_one(), shared.find_by_id("ada"), shared.len()), (2, 3, 3));
    shared.clear();
    assert_eq!((table.entry("ada"), shared.entry("eve"), table.clone().touch()), (3, 3, 8));
    is_unpin(all().stream());
    is_unpin(table.scan("the reason").max_rows(9).stream());
    Ok(())
}

async fn writes(table: &Table<Order, Engine>, order: &Order) -> table_core::Result<()> {
    if let Err(error) = table.insert(order).await {
        assert!(error.code() == ErrorCode::EntityAlreadyExists && error.is_already_exists()); // T247
    }
    table.insert_or_replace(order).await?; // T190
    table.insert_or_merge(order).await?; // T190
    table
        .patch(Order::key("ada", 42))
        .set(Order::TOTAL, "3.0".parse::<f64>().unwrap_or_default())
        .send()
        .await?; // T199
    table.delete(Order::key("ada", 42), IfMatch::Any).await?; // T203
    if let Err(error) = table.delete(Order::key("ada", 42), IfMatch::Any).await {
        assert!(error.code() == ErrorCode::ResourceNotFound && error.is_not_found()); // T247
    }
    table.bulk().delete_all(Vec::from([Order::key("ada", 7)])).await.err().map(drop); // T203
    table.delete_table().await?; // T203
    Ok(())
}

#[test]
fn each_form_for_a_first_use_compiles_and_runs() -> table_core::Result<()> {
    let store = Engine::in_memory();
    assert_eq!((store.get_one(), store.get_table_client("Orders")), (1, 6));
    assert_eq!(Arc::new(store.clone()).repository(), 4);
    async {
        let table = store.table::<Order>().create_if_missing().await?; // T215
        let order = Order {
            customer: "ada".to_owned(),
            number: 42,
            total: 9.5,
            note: None,
            placed: DateTime::UNIX_EPOCH,
        };
        table.insert(&order).await?;
        reads(&table).await?;
        writes(&table, &order).await
    }
    .block_on()
}

#[derive(Entity)] // T020
#[partition_key(id)]
#[row_key("")]
struct User {
    id: Uuid,
    name: String,
}

#[derive(Entity)] // T045, T004
#[partition_key(bucket(id, 16), "_", truncate(pattern("yyyyMMdd", at)))]
#[row_key(inverted(9223372036854775807, unix(seconds, at)))]
struct Log {
    at: DateTime<Utc>,
    id: Uuid,
}

#[derive(Entity)] // T044
#[partition_key(done, "_", bucket(id, 16))]
#[row_key(id)]
struct Job {
    done: bool,
    id: Uuid,
}

#[derive(Entity)] // T008
#[partition_key(host, "_", truncate(pattern("yyyyMMdd", at)))]
#[row_key(at)]
struct Line {
    host: String,
    at: DateTime<Utc>,
}

#[derive(Entity)] // T065, T066, T024, T015
#[entity(table = "Files")]
#[partition_key(owner)]
#[row_key("folder_", escaped(folder), "!", name)]
#[index(ByStatus, row_key("s_", status, "_", escaped(folder), "!", name))]
struct File {
    owner: String,
    folder: String,
    name: String,
    status: u16,
    #[property(rest)]
    extra: BTreeMap<String, Value>,
}

#[derive(EntityGroup)] // T107
struct Jobs {
    lines: Many<Line>,
}

#[test]
fn each_proposed_declaration_has_a_schema() {
    let tables = [User::SCHEMA, Log::SCHEMA, Job::SCHEMA, Line::SCHEMA].map(|schema| schema.table);
    assert_eq!(tables, ["User", "Log", "Job", "Line"]);
}
