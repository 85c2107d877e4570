//! Tests the procedures for changing the key of existing rows by copying them to another table, or to keys with a prefix in the same table.

mod patterns;

use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use futures_util::TryStreamExt;
use pollster::block_on;
use table_patterns::{Engine, Entity, ErrorCode, Result, TableStoreExt as _};

use crate::page::Procedure;

/// The old release, which stores orders by customer.
mod old {
    #[derive(table_patterns::Entity, Clone, Debug, PartialEq)]
    #[entity(table = "Orders")]
    #[partition_key(customer)]
    #[row_key(number)]
    pub(super) struct Order {
        pub customer: String,
        #[digits(6)]
        pub number: u32,
        pub day: u16,
    }
}

/// An order that is stored by day, in another table.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "OrdersByDay")]
#[partition_key(day)]
#[row_key(customer, "_", number)]
struct OrderOfDay {
    #[digits(3)]
    day: u16,
    #[without('_')]
    customer: String,
    #[digits(6)]
    number: u32,
}

/// Orders that are stored in the same table as the old rows, with a prefix and a longer number.
mod prefixed {
    #[derive(table_patterns::Entity, Clone, Debug, PartialEq)]
    #[entity(table = "Orders", set = Orders)]
    #[partition_key(customer)]
    #[row_key(number)]
    pub(super) struct OldOrder {
        pub customer: String,
        #[digits(6)]
        pub number: u32,
        pub day: u16,
    }

    #[derive(table_patterns::Entity, Clone, Debug, PartialEq)]
    #[entity(table = "Orders", set = Orders)]
    #[partition_key(customer)]
    #[row_key("order_", number)]
    pub(super) struct NumberedOrder {
        pub customer: String,
        #[digits(9)]
        pub number: u32,
        pub day: u16,
    }

    #[derive(table_patterns::EntitySet)]
    pub(super) enum Orders {
        Old(OldOrder),
        Numbered(NumberedOrder),
        #[other]
        Other(table_patterns::TableEntity),
    }
}

/// The next release, which has no declaration for the old rows.
mod next {
    #[derive(table_patterns::Entity, Clone, Debug, PartialEq)]
    #[entity(table = "Orders")]
    #[partition_key(customer)]
    #[row_key("order_", number)]
    pub(super) struct NumberedOrder {
        pub customer: String,
        #[digits(9)]
        pub number: u32,
        pub day: u16,
    }
}

const CUSTOMERS: u32 = 25;
const ORDERS: u32 = 100;

fn orders() -> Vec<old::Order> {
    let order = |at: u32| old::Order {
        customer: format!("customer {:02}", at % CUSTOMERS),
        number: at * 7,
        day: u16::try_from(at % 31).unwrap(),
    };
    (0..CUSTOMERS * ORDERS).map(order).collect()
}

fn store_of_orders() -> Engine {
    let store = Engine::in_memory();
    let table = block_on(store.table::<old::Order>().create_if_missing()).unwrap();
    block_on(table.bulk().insert_all(orders())).unwrap();
    store
}

/// Copies at most `most` orders that have not been copied yet, in key order. Returns `false` if a different order already has a new key.
async fn copy(store: &Engine, most: usize) -> Result<bool> {
    let new = store.table::<OrderOfDay>().create_if_missing().await?;
    let old = store.table::<old::Order>();
    let (mut rows, mut copied) = (pin!(old.scan("orders by day").max_rows(100_000).stream()), 0);
    while copied < most
        && let Some(old) = rows.try_next().await?
    {
        let order = OrderOfDay { day: old.day, customer: old.customer.replace('_', " "), number: old.number };
        match new.insert(&order).await {
            Err(error) if error.code() == ErrorCode::EntityAlreadyExists => {
                let key = OrderOfDay::key(order.day, &order.customer, order.number);
                if new.get(key).await?.as_deref() != Some(&order) {
                    return Ok(false);
                }
            }
            outcome => drop(outcome?),
        }
        copied += 1;
    }
    Ok(true)
}

#[test]
fn orders_get_a_key_in_another_table_while_the_old_release_reads() {
    let mut page = Procedure::of("book/evolution.md", "A new key");
    page.step("Declare the new entity as a second struct next to the old one, with a different table.");
    let store = store_of_orders();
    let is_over = AtomicBool::new(false);
    thread::scope(|threads| {
        page.step("Stop the programs that write the old rows. Programs that read them may continue.");
        let reader = threads.spawn(|| {
            let table = block_on(store.table::<old::Order>().create_if_missing()).unwrap();
            let mut reads = 0_u32;
            while !is_over.load(Ordering::Relaxed) {
                let customer = format!("customer {:02}", reads % CUSTOMERS);
                let found = block_on(table.query(old::Order::partition(&customer)).collect()).unwrap();
                assert_eq!(found.len(), usize::try_from(ORDERS).unwrap());
                reads += 1;
            }
            reads
        });
        page.step("Scan the old rows, and `insert` each as the new entity.");
        page.step("The copy can be stopped and repeated");
        assert!(block_on(copy(&store, 1_300)).unwrap());
        assert!(block_on(copy(&store, usize::MAX)).unwrap());
        assert!(block_on(copy(&store, usize::MAX)).unwrap());
        page.step("Deploy the release that reads the new rows.");
        is_over.store(true, Ordering::Relaxed);
        assert!(reader.join().unwrap() > 0);
    });
    page.step("Delete the old rows with `delete_table`");
    assert!(block_on(store.table::<old::Order>().delete_table()).unwrap());

    let new = block_on(store.table::<OrderOfDay>().create_if_missing()).unwrap();
    let mut found: Vec<_> = (0..31)
        .flat_map(|day| block_on(new.query(OrderOfDay::partition(day)).collect()).unwrap())
        .map(|order| old::Order { customer: order.customer, number: order.number, day: order.day })
        .collect();
    found.sort_by_key(|order| order.number);
    assert_eq!(found, orders());
}

/// Copies at most `most` orders to keys with longer numbers and a prefix.
async fn number(store: &Engine, most: usize) -> Result<()> {
    let (old, new) = (store.table::<prefixed::OldOrder>(), store.table::<prefixed::NumberedOrder>());
    let new = new.create_if_missing().await?;
    let (mut rows, mut copied) = (pin!(old.scan("numbers").max_rows(100_000).stream()), 0);
    while copied < most
        && let Some(old) = rows.try_next().await?
    {
        let prefixed::OldOrder { customer, number, day } = old.into_value();
        match new.insert(&prefixed::NumberedOrder { customer, number, day }).await {
            Err(error) if error.code() == ErrorCode::EntityAlreadyExists => {}
            outcome => drop(outcome?),
        }
        copied += 1;
    }
    Ok(())
}

#[test]
fn orders_get_a_key_prefix_in_their_table_once_the_old_release_is_stopped() {
    let mut page = Procedure::of("book/evolution.md", "A new key");
    page.step("The new rows can also be stored in the old table");
    page.step("Declare both types as members of one set");
    page.step("Stop the readers of the old rows as well: their queries fail with `EntityMismatch` at the first new row.");
    let store = store_of_orders();
    let reader = block_on(store.table::<old::Order>().create_if_missing()).unwrap();
    for most in [1_300, usize::MAX, usize::MAX] {
        block_on(number(&store, most)).unwrap();
    }
    let first = orders().swap_remove(0);
    let refused = block_on(reader.query(old::Order::partition(&first.customer)).collect()).unwrap_err();
    assert_eq!(refused.code(), ErrorCode::EntityMismatch);
    assert!(block_on(reader.get(old::Order::key(&first.customer, first.number))).unwrap().is_some());

    let old = store.table::<prefixed::OldOrder>();
    let rows = block_on(old.scan("the old rows").max_rows(100_000).collect()).unwrap();
    assert_eq!(rows.len(), orders().len());
    for order in rows {
        let key = prefixed::OldOrder::key(&order.customer, order.number);
        block_on(old.delete(key, table_patterns::IfMatch::Any)).unwrap();
    }
    let next = block_on(store.table::<next::NumberedOrder>().create_if_missing()).unwrap();
    let mut found = block_on(next.scan("all orders").max_rows(100_000).collect()).unwrap();
    found.sort_by_key(|order| order.number);
    let found: Vec<_> = found
        .into_iter()
        .map(|order| old::Order { customer: order.customer, number: order.number, day: order.day })
        .collect();
    assert_eq!(found, orders());
}
