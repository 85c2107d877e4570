//! Tests of the requests sent by a statement, as shown by `EXPLAIN`.

mod common;

use datafusion::arrow::util::pretty::pretty_format_batches;
use datafusion::prelude::SessionContext;
use table_core::{DynTableStore, Engine, TableEntity, TableStoreExt};
use table_sql::{SqlOptions, session};

async fn open() -> SessionContext {
    session(&common::store().await, &SqlOptions::default()).await.unwrap()
}

/// Returns the plan of a statement as text.
async fn plan(session: &SessionContext, statement: &str) -> String {
    let batches = session.sql(statement).await.unwrap().collect().await.unwrap();
    pretty_format_batches(&batches).unwrap().to_string()
}

#[tokio::test]
async fn conditions_on_key_parts_become_a_range_of_keys_in_key_order() {
    let session = open().await;
    let statement = "EXPLAIN SELECT id, Age FROM Company WHERE department = 'Sales' AND id BETWEEN 100 AND 199 ORDER BY id";
    let shown = plan(&session, statement).await;
    let scan = "StoreScan: range query on Company, PartitionKey: 'Sales', RowKey: from 'empid_000100' before 'empid_00019:'";
    assert!(shown.contains(scan), "{shown}");
    assert!(
        shown.contains("$select: PartitionKey, RowKey, Age, ") || shown.contains("$select: Age, "),
        "{shown}"
    );
    assert!(shown.contains("requests: at least 1, one for each page of at most 1000 entities"), "{shown}");
    assert!(!shown.contains("SortExec"), "{shown}");
    let shown =
        plan(&session, "EXPLAIN SELECT Age FROM Company WHERE department = 'Sales' AND id = 100").await;
    assert!(shown.contains("point query on Company") && shown.contains("requests: at most 1"), "{shown}");
    let shown = plan(
        &session,
        "EXPLAIN SELECT RowKey FROM Reviews WHERE department = 'Sales' AND employee = 7 AND year >= 2025",
    )
    .await;
    assert!(shown.contains("RowKey: from 'empid_000007_2025' before 'empid_000007`'"), "{shown}");
}

#[tokio::test]
async fn keys_and_prefixes_become_ranges_and_properties_filters() {
    let session = open().await;
    let shown = plan(
        &session,
        "EXPLAIN SELECT Age FROM Company WHERE PartitionKey = 'Sales' AND RowKey LIKE 'empid_0001%'",
    )
    .await;
    // In a `LIKE` pattern, `_` matches any single character, so this pattern is not rewritten as a prefix scan.
    assert!(shown.contains("partition scan on Company"), "{shown}");
    let shown =
        plan(&session, "EXPLAIN SELECT Age FROM Company WHERE PartitionKey = 'Sales' AND RowKey LIKE 'emp%'")
            .await;
    assert!(shown.contains("RowKey: from 'emp' before 'emq'"), "{shown}");
    let shown = plan(
        &session,
        "EXPLAIN SELECT count(*) FROM Company WHERE Age >= 30 AND Active AND FirstName IN ('Ada', 'Ben')",
    )
    .await;
    for part in ["table scan on Company", "Age ge 30", "Active", "FirstName eq 'Ada' or FirstName eq 'Ben'"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
}

#[tokio::test]
async fn a_value_that_a_part_cannot_have_selects_no_row_and_fails_nothing() {
    let session = open().await;
    for condition in
        ["id = 12345678", "id = -1", "id > 999999", "department = 'Sales' AND id BETWEEN 5 AND 3"]
    {
        let batches = session
            .sql(&format!("SELECT count(*) FROM Company WHERE {condition}"))
            .await
            .unwrap()
            .collect()
            .await
            .unwrap();
        let shown = pretty_format_batches(&batches).unwrap().to_string();
        assert!(shown.contains("| 0 "), "{condition}: {shown}");
    }
}

#[tokio::test]
async fn a_limit_ends_the_requests_and_the_order_of_keys_needs_no_sort() {
    let session = open().await;
    let statement =
        "EXPLAIN ANALYZE SELECT PartitionKey, RowKey FROM Reviews ORDER BY PartitionKey, RowKey LIMIT 5";
    let shown = plan(&session, statement).await;
    assert!(!shown.contains("SortExec") && shown.contains("requests=1"), "{shown}");
    let shown = plan(&session, "EXPLAIN ANALYZE SELECT count(*) FROM Reviews").await;
    assert!(shown.contains("requests=2"), "{shown}");
}

#[tokio::test]
async fn statements_that_write_and_unknown_columns_are_refused() {
    let session = open().await;
    let error = session.sql("SELECT Nowhere FROM Company").await.unwrap_err().to_string();
    assert!(
        error.contains("No field named \"Nowhere\"") || error.contains("No field named Nowhere"),
        "{error}"
    );
    assert!(session.sql("SELECT * FROM Missing").await.is_err());
}

#[tokio::test]
async fn keys_in_another_order_than_that_of_sql_are_refused_where_the_order_is_announced() {
    let store = DynTableStore::new(Engine::in_memory());
    let table = store.untyped("Words").unwrap().create_if_missing().await.unwrap();
    for row in ["\u{e000}", "\u{10000}"] {
        table.insert(&TableEntity::new("p", row).unwrap()).await.unwrap();
    }
    for (key_order, is_refused) in [(true, true), (false, false)] {
        let session = session(&store, &SqlOptions { key_order, ..SqlOptions::default() }).await.unwrap();
        let answer = session
            .sql("SELECT RowKey FROM Words ORDER BY PartitionKey, RowKey")
            .await
            .unwrap()
            .collect()
            .await;
        match answer {
            Ok(batches) => {
                let shown = pretty_format_batches(&batches).unwrap().to_string();
                assert!(!is_refused && shown.find('\u{e000}') < shown.find('\u{10000}'), "{shown}");
            }
            Err(error) => assert!(is_refused && error.to_string().contains("--no-key-order"), "{error}"),
        }
    }
}
