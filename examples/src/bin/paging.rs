//! Paging. A page ends with a continuation token. The token is a string, and another process can use it to read the next page (DQ-12).

use std::error::Error;

use table_core::{Continuation, Engine, Entity, TableStoreExt};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Orders")]
#[partition_key(customer)]
#[row_key(number)]
struct Order {
    customer: String,
    #[digits(8)]
    number: u32,
    cents: i64,
}

fn main() -> Result<(), Box<dyn Error>> {
    pollster::block_on(run())
}

async fn run() -> Result<(), Box<dyn Error>> {
    let store = Engine::in_memory();
    let orders = store.table::<Order>().create_if_missing().await?;
    let order = |number| Order { customer: "contoso".to_owned(), number, cents: i64::from(number) * 100 };
    orders.bulk().insert_all((1..=250).map(order)).await?;

    let first = orders.query(Order::partition("contoso")).page_size(100).page().await?;
    assert_eq!(first.items.len(), 100);
    let Some(continuation) = first.continuation else { panic!("150 orders are left") };
    let stored: String = continuation.to_string();

    // Later, another process can continue. It needs only the same query and the text of the token.
    let orders = store.table::<Order>();
    let query = orders.query(Order::partition("contoso")).page_size(100);
    let second = query.page_from(&stored.parse::<Continuation>()?).await?;
    assert_eq!(second.items.first().map(|order| order.number), Some(101));

    // A different query rejects this token (PAGE-9).
    let other = orders.query(Order::partition("fabrikam")).page_size(100);
    let Err(refused) = other.page_from(&stored.parse()?).await else { panic!("a token of another query") };
    println!("{refused}");

    // If you need no token, a stream reads all pages.
    assert_eq!(orders.query(Order::partition("contoso")).collect().await?.len(), 250);
    Ok(())
}
