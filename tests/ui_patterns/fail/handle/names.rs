//! Methods of other libraries on the handles of the patterns.

use table_patterns::feed::Feed;
use table_patterns::migrate::Migration;
use table_patterns::outbox::Outbox;
use table_patterns::periods::PeriodTables;
use table_patterns::series::{HOURS, Series, SeriesTable};
use table_patterns::view::{Projection, View, ViewTable};
use table_patterns::{Engine, Entities, Entity, Result};

#[derive(Entity)]
#[partition_key(customer)]
#[row_key("order_", at)]
struct Order {
    customer: String,
    at: u64,
}

impl Series for Order {
    type Value = i32;
    const SLOTS: &'static [&'static str] = HOURS;
}

struct Copies;

impl View for Copies {
    type Source = Watched;
    type Row = Order;
    fn project(_: &Watched, _: &mut Projection<Order>) -> Result<()> {
        Ok(())
    }
}

fn uses(
    series: SeriesTable<Order, Engine>,
    view: ViewTable<Copies, Engine>,
    periods: PeriodTables<Order, Engine>,
    outbox: Outbox<Engine, Engine>,
    migration: Migration<Engine, Engine>,
    feed: Feed<Engine>,
    orders: Entities<Order, Engine>,
) {
    series.add(1, 2); //~ T260
    view.get("Sales"); //~ T260
    let _: () = view.refresh(); //~ T260
    periods.get("Sales"); //~ T260
    outbox.send("closed"); //~ T260
    migration.run(); //~ T260
    feed.subscribe(); //~ T260
    orders.aggregate(["$group"]); //~ T194
    orders.get_or_create(7, "Ada"); //~ T190
}

struct OfEntity(ViewTable<Order, Engine>); //~ T262

#[derive(Entity)]
#[entity(feed)]
#[partition_key(customer)]
#[row_key(number)]
struct Watched {
    customer: String,
    number: u64,
}

fn main() {}
