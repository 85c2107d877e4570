//! Tests that commands send few requests. `check` reads few individual rows other than the defective ones, and an import writes few transactions, regardless of
//! row order.

#![expect(clippy::expect_used, reason = "a test panics where a result is not the expected one")]

mod mortal;

use mortal::counted;
use table_core::testing::LimitedStore;
use table_core::{DynTableStore, EntityKey, IfMatch, TableEntity, TableName};
use table_inspect::kind::Kinds;
use table_patterns::embedded::Engine;
use table_patterns::{Entity, EntityStore as _, TableStoreExt};
use tables_cli::check::{CheckedIndex, Fault, check_copies};
use tables_cli::transfer::sync::{SyncOptions, sync};
use tables_cli::transfer::writer::{Change, Mode, Writer};

#[derive(Clone, Debug, Entity, PartialEq)]
#[entity(table = "Company", crate = table_patterns)]
#[partition_key(department)]
#[row_key("empid_", id)]
#[index(ByEmail, unique, row_key("email_", email))]
struct Employee {
    department: String,
    #[digits(6)]
    id: u32,
    email: String,
}

#[tokio::test]
async fn a_check_looks_up_few_rows() {
    let (engine, name) = (Engine::in_memory(), TableName::new("Company").unwrap());
    let employees = engine.entities::<Employee>().create_if_missing().await.unwrap();
    let of = |id: u32| Employee {
        department: format!("Sales{}", id % 3),
        id,
        email: format!("n{id}@contoso.com"),
    };
    for id in 0..600 {
        employees.insert(&of(id)).await.unwrap();
    }
    let (store, requests) = counted(&engine);
    let schemas = table_inspect::keys::schemas_of_rows(&store, &name).await.unwrap();
    let (kinds, schema) = (Kinds::new("Company", &schemas), &schemas[0].1);
    let index = &schema.indexes[0];
    let checked = CheckedIndex { store: &store, table: &name, schema, index, kinds: &kinds };
    let check = async || {
        let (mut faults, before) = (Vec::new(), requests());
        let counts = check_copies(checked, async |finding| {
            faults.push((finding.key.row_key.as_str().to_owned(), finding.fault));
            Ok(())
        })
        .await
        .unwrap();
        ((counts.entities, counts.index_rows), faults, requests() - before)
    };
    // A page has 40 rows, so one pass over the 1,200 rows takes 30 requests.
    let (counts, faults, whole) = check().await;
    assert_eq!((counts, faults), ((600, 600), Vec::new()));
    assert!(whole <= 31, "{whole} requests");

    let rows = engine.untyped("Company").unwrap();
    let key = EntityKey::new("Sales1", "email_n301@contoso.com").unwrap();
    rows.delete(&key, IfMatch::Any).await.unwrap();
    let (counts, faults, damaged) = check().await;
    assert_eq!((counts, faults), ((600, 599), vec![("email_n301@contoso.com".to_owned(), Fault::Missing)]));
    assert!(damaged <= 2 * whole + 5, "{damaged} requests");
}

#[tokio::test]
async fn rows_in_any_order_are_written_in_full_transactions() {
    let (store, requests) = counted(&Engine::in_memory());
    let name = TableName::new("Things").unwrap();
    store.create_table_if_missing(&name).await.unwrap();
    let before = requests();
    let mut writer = Writer::new(store.clone(), name, Mode::Insert, None);
    for row in 0..5_000_u64 {
        // Consecutive rows are in different partitions.
        let entity = TableEntity::new(format!("p{}", row % 50), format!("{row:05}")).unwrap();
        writer.push(row, Change::Write(entity)).await.unwrap();
    }
    writer.flush().await.unwrap();
    assert_eq!((writer.settled(), writer.take_rejected().len()), (5_000, 0));
    assert_eq!(requests() - before, 50);
}

#[tokio::test]
async fn a_sync_ends_at_the_first_row_that_the_target_refuses() {
    let (source, target) = (Engine::in_memory(), Engine::in_memory());
    let name = TableName::new("Things").unwrap();
    let store = DynTableStore::new(source);
    let things = store.untyped("Things").unwrap().create_if_missing().await.unwrap();
    for row in 0..3_000_u32 {
        let text = "x".repeat(if row == 0 { 20_000 } else { 1 });
        things.insert(&TableEntity::new("p", format!("{row:05}")).unwrap().with("Text", text)).await.unwrap();
    }
    let limited = LimitedStore::new(target.clone(), |capabilities| capabilities.limits.entity_bytes = 10_000);
    let error = sync(&store, &DynTableStore::new(limited), &name, &SyncOptions::default()).await.unwrap_err();
    assert!(error.to_string().contains("refuses a row: EntityTooLarge"), "{error}");
    let written = target.untyped("Things").unwrap().scan("test").max_rows(10_000).collect().await.unwrap();
    assert!(written.len() < 300, "{}", written.len());
}
