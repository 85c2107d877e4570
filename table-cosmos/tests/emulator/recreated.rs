//! Tests of containers and databases that are deleted or replaced while a store is using them.

use std::fmt;
use std::sync::Arc;

use table_core::query::{KeyRange, Query, Select, TextRange};
use table_core::{EntityKey, Error, ErrorCode, IfMatch, OperationKind, TableName, TableStore};
use table_cosmos::emulator::{DATABASE, Delivery, Emulator, Network, Request};
use table_cosmos::{CosmosTables, Options};

use crate::operation::{row, transaction};
use crate::runtime;

/// A mock network that adds, to responses for items, the sub-status with which the service reports a missing container or database.
struct Owners(Emulator);

impl Network for Owners {
    fn deliver(&self, request: Request) -> Delivery {
        let account = self.0.clone();
        Box::pin(async move {
            let mut answer = account.receive(&request).await?;
            let text = String::from_utf8_lossy(&answer.body);
            let is_owner = text.contains("Container '") || text.contains("Database '");
            if request.target.contains("/docs") && answer.status == 404 && is_owner {
                answer.headers.retain(|(name, _)| name != "x-ms-substatus");
                answer.headers.push(("x-ms-substatus".to_owned(), "1003".to_owned()));
            }
            Ok(answer)
        })
    }
}

impl fmt::Debug for Owners {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Owners")
    }
}

pub(crate) async fn opened() -> (Emulator, CosmosTables, TableName) {
    let account = Emulator::new(false).unwrap();
    let table = TableName::new("Things").unwrap();
    account.create(&table, 1, 4, None).unwrap();
    let network = Arc::new(Owners(account.clone()));
    let store = account.open_over(Options::new(), network).await.unwrap();
    let insert = [("there".to_owned(), OperationKind::Insert(row("first")))];
    store.submit(&table, transaction(&store, insert)).await.unwrap();
    (account, store, table)
}

pub(crate) async fn delete(account: &Emulator, target: &str) {
    let answer = account.exchange("DELETE", target, [], Vec::new()).await.unwrap();
    assert!(answer.status < 300, "{answer:?}");
}

/// The number of operations that [`verb`] can run.
pub(crate) const VERBS: usize = 9;

/// Runs the operation with the given number. Returns the name and the outcome of the operation.
pub(crate) async fn verb(
    store: &CosmosTables,
    table: &TableName,
    number: usize,
) -> (&'static str, Result<String, Error>) {
    let query = async |name, keys| {
        let found = store.query(table, &Query::new(keys), None).await;
        (name, found.map(|page| format!("{} rows", page.rows.len())))
    };
    let write = async |name, operations: &[(&str, OperationKind)]| {
        let operations = operations.iter().map(|(row_key, kind)| ((*row_key).to_owned(), kind.clone()));
        let done = store.submit(table, transaction(store, operations)).await;
        (name, done.map(|_| "done".to_owned()))
    };
    let second = || row("second");
    let prefix = KeyRange { partition_key: TextRange::prefix("p"), row_key: TextRange::ALL };
    match number {
        0 => {
            let found = store.get(table, &EntityKey::new("p", "there").unwrap(), &Select::All).await;
            ("get", found.map(|found| format!("{}", found.is_some())))
        }
        1 => query("partition", KeyRange::partition("p")).await,
        2 => query("range", prefix).await,
        3 => query("scan", KeyRange::ALL).await,
        4 => write("insert", &[("new", OperationKind::Insert(second()))]).await,
        5 => write("replace", &[("there", OperationKind::Replace(second(), IfMatch::Any))]).await,
        6 => write("merge", &[("there", OperationKind::Merge(second(), IfMatch::Any))]).await,
        7 => write("delete", &[("there", OperationKind::Delete(IfMatch::Any))]).await,
        _ => {
            let newer = ("newer", OperationKind::Insert(second()));
            write("batch", &[("new", OperationKind::InsertOrReplace(second())), newer]).await
        }
    }
}

/// Tests that a container is rejected if it was replaced by one with different paths. The first call may report only the replacement; each later call reports
/// the different paths.
#[test]
fn hpk_43_a_container_that_was_replaced_by_one_with_other_paths_is_refused() {
    for first in 0..VERBS {
        runtime().block_on(async {
            let (account, store, table) = opened().await;
            delete(&account, &format!("/dbs/{DATABASE}/colls/{table}")).await;
            account.create_with_paths(&table, &["/x"], 2, None).unwrap();
            account
                .put(&table, r#"["p"]"#, r#"{"id": "there", "x": "p", "l1": "q", "p": {}}"#)
                .await
                .unwrap();
            account
                .put(&table, r#"["q"]"#, r#"{"id": "there", "x": "q", "l1": "p", "p": {}}"#)
                .await
                .unwrap();
            for (after, number) in (first..VERBS).chain(0..first).enumerate() {
                let (name, outcome) = verb(&store, &table, number).await;
                let error = outcome.unwrap_err();
                let is_told = error.code() == ErrorCode::SchemaMismatch;
                assert!(is_told || after == 0, "{name} after {after} calls: {error}");
            }
        });
    }
}

#[test]
fn opt_6_a_database_that_is_deleted_while_a_store_is_open_is_reported_by_every_verb() {
    for first in 0..VERBS {
        runtime().block_on(async {
            let (account, store, table) = opened().await;
            delete(&account, &format!("/dbs/{DATABASE}")).await;
            for number in (first..VERBS).chain(0..first) {
                let (name, outcome) = verb(&store, &table, number).await;
                let error = outcome.unwrap_err();
                assert_eq!(error.code(), ErrorCode::InvalidInput, "{name}: {error}");
                assert!(error.to_string().contains(DATABASE), "{name}: {error}");
            }
        });
    }
}

/// Tests that a query does not continue in a new container with the same name, regardless of which store reads the next page.
#[test]
fn page_9_a_query_ends_with_an_error_if_the_table_was_created_again_between_two_pages() {
    let prefix = KeyRange { partition_key: TextRange::prefix("p"), row_key: TextRange::ALL };
    let all = [KeyRange::partition("p"), prefix, KeyRange::ALL];
    // The new table contains rows after the position of the query, only rows before it, or none.
    let cases =
        all.iter().flat_map(|keys| [&["1", "2", "3", "there"][..], &["0"], &[]].map(|new| (keys, new)));
    for (keys, new) in cases {
        for is_same_store in [true, false] {
            runtime().block_on(async {
                let (account, store, table) = opened().await;
                let fill = async |store: &CosmosTables, keys: &[&str], text: &str| {
                    let rows =
                        keys.iter().map(|key| ((*key).to_owned(), OperationKind::InsertOrReplace(row(text))));
                    store.submit(&table, transaction(store, rows)).await.unwrap();
                };
                fill(&store, &["1", "2", "3"], "first").await;
                let mut query = Query::new(keys.clone());
                query.top = Some(1);
                let page = store.query(&table, &query, None).await.unwrap();
                let from = page.continuation.unwrap();
                let second = store.query(&table, &query, Some(&from)).await.unwrap();
                assert_eq!(second.rows.len(), 1);
                // A continuation that was stored as text is parsed again.
                let from = from.to_string().parse().unwrap();

                delete(&account, &format!("/dbs/{DATABASE}/colls/{table}")).await;
                account.create(&table, 1, 4, None).unwrap();
                let other = account.open(Options::new()).await.unwrap();
                if !new.is_empty() {
                    fill(&other, new, "second").await;
                }
                let reader = if is_same_store { &store } else { &other };
                let case = format!("{keys:?}, {new:?}, same store: {is_same_store}");
                let later = reader.query(&table, &query, Some(&from)).await;
                let error = later.map(|page| page.rows.len()).expect_err(&case);
                assert_eq!(
                    (error.code(), error.rule()),
                    (ErrorCode::InvalidInput, Some("PAGE-9")),
                    "{case}: {error}"
                );
                // A query from the beginning reads all rows of the new table. Some pages may be empty.
                let (mut from, mut rows) = (None, 0);
                loop {
                    let page = reader.query(&table, &query, from.as_ref()).await.unwrap();
                    rows += page.rows.len();
                    from = page.continuation;
                    if from.is_none() {
                        break;
                    }
                }
                assert_eq!(rows, new.len(), "{case}");
            });
        }
    }
}
