//! Uses of the API that users write who come from another library. Each mistake is reported once.

use chrono::{DateTime, Utc};
use table_core::{Engine, Entity, Error, ErrorCode, IfMatch, Table, TableStoreExt};

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

async fn reads(table: &Table<Order, Engine>) -> table_core::Result<()> {
    let all = || table.query(Order::partition("ada"));
    let _ = table.get_one(Order::key("ada", 42)).await?; //~ T191
    let _ = table.find_by_id(42).await?; //~ T191
    let _ = table.contains_key(Order::key("ada", 42)).await?; //~ T191
    let _ = table.select("number, total").collect().await?; //~ T201
    let _ = table.query("customer eq 'ada'").collect().await?; //~ T086
    let _ = table.query(Order::rows("ada").number(42)).collect().await?; //~ T081
    let _ = all().filter(Order::NOTE.eq(None)).collect().await?; //~ T087
    let _ = all().filter(Order::PLACED.ge("2024-01-01")).collect().await?; //~ T087
    let _ = all().filter(vec![Order::TOTAL.gt(3.0)]).collect().await?; //~ T096
    if let Some(found) = table.get(Order::key("ada", 42)).await? {
        let _ = found.into_inner(); //~ T245
    }
    Ok(())
}

async fn writes(table: &Table<Order, Engine>, order: &Order) -> table_core::Result<()> {
    table.insert_one(order).await?; //~ T190
    table.insert_or_update(order).await?; //~ T190
    table.add_entity_async(order).await?; //~ T190
    table.delete_one(Order::key("ada", 42)).await?; //~ T203
    table.delete_all().await?; //~ T203
    table.patch(Order::key("ada", 42)).set(Order::TOTAL, "3.0").send().await?; //~ T199
    if let Err(error) = table.delete(Order::key("ada", 42), IfMatch::Any).await {
        let _ = error.code() == ErrorCode::NotFound; //~ T247
    }
    match table.insert(order).await {
        Err(Error::EntityAlreadyExists) => {} //~ T247
        _ => {}
    }
    Ok(())
}

async fn opens() -> table_core::Result<()> {
    let store = Engine::in_memory();
    let _ = store.get_table_client("Orders"); //~ T215
    store.create_table("Orders").await?; //~ T215
    Ok(())
}

fn main() {}
