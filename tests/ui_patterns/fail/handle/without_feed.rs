//! Views of entities that do not declare a feed.

use table_patterns::entity::Entity as AnyEntity;
use table_patterns::view::{Projection, View};
use table_patterns::{Entity, Result};

#[derive(Entity)]
#[entity(table = "Orders")]
#[partition_key(customer)]
#[row_key("order_", number)]
struct Order {
    customer: String,
    number: u32,
}

#[derive(Entity)]
#[partition_key(customer)]
#[row_key("")]
struct Total {
    customer: String,
    orders: i64,
}

struct Totals;

impl View for Totals {
    type Source = Order; //~ T269
    type Row = Total;
    fn project(order: &Order, view: &mut Projection<Total>) -> Result<()> {
        view.add(Total::key(&order.customer), Total::ORDERS, 1)
    }
}

struct Count<E>(E);

impl<E: AnyEntity + Send + Sync> View for Count<E> {
    type Source = E; //~ T269
    type Row = Total;
    fn project(_: &E, view: &mut Projection<Total>) -> Result<()> {
        view.add(Total::key(""), Total::ORDERS, 1)
    }
}

fn main() {}
