//! Tests that the result of a statement tells the number of rows that the store omitted.

use std::fmt;

use table_core::query::{Rows, Select};
use table_core::store::{Capabilities, Committed, StoredRow, TablePage};
use table_core::{
    Continuation, DynTableStore, Engine, EntityKey, Page, Query, Result, TableEntity, TableName, TableStore,
    TableStoreExt, Transaction,
};
use table_sql::{SqlOptions, collect, session};

/// A store that cannot represent rows whose RowKey begins with `strange`.
#[derive(Debug)]
struct Omitting(Engine);

impl fmt::Display for Omitting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl TableStore for Omitting {
    fn capabilities(&self) -> &Capabilities {
        self.0.capabilities()
    }

    async fn create_table(&self, table: &TableName) -> Result<()> {
        self.0.create_table(table).await
    }

    async fn delete_table(&self, table: &TableName) -> Result<()> {
        self.0.delete_table(table).await
    }

    async fn list_tables(&self, prefix: &str, from: Option<&str>, top: usize) -> Result<TablePage> {
        self.0.list_tables(prefix, from, top).await
    }

    async fn get(&self, table: &TableName, key: &EntityKey, select: &Select) -> Result<Option<StoredRow>> {
        self.0.get(table, key, select).await
    }

    async fn query(&self, table: &TableName, query: &Query, from: Option<&Continuation>) -> Result<Page> {
        let page = self.0.query(table, query, from).await?;
        let (mut rows, mut skipped) = (Rows::default(), 0);
        for row in page.rows.iter() {
            if row.row_key.starts_with("strange") {
                skipped += 1;
            } else {
                rows.push(row.partition_key, row.row_key, row.row, Some(row.etag()));
            }
        }
        Ok(Page { rows, skipped, ..page })
    }

    async fn submit(&self, table: &TableName, transaction: Transaction) -> Result<Committed> {
        self.0.submit(table, transaction).await
    }
}

#[tokio::test]
async fn a_result_tells_the_number_of_rows_that_its_scans_omitted() {
    let engine = Engine::in_memory();
    for (table, keys) in [("One", &["a", "b", "strange1", "strange2"][..]), ("Two", &["a", "strange3"])] {
        let table = engine.untyped(table).unwrap().create_if_missing().await.unwrap();
        for key in keys {
            table.insert(&TableEntity::new("p", *key).unwrap().with("Age", 1)).await.unwrap();
        }
    }
    let session = session(&DynTableStore::new(Omitting(engine)), &SqlOptions::default()).await.unwrap();
    for (statement, rows, omitted) in [
        ("SELECT RowKey FROM One", 2, 2),
        ("SELECT count(*), sum(Age) FROM One", 1, 2),
        ("SELECT RowKey FROM One WHERE RowKey < 'strange2'", 2, 1),
        ("SELECT RowKey FROM One WHERE RowKey = 'a'", 1, 0),
        ("SELECT One.RowKey FROM One JOIN Two ON One.RowKey = Two.RowKey", 1, 3),
        ("SELECT RowKey FROM One UNION ALL SELECT RowKey FROM Two", 3, 3),
        ("SELECT RowKey FROM One WHERE RowKey = (SELECT max(RowKey) FROM Two)", 1, 3),
        ("SELECT RowKey, (SELECT count(*) FROM Two) FROM One", 2, 3),
        ("SELECT RowKey FROM One WHERE RowKey IN (SELECT RowKey FROM Two)", 1, 3),
        ("SELECT RowKey FROM One ORDER BY RowKey LIMIT 1", 1, 0),
        ("EXPLAIN SELECT RowKey FROM One", 2, 0),
        ("EXPLAIN ANALYZE SELECT RowKey FROM One", 1, 2),
    ] {
        let answer = collect(session.sql(statement).await.unwrap()).await.unwrap();
        let found: usize = answer.batches.iter().map(|batch| batch.num_rows()).sum();
        assert_eq!((found, answer.omitted), (rows, omitted), "{statement}");
    }
}
