//! Tests that all stored parts are found, whatever the order of the store and the size of its pages. Few other rows may be read.

use std::fmt;
use std::sync::{Arc, Mutex};

use proptest::prelude::*;
use table_core::query::{Continuation, Page};
use table_core::store::{Capabilities, Committed, StoredRow, TablePage};
use table_core::testing::LimitedStore;
use table_core::{BlockOn, Engine, EntityKey, TableStoreExt, Transaction, Value};
use uuid::Uuid;

use super::*;

/// A store that counts queries and the rows that they return.
#[derive(Clone, Debug)]
struct Counting {
    engine: Engine,
    /// The maximum number of rows in a page.
    top: Option<usize>,
    read: Arc<Mutex<(usize, usize)>>,
}

impl fmt::Display for Counting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a store that counts")
    }
}

impl TableStore for Counting {
    fn capabilities(&self) -> &Capabilities {
        self.engine.capabilities()
    }

    async fn create_table(&self, table: &TableName) -> table_core::Result<()> {
        self.engine.create_table(table).await
    }

    async fn delete_table(&self, table: &TableName) -> table_core::Result<()> {
        self.engine.delete_table(table).await
    }

    async fn list_tables(
        &self,
        prefix: &str,
        from: Option<&str>,
        top: usize,
    ) -> table_core::Result<TablePage> {
        self.engine.list_tables(prefix, from, top).await
    }

    async fn get(
        &self,
        table: &TableName,
        key: &EntityKey,
        select: &Select,
    ) -> table_core::Result<Option<StoredRow>> {
        self.engine.get(table, key, select).await
    }

    async fn query(
        &self,
        table: &TableName,
        query: &Query,
        from: Option<&Continuation>,
    ) -> table_core::Result<Page> {
        let query = Query { top: self.top.or(query.top), ..query.clone() };
        let page = self.engine.query(table, &query, from).await?;
        let mut read = self.read.lock().unwrap();
        *read = (read.0 + 1, read.1 + page.rows.len());
        drop(read);
        Ok(page)
    }

    async fn submit(&self, table: &TableName, transaction: Transaction) -> table_core::Result<Committed> {
        self.engine.submit(table, transaction).await
    }
}

/// Stores rows with these `RowKey`s. If the second component is `true`, the row has a `WriteId`.
async fn engine(rows: impl Iterator<Item = (String, bool)>) -> Engine {
    let engine = Engine::in_memory();
    let table = engine.untyped("Things").unwrap().create_if_missing().await.unwrap();
    let row = |(row_key, is_part): (String, bool)| {
        let row = TableEntity::new("p", row_key).unwrap();
        if is_part { row.with(WRITE_ID, Value::Guid(Uuid::from_u128(1))) } else { row }
    };
    table.bulk().insert_all(rows.map(row)).await.unwrap();
    engine
}

async fn found(store: &DynTableStore, row_keys: &[&str]) -> Vec<String> {
    let (name, partition) = (TableName::new("Things").unwrap(), PartitionKey::new("p").unwrap());
    let rows = stored_parts(store, &name, &partition, row_keys).await.unwrap();
    rows.into_iter().map(|row| row.key().row_key.as_str().to_owned()).collect()
}

/// Tests that few of the rows between two distant entities are read, and few of the rows that sort between the parts of one entity.
#[test]
fn few_rows_other_than_the_parts_are_read() {
    async {
        for is_gap_of_parts in [true, false] {
            let parts = (1..=9).flat_map(|at| [format!("a_{at:02}"), format!("z_{at:02}")]);
            let gap = (0..25_000).map(|at| (format!("m{at:05}_01"), is_gap_of_parts));
            let within = (0..3_000).map(|at| (format!("a_1{at:05}"), false));
            let rows = parts.clone().map(|row_key| (row_key, true)).chain(gap).chain(within);
            let counting = Counting { engine: engine(rows).await, top: None, read: Arc::default() };
            let rows = found(&DynTableStore::new(counting.clone()), &["z_01", "a_07"]).await;
            assert!(parts.clone().all(|row_key| rows.contains(&row_key)), "{is_gap_of_parts}");
            let (requests, read) = *counting.read.lock().unwrap();
            assert!(requests <= 3 && read < 1_100, "{is_gap_of_parts}: {requests} requests for {read} rows");
        }
    }
    .block_on();
}

proptest! {
    #[test]
    fn all_parts_are_found_on_stores_of_any_order(
        stored in prop::collection::btree_map("[ab](_0[12]){0,3}|[ab]_0[12]x", any::<bool>(), 0..40),
        wanted in prop::collection::vec("[abc](_0[12]){1,2}", 0..4),
        rows in 1..9_usize,
    ) {
        let wanted: Vec<_> = wanted.iter().map(String::as_str).collect();
        let bases: BTreeSet<_> = wanted.iter().filter_map(|row_key| Some(part_of(row_key)?.0)).collect();
        let is_wanted = |row_key: &str| part_of(row_key).is_some_and(|(base, _)| bases.contains(base));
        let parts: Vec<_> =
            stored.iter().filter(|(row_key, is_part)| **is_part && is_wanted(row_key)).map(|(key, _)| key).collect();
        async {
            let engine = engine(stored.clone().into_iter()).await;
            let ordered = Counting { engine: engine.clone(), top: Some(rows), read: Arc::default() };
            let unordered = LimitedStore::new(engine, |capabilities| capabilities.ordered = false).shuffled(rows);
            for store in [DynTableStore::new(ordered), DynTableStore::new(unordered)] {
                let found = found(&store, &wanted).await;
                prop_assert!(parts.iter().all(|part| found.contains(part)), "{found:?} in {store}");
                prop_assert!(found.iter().all(|row_key| stored.get(row_key) == Some(&true)), "{found:?} in {store}");
            }
            Ok(())
        }
        .block_on()?;
    }
}
