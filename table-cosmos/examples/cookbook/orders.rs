//! A recipe that uses the orders in another program's container. A mapping makes the items readable and writable as entities.

use std::fmt::Write as _;

use table_core::{Entity, Result, TableName, TableStoreExt};
use table_cosmos::emulator::Emulator;
use table_cosmos::{Format, Mapping, Options};

use super::Shown;

#[derive(Clone, Debug, Entity, PartialEq)]
#[entity(table = "Orders")]
#[partition_key(tenant, customer)]
#[row_key(number)]
struct Order {
    tenant: String,
    customer: String,
    number: String,
    total: f64,
    paid: Option<bool>,
}

const PATHS: [&str; 2] = ["/tenantId", "/customer/id"];

/// The items written by the other program: two orders, an order without a numeric total, and an invoice.
const ITEMS: [&str; 4] = [
    r#"{"id":"o-1","type":"order","tenantId":"contoso","customer":{"id":"ada","city":"Paris"},"total":{"amount":12.5,"currency":"EUR"},"lines":[7]}"#,
    r#"{"id":"o-2","type":"order","tenantId":"contoso","customer":{"id":"ada"},"total":{"amount":3.25,"currency":"EUR"},"paid":true}"#,
    r#"{"id":"o-3","type":"order","tenantId":"contoso","customer":{"id":"ada"},"total":"on request"}"#,
    r#"{"id":"i-1","type":"invoice","tenantId":"contoso","customer":{"id":"ada"}}"#,
];

pub(super) async fn run() -> Result<Shown> {
    let (emulator, table) = (Emulator::new(false)?, TableName::new("Orders")?);
    emulator.create_with_paths(&table, &PATHS, 4, None)?;
    for item in ITEMS {
        emulator.put(&table, r#"["contoso","ada"]"#, item).await?;
    }

    let mapping = Mapping::new(PATHS)
        .property("Total", "/total/amount", Format::Double)
        .property("Paid", "/paid", Format::Boolean)
        .constant("/type", "order");
    let store = emulator.open(Options::new().mapping_of::<Order>(mapping)?).await?;
    let orders = store.table::<Order>();

    let mut text = String::from("Orders of another program: /tenantId > /customer/id\n\n");
    for order in orders.query(Order::within("contoso")).collect().await? {
        let _ = writeln!(text, "{}: {:.2}, paid {:?}", order.number, order.total, order.paid);
    }
    for skipped in store.skipped_items().latest {
        let _ = writeln!(text, "skipped: {skipped}");
    }
    orders.update(Order::key("contoso", "ada", "o-1"), |order| order.paid = Some(true)).await?;
    let _ = writeln!(text, "o-1 afterwards:");
    for member in ["customer", "lines", "paid", "total", "type"] {
        let value = member_of(&emulator, "o-1", member).await?;
        let _ = writeln!(text, "  {member}: {value}");
    }
    Ok(Shown { name: "orders", text, picture: None })
}

/// Returns a member of a stored item, as the other program reads it.
async fn member_of(emulator: &Emulator, id: &str, member: &str) -> Result<String> {
    let key = ("x-ms-documentdb-partitionkey".to_owned(), r#"["contoso","ada"]"#.to_owned());
    let target = format!("/dbs/tables/colls/Orders/docs/{id}");
    let answer = emulator.exchange("GET", &target, [key], Vec::new()).await?;
    let item: serde_json::Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    Ok(item[member].to_string())
}
