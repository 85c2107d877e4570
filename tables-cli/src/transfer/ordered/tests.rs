use table_core::query::KeyRange;
use table_core::testing::LimitedStore;
use table_core::{DynTableStore, Engine, Query, TableEntity, TableName, TableStoreExt};

use super::Ordered;
use crate::failure::{Failure, Result};
use crate::rows::Pages;
use crate::transfer::derived::OtherTables;
use crate::transfer::sync::{SyncOptions, sync};

async fn fill(store: DynTableStore) -> DynTableStore {
    let table = store.untyped("Company").unwrap().create_if_missing().await.unwrap();
    for number in 0..40_i32 {
        let entity = TableEntity::new("Sales", format!("{number:02}").as_str()).unwrap();
        table.insert(&entity.with("Number", number)).await.unwrap();
    }
    store
}

/// Creates a store that returns rows in arbitrary order. Its capabilities declare this only if `says_so` is `true`.
fn shuffled(says_so: bool) -> LimitedStore<Engine> {
    LimitedStore::new(Engine::in_memory(), |capabilities| capabilities.ordered = !says_so).shuffled(7)
}

/// Synchronises a target with a source containing the same rows. Returns the outcome, and the number of rows in the target.
async fn synchronised(source: DynTableStore, target: DynTableStore) -> (Result<()>, usize) {
    let (source, target) = (fill(source).await, fill(target).await);
    let options =
        SyncOptions { keeps_extra: false, is_dry_run: false, rate: None, others: OtherTables::default() };
    let name = TableName::new("Company").unwrap();
    let outcome = sync(&source, &target, &name, &options).await.map(drop);
    let rows =
        target.untyped("Company").unwrap().scan("all are counted").max_rows(100).collect().await.unwrap();
    (outcome, rows.len())
}

#[test]
fn a_store_that_says_it_has_no_order_is_refused() {
    let (store, name) = (DynTableStore::new(shuffled(true)), TableName::new("Company").unwrap());
    let pages = Pages::new(&store, &name, Query::new(KeyRange::ALL));
    let Err(Failure::Refused(message)) = Ordered::new(pages) else { panic!("the store is accepted") };
    assert!(message.contains("key order"), "{message}");
}

/// Tests that rows in the wrong order are detected. Otherwise, a comparison would report existing rows as both missing and extra, and a synchronisation would
/// delete them.
#[tokio::test]
async fn no_row_is_deleted_because_a_store_returned_rows_out_of_order() {
    for says_so in [true, false] {
        for is_source in [true, false] {
            let (shuffled, engine) =
                (DynTableStore::new(shuffled(says_so)), DynTableStore::new(Engine::in_memory()));
            let (source, target) = if is_source { (shuffled, engine) } else { (engine, shuffled) };
            let (outcome, rows) = synchronised(source, target).await;
            assert!(
                matches!(&outcome, Err(Failure::Refused(message)) if message.contains("key order")),
                "{outcome:?}"
            );
            assert_eq!(rows, 40, "says so: {says_so}, is the source: {is_source}");
        }
    }
}
