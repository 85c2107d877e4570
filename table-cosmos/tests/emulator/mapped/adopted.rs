//! Tests a container with another program's orders and invoices, opened with a mapping for the orders.

use table_core::query::{KeyRange, Query, Select};
use table_core::{
    Entity, EntityKey, Error, ErrorCode, IfMatch, Operation, OperationKind, PartitionKey, RowKey, TableName,
    TableStore, TableStoreExt, Transaction,
};
use table_cosmos::emulator::Emulator;
use table_cosmos::{CosmosTables, Format, Mapping, Options, Reads};

use crate::runtime;

#[derive(Clone, Debug, Entity, PartialEq)]
#[entity(table = "Orders")]
#[partition_key(tenant, customer)]
#[row_key(number)]
struct Order {
    tenant: String,
    customer: String,
    number: String,
    total: f64,
    paid: Option<bool>,
    /// A property without a path in the mapping.
    note: Option<String>,
}

const KEY: &str = r#"["contoso","ada"]"#;
const PATHS: [&str; 2] = ["/tenantId", "/customer/id"];

fn mapping() -> Mapping {
    Mapping::new(PATHS)
        .property("Total", "/total/amount", Format::Double)
        .property("Paid", "/paid", Format::Boolean)
        .constant("/type", "order")
}

fn item(id: &str, more: &str) -> String {
    format!(
        r#"{{"id": "{id}", "tenantId": "contoso", "customer": {{"id": "ada", "city": "Paris"}}, {more}}}"#
    )
}

const ORDER: &str = r#""type": "order", "total": {"amount": 12.5, "currency": "EUR"}, "lines": [{"sku": 7}]"#;

/// Creates the fixture: a container with three orders that match the mapping, two invoices, and two orders that do not match it.
async fn world() -> (Emulator, CosmosTables, TableName) {
    let (account, table) = (Emulator::new(false).unwrap(), TableName::new("Orders").unwrap());
    account.create_with_paths(&table, &PATHS, 4, None).unwrap();
    for id in ["o-1", "o-2", "o-3"] {
        account.put(&table, KEY, &item(id, ORDER)).await.unwrap();
    }
    for id in ["i-1", "i-2"] {
        account.put(&table, KEY, &item(id, r#""type": "invoice", "total": "much""#)).await.unwrap();
    }
    account.put(&table, KEY, &item("x-1", r#""type": "order", "total": {"amount": "much"}"#)).await.unwrap();
    account.put(&table, KEY, &item("x-2", r#""type": "order", "paid": true"#)).await.unwrap();
    let store = account.open(Options::new().mapping_of::<Order>(mapping()).unwrap()).await.unwrap();
    (account, store, table)
}

/// Returns a stored document, as the other program reads it.
async fn document(account: &Emulator, table: &TableName, id: &str) -> Option<serde_json::Value> {
    let target = format!("/dbs/tables/colls/{table}/docs/{id}");
    let headers = [("x-ms-documentdb-partitionkey".to_owned(), KEY.to_owned())];
    let answer = account.exchange("GET", &target, headers, Vec::new()).await.unwrap();
    (answer.status == 200).then(|| serde_json::from_slice(&answer.body).unwrap())
}

#[test]
fn wire_6_orders_of_another_program_are_entities_and_all_else_is_left_alone() {
    runtime().block_on(async {
        let (account, store, table) = world().await;
        let orders = store.table::<Order>();
        orders.exists(Order::key("contoso", "ada", "o-1")).await.unwrap();
        let _ = account.sent();
        let found = orders.query(Order::within("contoso")).collect().await.unwrap();
        assert_eq!(account.sent().len(), 1, "the tenant is in one of the four physical partitions");
        assert_eq!(
            found.iter().map(|order| order.number.as_str()).collect::<Vec<_>>(),
            ["o-1", "o-2", "o-3"]
        );
        assert!((found[0].total - 12.5).abs() < f64::EPSILON && found[0].paid.is_none());
        let skipped = store.skipped_items();
        let reasons: Vec<String> = skipped.latest.iter().map(Error::to_string).collect();
        assert_eq!(skipped.count, 2, "{reasons:?}");
        assert!(
            reasons[0].contains("`Total`") && reasons[1].contains("it has no `/total/amount`"),
            "{reasons:?}"
        );
        let everything = store.query(&table, &Query::new(KeyRange::ALL), None).await.unwrap();
        assert_eq!((everything.rows.len(), everything.rows_read), (3, Some(5)), "no invoice is read");
        let plan = store.explain(&table, &Query::new(KeyRange::partition("contoso!ada!"))).await.unwrap();
        assert!(plan.text.contains("c['customer']['id'] = @p1 AND c['type'] = @p2"), "{}", plan.text);
        assert_eq!(plan.reads, Reads::Key);

        let key = || Order::key("contoso", "ada", "o-1");
        let update = |order: &mut Order| (order.paid, order.note) = (Some(true), Some("by hand".to_owned()));
        orders.update(key(), update).await.unwrap();
        let order = orders.get(key()).await.unwrap().unwrap();
        assert_eq!((order.paid, order.note.as_deref()), (Some(true), Some("by hand")));
        let stored = document(&account, &table, "o-1").await.unwrap();
        assert_eq!(stored["lines"][0]["sku"], 7);
        assert_eq!(
            (&stored["customer"]["city"], &stored["total"]["currency"]),
            (&"Paris".into(), &"EUR".into())
        );
        assert_eq!((&stored["paid"], &stored["_tables"]["p"]["Note"]), (&true.into(), &"by hand".into()));

        // A replace keeps the other program's members, both with and without an `ETag`.
        let mut order = order.into_value();
        for condition in [None, Some(())] {
            (order.total, order.paid) = (order.total + 1.0, None);
            let etag = orders.get(key()).await.unwrap().unwrap().etag().clone();
            let if_match = condition.map_or(IfMatch::Any, |()| IfMatch::ETag(etag));
            orders.replace(&order, if_match).await.unwrap();
            let stored = document(&account, &table, "o-1").await.unwrap();
            assert_eq!(stored["total"], serde_json::json!({"amount": order.total, "currency": "EUR"}));
            assert!(stored["paid"].is_null() && stored["lines"][0]["sku"] == 7, "{stored}");
        }

        let new = Order { number: "o-9".to_owned(), total: 1.0, paid: Some(false), note: None, ..order };
        orders.insert(&new).await.unwrap();
        let stored = document(&account, &table, "o-9").await.unwrap();
        assert_eq!(
            (&stored["type"], &stored["customer"]),
            (&"order".into(), &serde_json::json!({"id": "ada"}))
        );
        orders.delete(Order::key("contoso", "ada", "o-9"), IfMatch::Any).await.unwrap();
        assert_eq!(document(&account, &table, "o-9").await, None);
    });
}

#[test]
fn wire_6_a_write_over_an_item_of_another_kind_is_refused_and_changes_nothing() {
    runtime().block_on(async {
        let (account, store, table) = world().await;
        for id in ["i-1", "x-1", "x-2"] {
            let before = document(&account, &table, id).await.unwrap();
            let row = || table_core::row::RowWriter::new().finish();
            let kinds = [
                OperationKind::Merge(row(), IfMatch::Any),
                OperationKind::InsertOrMerge(row()),
                OperationKind::Replace(row(), IfMatch::Any),
                OperationKind::InsertOrReplace(row()),
                OperationKind::Delete(IfMatch::Any),
            ];
            for kind in kinds {
                let limits = store.capabilities().limits;
                let key = PartitionKey::new("contoso!ada!").unwrap();
                let mut write = Transaction::new(key, limits).unwrap();
                let text = format!("{kind:?} of {id}");
                write.push(Operation { row_key: RowKey::new(id).unwrap(), kind }).unwrap();
                let error = store.submit(&table, write).await.unwrap_err();
                assert_eq!(error.code(), ErrorCode::Corrupted, "{text}: {error}");
                assert!(
                    !error.is_ambiguous() && error.key() == Some(("contoso!ada!", id)),
                    "{text}: {error}"
                );
            }
            assert_eq!(document(&account, &table, id).await.unwrap(), before);
            let key = EntityKey::new("contoso!ada!", id).unwrap();
            let error = store.get(&table, &key, &Select::All).await.unwrap_err();
            assert_eq!(error.code(), ErrorCode::Corrupted, "{error}");
        }
        // A value that cannot be represented in its format is rejected before a request is sent.
        let order = Order {
            tenant: "contoso".to_owned(),
            customer: "ada".to_owned(),
            number: "o-8".to_owned(),
            total: f64::NAN,
            paid: None,
            note: None,
        };
        let error = store.table::<Order>().insert(&order).await.unwrap_err();
        assert!(error.code() == ErrorCode::InvalidInput && error.to_string().contains("`Total`"), "{error}");
    });
}

#[test]
fn hpk_43_a_mapping_of_other_paths_is_refused_when_the_container_is_opened() {
    runtime().block_on(async {
        let (account, _, table) = world().await;
        for paths in [["/customer/id", "/tenantId"], ["/tenantId", "/customer"]] {
            let options = Options::new().mapping("Orders", Mapping::new(paths)).unwrap();
            let store = account.open(options).await.unwrap();
            let error = store.query(&table, &Query::new(KeyRange::ALL), None).await.unwrap_err();
            assert_eq!((error.code(), error.rule()), (ErrorCode::SchemaMismatch, Some("HPK-43")), "{error}");
            assert!(error.to_string().contains("/tenantId, /customer/id"), "{error}");
        }
        let quoted = Mapping::new(["/\"tenantId\"", "/customer/\"id\""]);
        let store = account.open(Options::new().mapping("Orders", quoted).unwrap()).await.unwrap();
        assert_eq!(store.query(&table, &Query::new(KeyRange::ALL), None).await.unwrap().rows.len(), 7);
    });
}
