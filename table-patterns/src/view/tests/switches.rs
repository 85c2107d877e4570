//! Tests rows that a projection first puts and later sums, or the reverse, and entities that contribute only zeros.

use pollster::block_on;
use proptest::prelude::*;
use table_core::embedded::Engine;
use table_core::query::{KeyRange, Query, TextRange};
use table_core::store::TableStore;
use table_core::{Entity, Result};

use crate::EntityStore;
use crate::view::record::VIEW_PREFIX;
use crate::view::{Projection, View, ViewTable};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Orders", feed)]
#[partition_key(customer)]
#[row_key(number)]
struct Order {
    customer: String,
    #[digits(6)]
    number: u32,
    /// If the price is odd, the view contains the order as a put row, otherwise as a row of sums.
    price: i64,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Prices")]
#[partition_key(customer)]
#[row_key(number)]
struct Price {
    customer: String,
    #[digits(6)]
    number: u32,
    amount: i64,
    discount: i64,
}

struct Prices;

impl View for Prices {
    type Source = Order;
    type Row = Price;

    fn project(order: &Order, view: &mut Projection<Price>) -> Result<()> {
        let Order { customer, number, price } = order.clone();
        if price % 2 != 0 {
            return view.put(&Price { customer, number, amount: price, discount: 7 });
        }
        view.add(Price::key(&customer, number), Price::AMOUNT, price)
    }
}

/// Returns the view's row for an order with the given price.
fn row(number: u32, price: i64) -> Price {
    let discount = if price % 2 != 0 { 7 } else { 0 };
    Price { customer: "a".to_owned(), number, amount: price, discount }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn imp_6_a_row_changes_between_put_and_summed(
        changes in prop::collection::vec((0..3_u32, 0..5_i64), 1..12),
        together in 1..4_usize,
    ) {
        let store = Engine::in_memory();
        block_on(async {
            let orders = store.entities::<Order>().create_if_missing().await.unwrap();
            let view = ViewTable::<Prices, _>::new(store.clone()).create_if_missing().await.unwrap();
            view.rebuild().run().await.unwrap();
            let mut prices = std::collections::BTreeMap::new();
            for changes in changes.chunks(together) {
                for (number, price) in changes.iter().copied() {
                    let order = Order { customer: "a".to_owned(), number, price };
                    orders.insert_or_replace(&order).await.unwrap();
                    prices.insert(number, price);
                }
                assert_eq!(view.catch_up(100).await.unwrap().failed, 0);
                let rows = view.table().await.unwrap().query(Price::rows("a")).collect().await.unwrap();
                let rows: Vec<_> = rows.into_iter().filter(|row| row.amount != 0).collect();
                let expected = prices.iter().map(|(number, price)| row(*number, *price));
                assert_eq!(rows, expected.filter(|row| row.amount != 0).collect::<Vec<_>>());
            }
            let progress = view.rebuild().run().await.unwrap();
            assert_eq!((progress.corrected, progress.failed), (0, 0));
        });
    }
}

#[test]
fn imp_6_an_entity_whose_amounts_are_all_0_has_no_rows_in_a_rebuilt_view() {
    let store = Engine::in_memory();
    block_on(async {
        let orders = store.entities::<Order>().create_if_missing().await.unwrap();
        let view = ViewTable::<Prices, _>::new(store.clone()).create_if_missing().await.unwrap();
        for number in 0..10 {
            let order = Order { customer: "a".to_owned(), number, price: if number < 2 { 4 } else { 0 } };
            orders.insert(&order).await.unwrap();
        }
        let progress = view.rebuild().run().await.unwrap();
        assert_eq!((progress.applied, progress.failed), (10, 0));
        let rows = KeyRange::rows("a", TextRange::prefix(VIEW_PREFIX));
        let page =
            store.query(view.table().await.unwrap().name().unwrap(), &Query::new(rows), None).await.unwrap();
        // Each of the two orders with a price has a list and a record. The position in the feed is also in this partition.
        assert_eq!(page.rows.len(), 5);
    });
}
