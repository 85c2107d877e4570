//! Draws the picture of lines in the chapter "Owners and their parts".

use table_patterns::{Entity, EntitySet, TableEntity};

use super::Picture;

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Orders", set = Sales)]
#[partition_key(customer)]
#[row_key("order_", order, "_", number)]
struct Line {
    customer: String,
    #[digits(6)]
    order: u32,
    #[digits(3)]
    number: u16,
    product: String,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Orders", set = Sales)]
#[partition_key(customer)]
#[row_key("order_", number)]
struct Order {
    customer: String,
    #[digits(6)]
    number: u32,
    note: String,
}

#[derive(EntitySet)]
enum Sales {
    Order(Order),
    Line(Line),
    #[other]
    Other(TableEntity),
}

#[test]
fn parts() {
    let order = Order { customer: "ada".into(), number: 42, note: String::new() };
    let line = |number| Line { customer: "ada".into(), order: 42, number, product: "tea".into() };
    Picture {
        name: "parts",
        chapter: "book/pattern-parts.md",
        source: include_str!("parts.rs"),
        schema: Line::SCHEMA,
        keys: vec![order.key_of().unwrap(), line(1).key_of().unwrap(), line(2).key_of().unwrap()],
        read: &[],
    }
    .check();
}
