//! Types that lack the trait of a pattern.

use table_patterns::periods::PeriodTables;
use table_patterns::series::SeriesTable;
use table_patterns::{Engine, Entity, Table, TableStoreExt};

#[derive(Entity)]
#[partition_key(customer)]
#[row_key("order_", number)]
struct Order {
    customer: String,
    number: u32,
}

fn uses(store: Engine, orders: Table<Order, Engine>) {
    let _ = store.set::<Order>(); //~ T250
    let _ = SeriesTable::new(orders); //~ T254
    let _ = PeriodTables::<Order, _>::new(store); //~ T255
}

fn main() {}
