//! Tests that a deletion never deletes only some parts of a wide entity, although rows change after they were read.

use std::fmt;
use std::sync::Arc;

use table_core::query::{Continuation, KeyRange, Page, Query};
use table_core::store::{Capabilities, Committed, StoredRow, TablePage};
use table_core::{Engine, TableEntity, TableStore, TableStoreExt, Transaction, Value};
use uuid::Uuid;

use super::*;

/// A store that changes one row after the last page of a query was read.
#[derive(Debug)]
struct Changing {
    engine: Engine,
    capabilities: Capabilities,
    row_key: &'static str,
}

impl fmt::Display for Changing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a store whose rows change")
    }
}

impl TableStore for Changing {
    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
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
        let query = Query { top: Some(60), ..query.clone() };
        let page = self.engine.query(table, &query, from).await?;
        if page.continuation.is_none() {
            let rows = self.engine.untyped(table.as_str())?;
            rows.insert_or_merge(&TableEntity::new("p", self.row_key)?.with("Age", 99)).await?;
        }
        Ok(page)
    }

    async fn submit(&self, table: &TableName, transaction: Transaction) -> table_core::Result<Committed> {
        self.engine.submit(table, transaction).await
    }
}

/// Deletes 98 plain rows, a wide entity of four parts, and rows between these parts, while one row changes. Returns the result and the `RowKey` of each remaining row.
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
    let (store, name) = (DynTableStore::new(Arc::new(store)), TableName::new("Things").unwrap());
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
            assert_eq!(done, Deleted { deleted: 254 - kept, kept }, "{changed}, ordered: {is_ordered}");
        }
    }
}
