//! The forms that the messages of `fail/selection/forms.rs` and `elsewhere.rs` show. Forms with the names of a struct compile as they are shown.

use table_core::{BlockOn, Engine, Entity, Table, TableStoreExt};

#[derive(Entity, Clone)]
#[entity(table = "Orders")]
#[partition_key(customer)]
#[row_key("order_", digits(4, year), "_", digits(8, number))]
#[index(ByNumber, row_key("number_", digits(8, number), "_", digits(4, year)))] // T268
struct Order {
    customer: String,
    year: u16,
    number: u32,
    total: i64,
    note: Option<String>,
}

#[derive(Entity, Clone)]
#[entity(table = "Plain")]
#[partition_key(customer)]
#[row_key("order_", digits(4, year), "_", digits(8, number))]
struct Plain {
    customer: String,
    year: u16,
    number: u32,
    total: i64,
}

#[derive(Entity, Clone)]
#[entity(table = "Invoices")]
#[partition_key(customer)]
#[row_key("invoice_", digits(10, number))] // T082
struct Invoice {
    customer: String,
    number: u32,
    cents: i64,
}

/// A trait of the program with names that the rows of a selection refuse.
trait Named: Sized {
    fn number_is(self) -> &'static str;
}

impl Named for OrderRows {
    fn number_is(self) -> &'static str {
        "the program's"
    }
}

async fn reads(store: &Engine, cursor: &str) -> table_core::Result<()> {
    let orders: Table<Order, Engine> = store.table();
    orders.query(Order::partition("ada")).filter(Order::TOTAL.eq(1)).collect().await?; // T096
    orders.query(Order::rows("a").year(1..=9)).collect().await?; // T097
    orders.query(Order::rows("a").year_is(1).number(1..=9)).collect().await?; // T268
    let _ = Order::by_number_rows("a"); // T268
    store.table::<Invoice>().get(Invoice::key("ada", 42)).await?; // T084
    if let Ok(continuation) = cursor.parse::<table_core::Continuation>() {
        orders.query(Order::partition("ada")).page_from(&continuation).await?; // T267
    }
    let number = i64::from(7_u32);
    orders.get(Order::key("ada", 2012, u32::try_from(number)?)).await?; // T080
    orders.get(Order::key(number.to_string(), 2012, "42".parse::<u32>()?)).await?; // T080
    Ok(())
}

async fn writes(plain: &Table<Plain, Engine>) -> table_core::Result<()> {
    plain.insert(&Plain { customer: "a".into(), year: 1, number: 1, total: 7 }).await?;
    plain.patch(Plain::key("a", 1, 1)).set(Plain::TOTAL, 1).send().await?; // T130
    plain.update(Plain::key("a", 1, 1), |entity| entity.total = 1).await?; // T209
    plain
        .try_update(Plain::key("a", 1, 1), |entity| {
            entity.total += 1;
            table_core::Result::Ok(())
        })
        .await?; // T244
    let found = plain.query(Plain::rows("a").year(1..=9)).filter(Plain::TOTAL.eq(2)).collect().await?; // T201
    assert_eq!(found.len(), 1);
    plain.delete(Plain::key("a", 1, 1), table_core::IfMatch::Any).await // T203
}

pub fn main() {
    let store = Engine::in_memory();
    assert!(reads(&store, "").block_on().is_err(), "the table of orders does not exist");
    let plain = store.table::<Plain>().create_if_missing().block_on();
    let written = plain.and_then(|plain| writes(&plain).block_on());
    assert!(written.is_ok(), "{written:?}");
    assert_eq!(Order::rows("ada").number_is(), "the program's");
}
