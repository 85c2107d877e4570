//! Tests that deletes of parts are recorded in the feed.

use std::time::Duration;

use pollster::block_on;
use table_core::embedded::Engine;
use table_core::key::PartitionKey;
use table_core::name::TableName;
use table_core::{Entity, EntitySet, TableEntity, TableStoreExt, ticks};

use crate::EntityStore;
use crate::feed::{Cursor, Feed, FeedEntry};
use crate::tests::faults::{Call, FaultyStore};

/// An employee. The type has no feed, but its entity set contains a type with a feed.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", set = Company)]
#[partition_key(department)]
#[row_key("empid_", id)]
struct Employee {
    department: String,
    #[digits(6)]
    id: u32,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", feed, set = Company)]
#[partition_key(department)]
#[row_key("empid_", employee, "_", year)]
struct Review {
    department: String,
    #[digits(6)]
    employee: u32,
    #[digits(4)]
    year: u16,
}

#[derive(EntitySet, Clone, Debug, PartialEq)]
enum Company {
    Employee(Employee),
    Review(Review),
    #[other]
    Other(TableEntity),
}

/// An order. The type has a feed, but declares no entity set.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Orders", feed)]
#[partition_key(customer)]
#[row_key("order_", id)]
struct Order {
    customer: String,
    #[digits(6)]
    id: u32,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Orders", feed)]
#[partition_key(customer)]
#[row_key("order_", order, "_", number)]
struct Line {
    customer: String,
    #[digits(6)]
    order: u32,
    #[digits(4)]
    number: u16,
}

/// Returns the `RowKey` and the kind of each change in a feed.
fn changes(engine: &Engine, table: &str, partition: &str) -> Vec<(String, String)> {
    let (table, partition) = (TableName::new(table).unwrap(), PartitionKey::new(partition).unwrap());
    let feed = Feed::new(engine.clone());
    let entries = block_on(feed.read(&table, &partition, &Cursor::default(), 100)).unwrap();
    let change = |entry: &FeedEntry| (entry.source.as_str().to_owned(), entry.kind.clone());
    entries.iter().map(change).collect()
}

#[test]
fn imp_6_the_deletes_of_parts_are_recorded_in_the_feed() {
    let engine = Engine::in_memory();
    block_on(async {
        let employees = engine.entities::<Employee>().create_if_missing().await?;
        let reviews = engine.entities::<Review>().create_if_missing().await?;
        employees.insert(&Employee { department: "Sales".into(), id: 223 }).await?;
        reviews.insert(&Review { department: "Sales".into(), employee: 223, year: 2012 }).await?;
        assert_eq!(employees.delete_with_parts(Employee::key("Sales", 223)).await?, 2);
        let orders = engine.entities::<Order>().create_if_missing().await?;
        orders.insert(&Order { customer: "ada".into(), id: 1 }).await?;
        for number in 1..=2 {
            let line = Line { customer: "ada".into(), order: 1, number };
            engine.entities::<Line>().insert(&line).await?;
        }
        orders.delete_with_parts(Order::key("ada", 1)).await
    })
    .unwrap();
    let of_reviews = changes(&engine, "Company", "Sales");
    let kinds = |row_key: &str| {
        let of = of_reviews.iter().filter(|(source, _)| source == row_key);
        of.map(|(_, kind)| kind.as_str()).collect::<Vec<_>>()
    };
    assert_eq!(kinds("empid_000223_2012"), ["inserted", "deleted"]);
    let of_orders = changes(&engine, "Orders", "ada");
    let of = |kind: &'static str| {
        let of = of_orders.iter().filter(move |(_, of)| of == kind);
        of.map(|(row_key, _)| row_key.as_str()).collect::<Vec<_>>()
    };
    let all = ["order_000001", "order_000001_0001", "order_000001_0002"];
    assert_eq!((of("inserted"), of("deleted")), (all.to_vec(), all.to_vec()));
}

/// Tests a bearer whose SAS permits access to a single partition. A commit that must list the partition for followers would write to another table, which the
/// SAS does not permit.
#[test]
fn a_bearer_of_a_grant_deletes_an_owner_without_listing_the_feed_of_another_type() {
    let engine = Engine::in_memory();
    block_on(async {
        let employees = engine.entities::<Employee>().create_if_missing().await.unwrap();
        employees.insert(&Employee { department: "Sales".into(), id: 223 }).await.unwrap();
        let part = TableEntity::new("Sales", "empid_000223_2012").unwrap();
        engine.untyped("Company").unwrap().insert(&part).await.unwrap();
        let (sales, expiry) = (PartitionKey::new("Sales").unwrap(), ticks::now() + Duration::from_secs(3600));
        let grant = employees.grant(&sales, expiry).await.unwrap();

        let store = FaultyStore::new(engine.clone());
        let bearer = store.entities::<Employee>().with_grant(&grant).unwrap();
        assert_eq!(bearer.delete_with_parts(Employee::key("Sales", 223)).await.unwrap(), 2);
        let submits = store.calls().iter().filter(|call| **call == Call::Submit).count();
        assert_eq!(submits, 1, "the transaction of the delete");
    });
    assert_eq!(changes(&engine, "Company", "Sales").len(), 1, "the delete of the part");
}
