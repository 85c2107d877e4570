use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use table_core::query::{KeyRange, Page};
use table_core::testing::LimitedStore;
use table_core::{DynTableStore, Engine, EntityKey, IfMatch, Query, TableEntity, TableName, TableStoreExt};

use super::first_not_contained;
use crate::hooked::{Hooked, Hooks};

fn name() -> TableName {
    TableName::new("Company").unwrap()
}

/// Writes 60 rows to five partitions.
async fn fill(store: &DynTableStore) {
    let table = store.untyped("Company").unwrap().create_if_missing().await.unwrap();
    for number in 0..60_i32 {
        let (partition, row) = (format!("p{}", number % 5), format!("r{number:02}é"));
        let entity = TableEntity::new(partition.as_str(), row.as_str()).unwrap().with("Number", number);
        table.insert(&entity).await.unwrap();
    }
}

/// Returns all four combinations of an ordered or unordered source and an ordered or unordered target. All stores contain the same rows.
async fn pairs() -> Vec<(DynTableStore, DynTableStore)> {
    let mut pairs = Vec::new();
    for kinds in [(true, true), (true, false), (false, true), (false, false)] {
        let store = |is_ordered| {
            if is_ordered {
                DynTableStore::new(Engine::in_memory())
            } else {
                let engine = Engine::in_memory();
                let shuffled = LimitedStore::new(engine, |capabilities| capabilities.ordered = false);
                DynTableStore::new(shuffled.shuffled(7))
            }
        };
        let pair = (store(kinds.0), store(kinds.1));
        fill(&pair.0).await;
        fill(&pair.1).await;
        pairs.push(pair);
    }
    pairs
}

async fn found(one: &DynTableStore, other: &DynTableStore) -> Option<EntityKey> {
    let (name, query) = (name(), Query::new(KeyRange::ALL));
    first_not_contained((one, &name), &query.into(), (other, &name)).await.unwrap()
}

#[tokio::test]
async fn a_row_that_is_missing_or_different_is_found_in_stores_of_any_order() {
    for (one, other) in pairs().await {
        assert_eq!(found(&one, &other).await, None, "{one} in {other}");

        // Rows that only the other store contains are not reported.
        let table = other.untyped("Company").unwrap();
        let extra = TableEntity::new("p3", "r999").unwrap();
        table.insert(&extra).await.unwrap();
        assert_eq!(found(&one, &other).await, None, "{one} in {other}");
        assert_eq!(found(&other, &one).await.as_ref(), Some(extra.key()), "{other} in {one}");
        table.delete(extra.key(), IfMatch::Any).await.unwrap();

        let changed = TableEntity::new("p2", "r32é").unwrap().with("Number", 33);
        table.insert_or_replace(&changed).await.unwrap();
        assert_eq!(found(&one, &other).await.as_ref(), Some(changed.key()), "{one} in {other}");
        table.delete(changed.key(), IfMatch::Any).await.unwrap();
        assert_eq!(found(&one, &other).await.as_ref(), Some(changed.key()), "{one} in {other}");
    }
}

/// A store that counts the rows it reads.
#[derive(Debug)]
struct Counting {
    engine: Engine,
    rows: AtomicUsize,
}

impl Hooks for Counting {
    fn engine(&self) -> &Engine {
        &self.engine
    }

    fn page_rows(&self) -> Option<usize> {
        Some(10)
    }

    async fn before_get(&self, _: &TableName) -> table_core::Result<()> {
        self.rows.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }

    async fn after_query(&self, _: &TableName, page: &Page) -> table_core::Result<()> {
        self.rows.fetch_add(page.rows.len(), Ordering::SeqCst);
        Ok(())
    }
}

#[tokio::test]
async fn a_large_partition_without_key_order_is_not_read_again_for_each_page() {
    for count in [100, 1_000] {
        let source = Engine::in_memory();
        let unordered = LimitedStore::new(source.clone(), |capabilities| capabilities.ordered = false);
        let source_store = DynTableStore::new(unordered.shuffled(10));
        let counting = Arc::new(Counting { engine: Engine::in_memory(), rows: AtomicUsize::new(0) });
        for engine in [&source, &counting.engine] {
            let store = DynTableStore::new(engine.clone());
            let table = store.untyped("Company").unwrap().create_if_missing().await.unwrap();
            for number in 0..count {
                table.insert(&TableEntity::new("p", format!("{number:04}")).unwrap()).await.unwrap();
            }
        }
        let target = DynTableStore::new(Hooked(counting.clone()));
        assert_eq!(found(&source_store, &target).await, None);
        let rows = counting.rows.load(Ordering::SeqCst);
        // For each row, at most four rows are read in pages, one of the last page, and one by key.
        assert!(rows <= count * 6, "{rows} rows were read for {count}");
    }
}
