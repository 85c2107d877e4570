//! Tests the order, rejection and settlement of changes.

use std::sync::{Arc, Mutex};

use table_core::{Engine, ErrorCode, TableEntity, TableStoreExt, Transaction};

use super::*;
use crate::hooked::{Hooked, Hooks};

async fn table() -> (DynTableStore, TableName) {
    let (store, table) = (DynTableStore::new(Engine::in_memory()), TableName::new("Things").unwrap());
    store.create_table(&table).await.unwrap();
    (store, table)
}

async fn stored(store: &DynTableStore) -> Vec<TableEntity> {
    store.untyped("Things").unwrap().scan("test").max_rows(10_000).collect().await.unwrap()
}

fn entity(partition: &str, row: u32, value: i32) -> Change {
    Change::Write(TableEntity::new(partition, row.to_string()).unwrap().with("V", value))
}

#[tokio::test]
async fn changes_of_one_key_keep_their_order_and_all_are_settled() {
    let (store, table) = table().await;
    let mut writer = Writer::new(store.clone(), table, Mode::Replace, None);
    for value in 0..1_000_i32 {
        writer.push(0, entity("p", value.unsigned_abs() % 7, value)).await.unwrap();
    }
    writer.flush().await.unwrap();
    assert_eq!((writer.settled(), writer.take_rejected()), (1_000, Vec::new()));
    let last: Vec<_> = stored(&store).await.iter().map(|entity| entity.get("V").cloned()).collect();
    let wanted: Vec<_> =
        (0..7).map(|row| Some(((993..1_000).find(|v| v % 7 == row).unwrap()).into())).collect();
    assert_eq!(last, wanted);
}

#[tokio::test]
async fn a_row_that_the_store_refuses_is_rejected_and_its_neighbours_are_written() {
    let (store, table) = table().await;
    let mut writer = Writer::new(store.clone(), table, Mode::Insert, None).tolerant();
    for (line, row) in [(2, 1), (3, 2)] {
        writer.push(line, entity("p", row, 0)).await.unwrap();
    }
    writer.flush().await.unwrap();
    for (line, row) in [(4, 2), (5, 3)] {
        writer.push(line, entity("p", row, 1)).await.unwrap();
    }
    let huge = TableEntity::new("p", "4").unwrap().with("V", "x".repeat(40_000));
    writer.push(6, Change::Write(huge)).await.unwrap();
    writer.flush().await.unwrap();
    let rejected: Vec<_> = writer.take_rejected().iter().map(|rejected| rejected.line).collect();
    assert_eq!((rejected, writer.settled(), stored(&store).await.len()), (vec![4, 6], 5, 3));
}

/// Tests that the only row of a partition does not delay the settlement of later rows indefinitely.
#[tokio::test]
async fn a_lone_row_is_settled_before_too_many_others_wait() {
    let (store, table) = table().await;
    let mut writer = Writer::new(store, table, Mode::Replace, None);
    writer.push(0, entity("lone", 0, 0)).await.unwrap();
    let mut most = 0;
    for row in 0..2 * u32::try_from(OPEN).unwrap() {
        writer.push(0, entity("p", row, 0)).await.unwrap();
        most = most.max(writer.settlement.open());
    }
    assert!(most <= OPEN, "{most}");
    assert!(writer.settled() > 50_000, "{}", writer.settled());
}

/// A store that sends writes in a larger form than its limits suggest. It therefore rejects transactions of more than three writes.
#[derive(Debug)]
struct Enlarging {
    engine: Engine,
    /// The number of writes in each transaction of at most three.
    sent: Mutex<Vec<usize>>,
}

impl Hooks for Enlarging {
    fn engine(&self) -> &Engine {
        &self.engine
    }

    async fn before_submit(&self, _: &TableName, transaction: &Transaction) -> table_core::Result<()> {
        let writes = transaction.operations().len();
        if writes > 3 {
            return Err(Error::new(ErrorCode::RequestBodyTooLarge, "the body is too large"));
        }
        self.sent.lock().unwrap().push(writes);
        Ok(())
    }
}

#[tokio::test]
async fn egt_3_a_group_that_the_store_refuses_as_too_large_is_written_in_halves() {
    let engine = Engine::in_memory();
    let store = Arc::new(Enlarging { engine: engine.clone(), sent: Mutex::default() });
    let (shared, table) = (DynTableStore::new(Hooked(Arc::clone(&store))), TableName::new("Things").unwrap());
    shared.create_table(&table).await.unwrap();
    engine.untyped("Things").unwrap().insert(&TableEntity::new("p", "7").unwrap()).await.unwrap();
    let mut writer = Writer::new(shared.clone(), table, Mode::Insert, None).tolerant();
    for row in 0..10 {
        writer.push(u64::from(row), entity("p", row, 0)).await.unwrap();
    }
    writer.flush().await.unwrap();
    let rejected: Vec<_> = writer.take_rejected().iter().map(|rejected| rejected.line).collect();
    assert_eq!((rejected, writer.settled(), stored(&shared).await.len()), (vec![7], 10, 10));
    // Row 7 is the first row of the last three, which are sent again without it.
    assert_eq!(*store.sent.lock().unwrap(), [2, 3, 2, 3, 2]);
}
