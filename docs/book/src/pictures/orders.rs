//! Draws the picture of orders in the chapter "First steps".

use table_patterns::Entity;

use super::Picture;

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Orders")]
#[partition_key(customer)]
#[row_key(number)]
struct Order {
    customer: String,
    #[digits(8)]
    number: u32,
    total: f64,
}

#[test]
fn orders() {
    let keys = [("ada", 7), ("ada", 42), ("ada", 100), ("bob", 8)]
        .map(|(customer, number)| Order { customer: customer.into(), number, total: 1.0 }.key_of().unwrap());
    Picture {
        name: "orders",
        chapter: "book/first-steps.md",
        source: include_str!("orders.rs"),
        schema: Order::SCHEMA,
        keys: keys.to_vec(),
        read: &Order::rows("ada").number(40..).ranges().unwrap(),
    }
    .check();
}
