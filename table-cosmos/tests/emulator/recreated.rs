//! Tests of containers and databases that are deleted or replaced while a store is using them.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use table_core::query::{KeyRange, Query, Select, TextRange};
use table_core::{EntityKey, Error, ErrorCode, IfMatch, OperationKind, TableName, TableStore};
use table_cosmos::emulator::{Answer, DATABASE, Delivery, Emulator, Network, Request};
use table_cosmos::{CosmosTables, Options};
use tokio::time::timeout;

use crate::operation::{row, transaction};
use crate::runtime;

/// The status and sub-status codes by which the service and its gateway report a replaced container. The emulator sends only the first.
pub(crate) const REPORTS: [(u16, u16); 2] = [(400, 1024), (410, 1000)];

/// A mock network that makes the emulator's responses to item requests match the service's. It adds the sub-status for a missing container or database, and
/// substitutes the report of a replaced container.
struct Owners {
    account: Emulator,
    report: (u16, u16),
}

impl Network for Owners {
    fn deliver(&self, request: Request) -> Delivery {
        let (account, report) = (self.account.clone(), self.report);
        Box::pin(async move {
            let mut answer = account.receive(&request).await?;
            let text = String::from_utf8_lossy(&answer.body);
            let is_owner = text.contains("Container '") || text.contains("Database '");
            if request.target.contains("/docs") && answer.status == 404 && is_owner {
                set_sub_status(&mut answer, 1003);
            }
            let is_report = |(name, value): &(String, String)| name == "x-ms-substatus" && value == "1024";
            if answer.status == 400 && answer.headers.iter().any(is_report) {
                answer.status = report.0;
                set_sub_status(&mut answer, report.1);
            }
            Ok(answer)
        })
    }
}

fn set_sub_status(answer: &mut Answer, sub: u16) {
    answer.headers.retain(|(name, _)| name != "x-ms-substatus");
    answer.headers.push(("x-ms-substatus".to_owned(), sub.to_string()));
}

impl fmt::Debug for Owners {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Owners")
    }
}

pub(crate) async fn opened() -> (Emulator, CosmosTables, TableName) {
    opened_with(Options::new(), REPORTS[0]).await
}

/// Opens a store over a network that reports a replaced container with the given status. Creates a table with one row and four physical partitions.
async fn opened_with(options: Options, report: (u16, u16)) -> (Emulator, CosmosTables, TableName) {
    let account = Emulator::new(false).unwrap();
    let table = TableName::new("Things").unwrap();
    account.create(&table, 1, 4, Some(4_000)).unwrap();
    let network = Arc::new(Owners { account: account.clone(), report });
    let store = account.open_over(options, network).await.unwrap();
    let insert = [("there".to_owned(), OperationKind::Insert(row("first")))];
    store.submit(&table, transaction(&store, insert)).await.unwrap();
    (account, store, table)
}

pub(crate) async fn delete(account: &Emulator, target: &str) {
    let answer = account.exchange("DELETE", target, [], Vec::new()).await.unwrap();
    assert!(answer.status < 300, "{answer:?}");
}

/// The number of operations supported by [`verb`].
pub(crate) const VERBS: usize = 12;

/// Runs the operation with the given number. Returns its name and outcome.
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
        8 => {
            let newer = ("newer", OperationKind::Insert(second()));
            write("batch", &[("new", OperationKind::InsertOrReplace(second())), newer]).await
        }
        9 => {
            let map = store.partitions(table).await;
            ("partitions", map.map(|map| format!("{} partitions", map.partitions().len())))
        }
        10 => {
            let plan = store.explain(table, &Query::new(KeyRange::ALL)).await;
            ("explain", plan.map(|plan| format!("{} of {}", plan.route.partitions(), plan.route.total)))
        }
        _ => ("differences", store.differences(table).await.map(|found| format!("{found:?}"))),
    }
}

/// Tests that a container replaced by one with different paths is rejected. The first call may report only the replacement; each later call reports the
/// different paths.
#[test]
fn hpk_43_a_container_that_was_replaced_by_one_with_other_paths_is_refused() {
    for (first, report) in (0..VERBS).flat_map(|first| REPORTS.map(|report| (first, report))) {
        runtime().block_on(async {
            let (account, store, table) = opened_with(Options::new(), report).await;
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
                assert!(is_told || after == 0, "{name} after {after} calls, {report:?}: {error}");
            }
        });
    }
}

/// Tests that operations on a store that had opened the old container have the same outcomes as on a store opened after the replacement.
#[test]
fn opt_6_a_container_that_was_created_again_is_used_like_one_that_was_never_open() {
    for (first, report) in (0..VERBS).flat_map(|first| REPORTS.map(|report| (first, report))) {
        runtime().block_on(async {
            let mut outcomes = Vec::new();
            for is_new in [false, true] {
                let options = Options::new().throughput(4_000);
                let (account, store, table) = opened_with(options.clone(), report).await;
                // The store has already read the partitions and the throughput of the old container.
                for number in 9..VERBS {
                    verb(&store, &table, number).await.1.unwrap();
                }
                delete(&account, &format!("/dbs/{DATABASE}/colls/{table}")).await;
                account.create(&table, 1, 1, Some(400)).unwrap();
                let item = r#"{"id": "there", "l1": "p", "p": {}}"#;
                account.put(&table, r#"["p"]"#, item).await.unwrap();
                let store = if is_new { account.open(options).await.unwrap() } else { store };
                let mut found = Vec::new();
                for number in (first..VERBS).chain(0..first) {
                    let (name, outcome) = verb(&store, &table, number).await;
                    found.push((name, outcome.map_err(|error| error.code())));
                }
                outcomes.push(found);
            }
            assert_eq!(outcomes[0], outcomes[1], "from operation {first}, {report:?}");
        });
    }
}

#[test]
fn opt_6_a_container_that_another_program_deletes_is_missing_for_every_verb() {
    for first in 0..VERBS {
        runtime().block_on(async {
            let (account, store, table) = opened().await;
            for number in 9..VERBS {
                verb(&store, &table, number).await.1.unwrap();
            }
            delete(&account, &format!("/dbs/{DATABASE}/colls/{table}")).await;
            for number in (first..VERBS).chain(0..first) {
                let (name, outcome) = verb(&store, &table, number).await;
                let error = outcome.expect_err(name);
                assert_eq!(error.code(), ErrorCode::TableNotFound, "{name}: {error}");
                assert_eq!(error.table(), Some("Things"), "{name}: {error}");
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
    // The new table contains rows after the query's continuation, only rows before it, or no rows.
    let cases =
        all.iter().flat_map(|keys| [&["1", "2", "3", "there"][..], &["0"], &[]].map(|new| (keys, new)));
    for ((keys, new), report) in cases.flat_map(|case| REPORTS.map(|report| (case, report))) {
        for is_same_store in [true, false] {
            runtime().block_on(async {
                let (account, store, table) = opened_with(Options::new(), report).await;
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
                // A program may store a continuation as text and parse it later.
                let from = from.to_string().parse().unwrap();

                delete(&account, &format!("/dbs/{DATABASE}/colls/{table}")).await;
                account.create(&table, 1, 4, None).unwrap();
                let other = account.open(Options::new()).await.unwrap();
                if !new.is_empty() {
                    fill(&other, new, "second").await;
                }
                let reader = if is_same_store { &store } else { &other };
                let case = format!("{keys:?}, {new:?}, {report:?}, same store: {is_same_store}");
                // If the query were retried as during a split, it would take minutes.
                let later = timeout(Duration::from_secs(60), reader.query(&table, &query, Some(&from))).await;
                let error = later.expect(&case).map(|page| page.rows.len()).expect_err(&case);
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
