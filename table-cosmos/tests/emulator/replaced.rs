//! Tests that a store rechecks a container that was replaced by a new one with the same name, whichever request notices the replacement.

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use table_core::query::{KeyRange, Query, Select};
use table_core::{EntityKey, Error, ErrorCode, OperationKind, TableName, TableStore};
use table_cosmos::emulator::{DATABASE, Delivery, Emulator, Network, Request};
use table_cosmos::{CosmosTables, Options};

use crate::operation::{row, transaction};
use crate::recreated::{VERBS, delete, opened, verb};
use crate::runtime;

/// Replaces a table's container with one that has different paths, and stores an item in it as another program would.
async fn replace(account: &Emulator, table: &TableName) {
    delete(account, &format!("/dbs/{DATABASE}/colls/{table}")).await;
    account.create_with_paths(table, &["/x"], 2, None).unwrap();
    account.put(table, r#"["p"]"#, r#"{"id": "there", "x": "p", "l1": "q", "p": {}}"#).await.unwrap();
}

/// Checks that every operation is rejected because of the different paths.
async fn refuses_all(store: &CosmosTables, table: &TableName, case: &str) {
    for number in 0..VERBS {
        let (name, outcome) = verb(store, table, number).await;
        let code = outcome.as_ref().map_err(Error::code);
        assert_eq!(code, Err(ErrorCode::SchemaMismatch), "{case}, {name}: {outcome:?}");
    }
}

fn there() -> EntityKey {
    EntityKey::new("p", "there").unwrap()
}

#[test]
fn hpk_43_the_differences_of_a_container_with_other_paths_are_an_error() {
    runtime().block_on(async {
        let (account, store, table) = opened().await;
        replace(&account, &table).await;
        for _ in 0..2 {
            let error = store.differences(&table).await.unwrap_err();
            assert_eq!((error.code(), error.rule()), (ErrorCode::SchemaMismatch, Some("HPK-43")), "{error}");
        }
    });
}

/// Tests a replacement that another request detected first. The Azure SDK then sends all requests to the new container, and none of them reports the
/// replacement.
#[test]
fn hpk_43_a_replacement_that_another_request_noticed_is_refused() {
    runtime().block_on(async {
        for notice in ["differences", "partitions", "another spelling", "another store"] {
            let (account, mut store, table) = opened().await;
            let client = account.client(Vec::new()).await.unwrap();
            let other = CosmosTables::with_client(&client, DATABASE, Options::new());
            if notice == "another store" {
                store = CosmosTables::with_client(&client, DATABASE, Options::new());
                for opened in [&store, &other] {
                    assert!(opened.get(&table, &there(), &Select::All).await.unwrap().is_some());
                }
            }
            replace(&account, &table).await;
            match notice {
                "differences" => drop(store.differences(&table).await),
                "partitions" => drop(store.partitions(&table).await),
                "another spelling" => {
                    drop(store.get(&TableName::new("things").unwrap(), &there(), &Select::All).await);
                }
                _ => drop(other.get(&table, &there(), &Select::All).await),
            }
            refuses_all(&store, &table, notice).await;
        }
    });
}

/// A mock network that holds back the first item request after the report of a replacement.
#[derive(Debug)]
struct Held {
    account: Emulator,
    is_replaced: AtomicBool,
    count: AtomicUsize,
}

#[derive(Debug)]
struct Holding(Arc<Held>);

impl Network for Holding {
    fn deliver(&self, request: Request) -> Delivery {
        let held = Arc::clone(&self.0);
        Box::pin(async move {
            let is_of_item = request.target.contains("/docs");
            if is_of_item
                && held.is_replaced.load(Ordering::SeqCst)
                && held.count.fetch_add(1, Ordering::SeqCst) == 0
            {
                pending::<()>().await;
            }
            let answer = held.account.receive(&request).await?;
            let report = |(name, value): &(String, String)| name == "x-ms-substatus" && value == "1024";
            if is_of_item && answer.headers.iter().any(report) {
                held.is_replaced.store(true, Ordering::SeqCst);
            }
            Ok(answer)
        })
    }
}

#[test]
fn hpk_43_a_replacement_is_refused_if_the_request_that_noticed_it_is_cancelled_or_not_yet_complete() {
    runtime().block_on(async {
        for is_cancelled in [true, false] {
            let account = Emulator::new(false).unwrap();
            let table = TableName::new("Things").unwrap();
            account.create(&table, 1, 4, None).unwrap();
            let held = Arc::new(Held {
                account: account.clone(),
                is_replaced: AtomicBool::new(false),
                count: AtomicUsize::new(0),
            });
            let network = Arc::new(Holding(Arc::clone(&held)));
            let store = account.open_over(Options::new(), network).await.unwrap();
            let insert = [("there".to_owned(), OperationKind::Insert(row("first")))];
            store.submit(&table, transaction(&store, insert)).await.unwrap();
            replace(&account, &table).await;

            let (reader, named) = (store.clone(), table.clone());
            let first = tokio::spawn(async move { reader.get(&named, &there(), &Select::All).await });
            while held.count.load(Ordering::SeqCst) == 0 {
                assert!(!first.is_finished(), "the replacement was not reported");
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            if is_cancelled {
                first.abort();
                assert!(first.await.unwrap_err().is_cancelled());
                refuses_all(&store, &table, "cancelled").await;
            } else {
                refuses_all(&store, &table, "not complete").await;
                first.abort();
            }
        }
    });
}

/// Tests that if a store adopts the levels of a table's container, entity keys never have the old container's levels.
#[test]
fn hpk_43_a_container_that_was_replaced_by_one_with_more_levels_is_read_by_its_new_levels() {
    for first in 0..VERBS {
        runtime().block_on(async {
            let account = Emulator::new(false).unwrap();
            let table = TableName::new("Things").unwrap();
            account.create(&table, 1, 4, None).unwrap();
            let store = account.open(Options::new().adopt_levels(true)).await.unwrap();
            let insert = [("there".to_owned(), OperationKind::Insert(row("first")))];
            store.submit(&table, transaction(&store, insert)).await.unwrap();
            delete(&account, &format!("/dbs/{DATABASE}/colls/{table}")).await;
            account.create(&table, 2, 1, None).unwrap();
            let item = r#"{"id": "there", "l1": "p", "l2": "q", "p": {"A": 1}}"#;
            account.put(&table, r#"["p", "q"]"#, item).await.unwrap();

            let keys = async || {
                let page = store.query(&table, &Query::new(KeyRange::ALL), None).await?;
                let keys = page.rows.iter().map(|entity| entity.partition_key.to_owned());
                Ok::<_, Error>(keys.collect::<Vec<_>>())
            };
            if first == 3 {
                // The first call may report the replacement.
                if let Ok(found) = keys().await {
                    assert_eq!(found, ["p!q!"]);
                }
            } else {
                drop(verb(&store, &table, first).await);
            }
            let mut found = Vec::new();
            for _ in 0..2 {
                found.push(keys().await.unwrap());
            }
            assert_eq!(found, [["p!q!"], ["p!q!"]], "after operation {first}");
        });
    }
}
