//! Tests a source table that also contains rows of other types: parts of entities, and entities with a feed.

use pollster::block_on;
use table_core::embedded::Engine;
use table_core::key::EntityKey;
use table_core::{Entity, Error, ErrorCode, Result};

use crate::EntityStore;
use crate::entities::Entities;
use crate::view::{CaughtUp, Projection, View, ViewTable};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Orders", feed)]
#[partition_key(customer)]
#[row_key("order_", id)]
struct Order {
    customer: String,
    #[digits(6)]
    id: u32,
}

/// A part of an order.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Orders")]
#[partition_key(customer)]
#[row_key("order_", order, "_", number)]
struct Line {
    customer: String,
    #[digits(6)]
    order: u32,
    #[digits(4)]
    number: u16,
}

/// An entity of another type in the orders' table. Its type declares a feed.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Orders", feed)]
#[partition_key(customer)]
#[row_key("note_", id)]
struct Note {
    customer: String,
    #[digits(6)]
    id: u32,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Sums")]
#[partition_key(customer)]
#[row_key("sums")]
struct Sum {
    customer: String,
    orders: i64,
}

/// A view with the number of orders per customer.
struct Sums;

impl View for Sums {
    type Source = Order;
    type Row = Sum;

    fn project(order: &Order, view: &mut Projection<Sum>) -> Result<()> {
        view.add(Sum::key(&order.customer), Sum::ORDERS, 1)
    }
}

/// The orders, and a view that stops as soon as one entity is set aside.
struct World {
    engine: Engine,
    orders: Entities<Order, Engine>,
    view: ViewTable<Sums, Engine>,
}

impl World {
    fn new() -> Self {
        let engine = Engine::in_memory();
        let orders = block_on(engine.entities::<Order>().create_if_missing()).unwrap();
        let view = block_on(ViewTable::new(engine.clone()).create_if_missing()).unwrap();
        Self { view: view.with_poison_limit(0), engine, orders }
    }

    fn order(&self, id: u32, lines: u16) {
        block_on(async {
            self.orders.insert(&Order { customer: "ada".into(), id }).await?;
            for number in 0..lines {
                let line = Line { customer: "ada".into(), order: id, number };
                self.orders.insert_part(Order::key("ada", id), &line).await?;
            }
            Ok::<_, Error>(())
        })
        .unwrap();
    }

    /// Returns the number of orders according to the view.
    fn sum(&self) -> i64 {
        let row = block_on(block_on(self.view.table()).unwrap().get(Sum::key("ada"))).unwrap();
        row.map_or(0, |row| row.orders)
    }

    fn catch_up(&self) {
        while block_on(self.view.catch_up(100)).unwrap() != CaughtUp::default() {}
        assert_eq!(block_on(self.view.poison()).unwrap(), []);
    }
}

#[test]
fn imp_6_parts_of_an_entity_are_ignored_by_its_view() {
    let world = World::new();
    world.order(1, 3);
    world.order(2, 3);
    let built = block_on(world.view.rebuild().run()).unwrap();
    assert_eq!((built.applied, built.failed, world.sum()), (2, 0, 2));
    world.order(3, 3);
    world.catch_up();
    assert_eq!(world.sum(), 3);
    // The orders' feed also records that the parts are deleted.
    block_on(world.orders.delete_with_parts(Order::key("ada", 1))).unwrap();
    world.catch_up();
    assert_eq!(world.sum(), 2);
    world.order(1, 1);
    world.catch_up();
    assert_eq!(world.sum(), 3);
}

#[test]
fn imp_6_changes_of_a_type_outside_the_set_are_ignored_by_a_view() {
    let world = World::new();
    block_on(world.view.rebuild().run()).unwrap();
    let notes = world.engine.entities::<Note>();
    for id in 0..3 {
        block_on(notes.insert(&Note { customer: "ada".into(), id })).unwrap();
        world.order(id, 0);
        world.catch_up();
    }
    block_on(world.view.rebuild().run()).unwrap();
    world.catch_up();
    assert_eq!(world.sum(), 3);
}

#[test]
fn imp_6_a_part_that_an_earlier_release_set_aside_is_taken_back() {
    let world = World::new();
    world.order(1, 1);
    block_on(world.view.rebuild().run()).unwrap();
    let line = EntityKey::new("ada", "order_000001_0000").unwrap();
    block_on(world.view.set_aside(&line, &Error::new(ErrorCode::EntityMismatch, "no type"))).unwrap();
    assert_eq!(block_on(world.view.retry_poison()).unwrap(), 1);
    block_on(world.view.apply(&line)).unwrap();
    world.catch_up();
    assert_eq!(world.sum(), 1);
}
