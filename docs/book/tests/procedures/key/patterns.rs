//! Tests the procedure for changing the key of an entity that has a blob and an index in another table.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::TryStreamExt;
use table_patterns::blob::object_store::memory::InMemory;
use table_patterns::blob::object_store::path::Path;
use table_patterns::blob::object_store::{ObjectStore as _, ObjectStoreExt as _};
use table_patterns::large::{BlobRef, Large, LargeTable, whole};
use table_patterns::outbox::Outbox;
use table_patterns::work::Worker;
use table_patterns::{
    Engine, Entities, Entity, EntityStore as _, ErrorCode, QueueName, Result, TableStoreExt as _,
};

use crate::page::Procedure;
use crate::time::Time;

/// The old release, which stores orders by customer.
#[derive(Entity, Large, Clone, Debug, PartialEq)]
#[entity(table = "Orders")]
#[partition_key(customer)]
#[row_key(number)]
#[index(Tracking, unique, table = "Tracking", partition_key(code), row_key("code"))]
struct Order {
    customer: String,
    #[digits(6)]
    number: u32,
    day: u16,
    code: String,
    #[blob]
    invoice: Option<BlobRef>,
}

/// An order that is stored by day, in another table.
#[derive(Entity, Large, Clone, Debug, PartialEq)]
#[entity(table = "OrdersByDay")]
#[partition_key(day)]
#[row_key(number)]
#[index(Tracking, unique, table = "TrackingByDay", partition_key(code), row_key("code"))]
struct OrderOfDay {
    #[digits(3)]
    day: u16,
    #[digits(6)]
    number: u32,
    customer: String,
    code: String,
    #[blob]
    invoice: Option<BlobRef>,
}

/// An order that is stored by day, with the table of the old index.
mod same_index {
    #[derive(table_patterns::Entity, table_patterns::large::Large, Clone, Debug, PartialEq)]
    #[entity(table = "OrdersByDay")]
    #[partition_key(day)]
    #[row_key(number)]
    #[index(Tracking, unique, table = "Tracking", partition_key(code), row_key("code"))]
    pub(super) struct OrderOfDay {
        #[digits(3)]
        pub day: u16,
        #[digits(6)]
        pub number: u32,
        pub customer: String,
        pub code: String,
        #[blob]
        pub invoice: Option<table_patterns::large::BlobRef>,
    }
}

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
const ORDERS: u32 = 60;

fn day(number: u32) -> u16 {
    u16::try_from(number % 9).unwrap()
}

fn customer(number: u32) -> String {
    format!("customer {}", number % 5)
}

type Handle<E> = Entities<E, Engine, Outbox<Engine, Engine>>;

struct Shop {
    time: Time,
    store: Engine,
    outbox: Outbox<Engine, Engine>,
    blobs: Arc<InMemory>,
}

impl Shop {
    async fn with_orders() -> Result<Self> {
        let time = Time::new();
        let store = time.engine();
        let outbox = Outbox::new(store.clone(), store.clone(), QueueName::new("orders")?);
        outbox.create_queues().await?;
        let shop = Self { time, store, outbox, blobs: Arc::new(InMemory::new()) };
        let handle = shop.open::<Order>().await?;
        let orders = shop.large(&handle);
        for number in 0..ORDERS {
            let invoice = Order::INVOICE_BLOB.content(whole(number.to_be_bytes().to_vec()));
            let code = format!("NO{number}");
            let order = Order { customer: customer(number), number, day: day(number), code, invoice: None };
            orders.insert(order, [invoice]).await?;
        }
        Worker::new(shop.outbox.clone()).with_index_handler(&handle).run_until_idle().await?;
        Ok(shop)
    }

    async fn open<E: Large + Send + Sync>(&self) -> Result<Handle<E>> {
        self.store.entities_with_outbox::<E, _>(self.outbox.clone()).create_if_missing().await
    }

    fn large<E: Large>(&self, handle: &Handle<E>) -> LargeTable<E, Engine, Outbox<Engine, Engine>> {
        let blobs = Arc::clone(&self.blobs) as Arc<_>;
        LargeTable::new(handle.clone(), blobs, "shop").with_clock(self.time.ahead(Duration::ZERO))
    }

    /// Copies at most `most` orders with their invoices, in key order.
    async fn copy(&self, new: &Handle<OrderOfDay>, most: usize) -> Result<()> {
        let old = self.open::<Order>().await?;
        let (from, to) = (self.large(&old), self.large(new));
        let (mut rows, mut copied) = (pin!(old.scan("orders by day").max_rows(100_000).stream()), 0);
        while copied < most
            && let Some(old) = rows.try_next().await?
        {
            let invoice = from.open(&old, Order::INVOICE_BLOB).await?.unwrap();
            let content = OrderOfDay::INVOICE_BLOB.content(invoice.into_stream());
            let Order { customer, number, day, code, .. } = old.into_value();
            match to.insert(OrderOfDay { day, number, customer, code, invoice: None }, [content]).await {
                Err(error) if error.code() == ErrorCode::EntityAlreadyExists => {}
                outcome => drop(outcome?),
            }
            copied += 1;
        }
        Ok(())
    }

    /// Deletes all blobs of a folder.
    async fn delete_blobs(&self, folder: &str) -> usize {
        let found: Vec<_> = self.blobs.list(Some(&Path::from(folder))).try_collect().await.unwrap();
        for blob in &found {
            self.blobs.delete(&blob.location).await.unwrap();
        }
        found.len()
    }
}

#[pollster::test]
async fn orders_with_an_invoice_and_a_remote_index_get_a_key_in_another_table() -> Result<()> {
    let mut page = Procedure::of("book/evolution.md", "A new key");
    let shop = Shop::with_orders().await?;
    page.step("Declare the new entity as a second struct next to the old one, with a different table.");
    page.step("give the new index another table");
    let claimed = shop.open::<same_index::OrderOfDay>().await.unwrap_err();
    assert_eq!((claimed.code(), claimed.table()), (ErrorCode::SchemaMismatch, Some("Tracking")));
    page.step("The refused type creates no table.");
    assert!(!shop.store.table::<same_index::OrderOfDay>().delete_table().await?);
    let new = shop.open::<OrderOfDay>().await?;

    page.step("Scan the old rows, and `insert` each as the new entity.");
    page.step("Open each blob with a `LargeTable` of the old type, and insert the new entity and the content with a `LargeTable` of the new type.");
    for most in [25, usize::MAX, usize::MAX] {
        shop.copy(&new, most).await?;
    }
    Worker::new(shop.outbox.clone()).with_index_handler(&new).run_until_idle().await?;

    page.step("Delete the old rows with `delete_table`");
    assert!(shop.open::<Order>().await?.table().delete_table().await?);
    page.step("This leaves the rows of its indexes in other tables and its blobs: delete the tables of the indexes with `delete_table`, and delete the blobs");
    assert!(shop.store.untyped("Tracking")?.delete_table().await?);
    assert!(shop.delete_blobs("shop/blobs/orders").await >= usize::try_from(ORDERS).unwrap());

    let orders = shop.large(&new);
    for _ in 0..4 {
        shop.time.pass(DAY + Duration::from_secs(60));
        orders.collect_orphans().await?;
    }
    for number in 0..ORDERS {
        let order = new
            .get_eventual(OrderOfDay::tracking(format!("NO{number}")))
            .await?
            .unwrap()
            .into_possibly_stale();
        assert_eq!((order.day, order.number), (day(number), number));
        let invoice = orders.open(&order, OrderOfDay::INVOICE_BLOB).await?.unwrap();
        assert_eq!(&invoice.bytes().await?[..], &number.to_be_bytes());
    }
    Ok(())
}
