//! Tests the erasure of entities that hold copies of an entity outside the tenant, whose partition contains references to the holders.

use pollster::block_on;
use table_core::embedded::Engine;
use table_core::key::EntityKey;
use table_core::name::TableName;
use table_core::query::{EntityRef, KeyRange, Query};
use table_core::queue::QueueName;
use table_core::selection::{Point, Selection};
use table_core::store::TableStore;
use table_core::{Entity, ErrorCode, ValueRef};

use crate::EntityStore;
use crate::copies::{CopyRelation, OnDelete, REFERENCE_PREFIX};
use crate::outbox::Outbox;
use crate::tenant::Tenant;
use crate::tests::faults::FaultyStore;
use crate::work::Worker;

/// A product of the catalogue, which all tenants share.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Products", copied_by(Ordered))]
#[partition_key(category)]
#[row_key("product_", id)]
struct Product {
    category: String,
    #[digits(4)]
    id: u32,
    name: String,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Orders", copies_from(Ordered))]
#[partition_key(tenant)]
#[row_key("order_", number)]
struct Order {
    tenant: String,
    #[digits(4)]
    number: u32,
    note: String,
    product: Option<i32>,
    product_name: Option<String>,
}

struct Ordered;

impl CopyRelation for Ordered {
    type Source = Product;
    type Holder = Order;
    type Copied = String;
    const NAME: &'static str = "ordered";
    const ON_DELETE: OnDelete = OnDelete::Clear;

    fn reference(order: &Order) -> Option<Selection<Product, Point>> {
        Some(Product::key("tools", u32::try_from(order.product?).ok()?))
    }
    fn copied(product: &Product) -> String {
        product.name.clone()
    }
    fn set(order: &mut Order, name: String) {
        order.product_name = Some(name);
    }
    fn clear(order: &mut Order) {
        (order.product, order.product_name) = (None, None);
    }
}

/// Returns the keys of the references in the catalogue to orders of `contoso`.
fn references(engine: &Engine) -> Vec<String> {
    let (table, query) = (TableName::new("Products").unwrap(), Query::new(KeyRange::ALL));
    let page = block_on(engine.query(&table, &query, None)).unwrap();
    let is_holder = |row: &EntityRef<'_>| {
        matches!(row.row.find("HolderPartition", &mut 0), Ok(Some(ValueRef::String("contoso"))))
    };
    let rows = page.rows.iter().filter(|row| row.row_key.starts_with(REFERENCE_PREFIX));
    rows.filter(is_holder).map(|row| row.row_key.to_owned()).collect()
}

#[test]
fn an_erasure_fails_over_a_holder_that_pages_omit_and_leaves_no_reference_outside_the_tenant() {
    let (engine, queues) = (Engine::in_memory(), Engine::in_memory());
    let store = FaultyStore::new(engine.clone());
    let outbox = Outbox::new(store.clone(), queues, QueueName::new("orders").unwrap());
    block_on(outbox.create_queues()).unwrap();
    let products = store.entities_with_outbox::<Product, _>(outbox.clone());
    let products = block_on(products.create_if_missing()).unwrap();
    let orders = store.entities_with_outbox::<Order, _>(outbox.clone());
    let orders = block_on(orders.create_if_missing()).unwrap();
    block_on(products.insert(&Product { category: "tools".into(), id: 7, name: "Saw".into() })).unwrap();
    for (tenant, number) in [("contoso", 1), ("contoso", 2), ("adatum", 1)] {
        let note = "by noon".to_owned();
        let order = Order { tenant: tenant.into(), number, note, product: Some(7), product_name: None };
        block_on(orders.insert(&order)).unwrap();
    }
    let worker = Worker::new(outbox).with_index_handler(&products).with_index_handler(&orders);
    block_on(worker.run_until_idle()).unwrap();
    assert_eq!(references(&engine).len(), 2);
    store.misread(("Note", ErrorCode::EntityMismatch), |table: &TableName, key: &EntityKey| {
        table.as_str() == "Orders"
            && (key.partition_key.as_str(), key.row_key.as_str()) == ("contoso", "order_0001")
    });
    let tenant = Tenant::new().with_entities(&orders, Order::partition("contoso")).unwrap();
    for _ in 0..2 {
        let error = block_on(tenant.erase()).unwrap_err();
        assert_eq!(error.code(), ErrorCode::UpdateConditionNotSatisfied, "{error}");
        assert_eq!(error.table(), Some("Orders"), "{error}");
        assert_eq!(error.key(), Some(("contoso", "order_0001")), "{error}");
        assert!(block_on(tenant.remaining()).unwrap() > 0);
        assert_eq!(references(&engine).len(), 1);
    }
    store.heal();
    block_on(tenant.erase()).unwrap();
    assert_eq!((block_on(tenant.remaining()).unwrap(), references(&engine)), (0, Vec::new()));
    let other = block_on(orders.get(Order::key("adatum", 1))).unwrap().unwrap();
    assert_eq!(other.product_name.as_deref(), Some("Saw"));
}
