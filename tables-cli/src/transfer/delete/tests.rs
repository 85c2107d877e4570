//! Tests that a deletion never deletes only some parts of a wide entity, even if rows change after they are read.

use std::sync::Arc;

use table_core::query::{KeyRange, Page, Query};
use table_core::store::Capabilities;
use table_core::{Engine, TableEntity, TableStore, TableStoreExt, Value};
use uuid::Uuid;

use super::*;
use crate::hooked::{Hooked, Hooks};

/// A store that changes one row after the last page of a query is read.
#[derive(Debug)]
struct Changing {
    engine: Engine,
    capabilities: Capabilities,
    row_key: &'static str,
}

impl Hooks for Changing {
    fn engine(&self) -> &Engine {
        &self.engine
    }

    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn page_rows(&self) -> Option<usize> {
        Some(60)
    }

    async fn after_query(&self, table: &TableName, page: &Page) -> table_core::Result<()> {
        if page.continuation.is_none() {
            let rows = self.engine.untyped(table.as_str())?;
            rows.insert_or_merge(&TableEntity::new("p", self.row_key)?.with("Age", 99)).await?;
        }
        Ok(())
    }
}

/// Deletes 98 plain rows, a wide entity of four parts, and rows that sort between these parts, while one row changes. Returns the result and the `RowKey` of
/// each remaining row.
async fn deleted(row_key: &'static str, is_ordered: bool) -> (Deleted, Vec<String>) {
    let engine = Engine::in_memory();
    let rows = engine.untyped("Things").unwrap().create_if_missing().await.unwrap();
    let part = |row_key: &str| {
        TableEntity::new("p", row_key).unwrap().with("WriteId", Value::Guid(Uuid::from_u128(7)))
    };
    for at in 0..98 {
        rows.insert(&TableEntity::new("p", format!("a{at:03}")).unwrap()).await.unwrap();
    }
    for row_key in ["w_01", "w_02", "w_03", "w_04", "w_02_01", "w_02_02"] {
        rows.insert(&part(row_key)).await.unwrap();
    }
    for at in 0..150 {
        rows.insert(&TableEntity::new("p", format!("w_02_x{at:03}")).unwrap()).await.unwrap();
    }
    let mut capabilities = engine.capabilities().clone();
    capabilities.ordered = is_ordered;
    let store = Changing { engine: engine.clone(), capabilities, row_key };
    let (store, name) = (DynTableStore::new(Hooked(Arc::new(store))), TableName::new("Things").unwrap());
    let done = delete(&store, &name, Query::new(KeyRange::ALL).into(), false, None).await.unwrap();
    let left: Vec<TableEntity> = rows.scan("test").max_rows(1_000).collect().await.unwrap();
    (done, left.iter().map(|row| row.key().row_key.as_str().to_owned()).collect())
}

#[tokio::test]
async fn a_changed_part_keeps_the_other_parts_of_its_entity() {
    for is_ordered in [true, false] {
        for (changed, left) in [
            ("w_03", &["w_01", "w_02", "w_03", "w_04"][..]),
            ("w_01", &["w_01", "w_02", "w_03", "w_04"]),
            ("w_02_02", &["w_02_01", "w_02_02"]),
            ("a000", &["a000"]),
            ("w_02_x149", &["w_02_x149"]),
        ] {
            let (done, found) = deleted(changed, is_ordered).await;
            assert_eq!(found, left, "{changed}, ordered: {is_ordered}");
            let kept = left.len() as u64;
            assert_eq!(
                done,
                Deleted { deleted: 254 - kept, kept, omitted: 0 },
                "{changed}, ordered: {is_ordered}"
            );
        }
    }
}
