//! Uses of the API whose messages show the right form with the names of the struct.

use table_core::{Engine, Entity, Table};

#[derive(Entity, Clone)]
#[entity(table = "Orders")]
#[partition_key(customer)]
#[row_key("order_", digits(4, year), "_", digits(8, number))]
struct Order {
    customer: String,
    year: u16,
    number: u32,
    total: i64,
    note: Option<String>,
}

#[derive(Entity, Clone)]
#[entity(table = "Invoices")]
#[partition_key(customer)]
#[row_key("invoice_", unpadded(number))]
struct Invoice {
    customer: String,
    number: u32,
    cents: i64,
}

type Orders = Table<Order, Engine>;

async fn filters(orders: &Orders) -> table_core::Result<()> {
    let all = || orders.query(Order::partition("ada"));
    let _ = all().filter(Order::TOTAL == 100).collect().await?; //~ T096
    let _ = all().filter("Total gt 100").collect().await?; //~ T096
    let _ = all().filter(|order: &Order| order.total > 100).collect().await?; //~ T096
    let _ = all().filter(Order::NUMBER.ge(40)).collect().await?; //~ T097
    let _ = all().filter(Invoice::CENTS.gt(100)).collect().await?; //~ T096
    let _ = all().page_from("1!8!cGFydA").await?; //~ T267
    let _ = all().page_from(all().page().await?.continuation).await?; //~ T267
    Ok(())
}

async fn keys(orders: &Orders) -> table_core::Result<()> {
    let _ = orders.get(Invoice::key("ada", 42)).await?; //~ T084
    let _ = orders.plan_many(["2012_42"])?; //~ T084
    let _ = orders.query(Invoice::partition("ada")).collect().await?; //~ T196
    let _ = orders.query(Order::rows("ada").number(40..)).collect().await?; //~ T268
    let _ = orders.query(Order::rows("ada").number_is(40)).collect().await?; //~ T268
    let _ = Invoice::rows("ada").number(40..); //~ T082
    Ok(())
}

async fn writes(orders: &Orders) -> table_core::Result<()> {
    orders.patch(Order::key("ada", 2012, 42)).set("Total", 500).send().await?; //~ T130
    orders.patch(Order::key("ada", 2012, 42)).set(Order::NUMBER, 43).send().await?; //~ T130
    orders.patch(Order::key("ada", 2012, 42)).set(Invoice::CENTS, 500).send().await?; //~ T130
    orders.update(Order::key("ada", 2012, 42), |order| { order.total += 1; table_core::Result::Ok(()) }).await?; //~ T244
    orders.watch().await?; //~ T264
    Ok(())
}

fn main() {}
