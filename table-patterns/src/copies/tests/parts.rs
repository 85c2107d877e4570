//! Tests parent entities whose parts (child entities) hold copies of the parent's properties.

use pollster::block_on;
use table_core::Entity;
use table_core::embedded::Engine;
use table_core::query::{KeyRange, Query};
use table_core::queue::QueueName;
use table_core::selection::{Point, Selection};
use table_core::store::TableStore;

use crate::copies::{CopyRelation, OnDelete};
use crate::entities::Entities;
use crate::outbox::{OUTBOX_PREFIX, Outbox};
use crate::work::Worker;

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Orders", copied_by(OfOrder, SeenOrder))]
#[partition_key(customer)]
#[row_key("order_", id)]
struct Order {
    customer: String,
    #[digits(2)]
    id: u32,
    title: String,
}

/// An order line: a part of an order, with a copy of the order's title.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Orders", copies_from(OfOrder))]
#[partition_key(customer)]
#[row_key("order_", order, "_", number)]
struct Line {
    customer: String,
    #[digits(2)]
    order: u32,
    #[digits(2)]
    number: u32,
    title: Option<String>,
}

/// A note about an order, with a copy of the order's title. It is not a part of the order.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Orders", copies_from(SeenOrder))]
#[partition_key(customer)]
#[row_key("note_", id)]
struct Note {
    customer: String,
    #[digits(2)]
    id: u32,
    order: Option<u32>,
    title: Option<String>,
}

struct OfOrder;

impl CopyRelation for OfOrder {
    type Source = Order;
    type Holder = Line;
    type Copied = String;
    const NAME: &'static str = "lines";
    const ON_DELETE: OnDelete = OnDelete::Refuse;

    fn reference(line: &Line) -> Option<Selection<Order, Point>> {
        line.title.is_some().then(|| Order::key(&line.customer, line.order))
    }

    fn copied(order: &Order) -> String {
        order.title.clone()
    }

    fn set(line: &mut Line, title: String) {
        line.title = Some(title);
    }

    fn clear(line: &mut Line) {
        line.title = None;
    }
}

struct SeenOrder;

impl CopyRelation for SeenOrder {
    type Source = Order;
    type Holder = Note;
    type Copied = String;
    const NAME: &'static str = "notes";
    const ON_DELETE: OnDelete = OnDelete::Clear;

    fn reference(note: &Note) -> Option<Selection<Order, Point>> {
        note.order.map(|order| Order::key(&note.customer, order))
    }

    fn copied(order: &Order) -> String {
        order.title.clone()
    }

    fn set(note: &mut Note, title: String) {
        note.title = Some(title);
    }

    fn clear(note: &mut Note) {
        (note.order, note.title) = (None, None);
    }
}

/// Tests that holders that are parts of their source do not prevent its deletion, and that all other holders are cleared (PAT-DEN-2, PAT-CK-3).
#[test]
fn pat_den_2_an_owner_is_deleted_with_the_parts_that_hold_its_copies() {
    block_on(async {
        let engine = Engine::in_memory();
        let outbox = Outbox::new(engine.clone(), engine.clone(), QueueName::new("copies")?);
        outbox.create_queues().await?;
        let orders = Entities::<Order, _, _>::from(outbox.clone()).create_if_missing().await?;
        let lines = Entities::<Line, _, _>::from(outbox.clone()).create_if_missing().await?;
        let notes = Entities::<Note, _, _>::from(outbox.clone()).create_if_missing().await?;
        for id in [1, 2] {
            orders.insert(&Order { customer: "ada".into(), id, title: "Tea".into() }).await?;
            for number in [1, 2] {
                let title = Some("to copy".to_owned());
                lines.insert(&Line { customer: "ada".into(), order: id, number, title }).await?;
            }
            notes.insert(&Note { customer: "ada".into(), id, order: Some(id), title: None }).await?;
        }
        assert_eq!(orders.delete_with_parts(Order::key("ada", 1)).await?, 3);
        let worker = Worker::new(outbox).with_index_handler(&orders).with_index_handler(&lines);
        worker.with_index_handler(&notes).run_until_idle().await?;
        let cleared = notes.get(Note::key("ada", 1)).await?.map(|note| note.title.clone());
        assert_eq!(cleared, Some(None));
        let all = Query::new(KeyRange::partition("ada"));
        let page = engine.query(orders.table().name()?, &all, None).await?;
        let rows: Vec<_> = page.rows.iter().map(|row| row.row_key).collect();
        let of_first = rows.iter().filter(|row| row.contains("order_01"));
        let of_first: Vec<_> = of_first.filter(|row| !row.starts_with(OUTBOX_PREFIX)).collect();
        assert!(of_first.is_empty(), "no row and no reference is left: {of_first:?}");
        assert_eq!(rows.iter().filter(|row| row.contains("order_02")).count(), 6, "{rows:?}");
        Ok::<_, table_core::Error>(())
    })
    .unwrap();
}
