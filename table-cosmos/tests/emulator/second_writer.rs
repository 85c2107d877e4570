//! Tests of writes whose response is lost. Before the client determines the outcome, a concurrent writer sees the effect and changes the entity again (CON-11).
//!
//! The network applies the first write request, lets the other writer act, and then breaks the connection. Whatever the client does afterwards, the other
//! writer's acknowledged change must remain.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use table_core::query::{KeyRange, Query, Select};
use table_core::row::{Row, RowWriter};
use table_core::{
    EntityKey, IfMatch, Operation, OperationKind, PartitionKey, RowKey, TableName, TableStore, Transaction,
    ValueRef,
};
use table_cosmos::emulator::{Broken, Delivery, Emulator, Network, Request};
use table_cosmos::{CosmosTables, Options};

use crate::runtime;

/// A mock network that lets another writer act before it breaks the connection of the first write request.
struct Overtaken {
    account: Emulator,
    other: CosmosTables,
    table: TableName,
    armed: AtomicBool,
    /// `true` if the first write request is applied before the other writer acts; `false` if it is lost.
    applies: bool,
}

impl Network for Overtaken {
    fn deliver(&self, request: Request) -> Delivery {
        let account = self.account.clone();
        if !request.is_write() || !self.armed.swap(false, Ordering::SeqCst) {
            return Box::pin(async move { account.receive(&request).await });
        }
        let (other, table, applies) = (self.other.clone(), self.table.clone(), self.applies);
        Box::pin(async move {
            if applies {
                let _ = account.receive(&request).await;
            }
            overwrite(&other, &table).await;
            Err(Broken::AfterSending)
        })
    }
}

impl fmt::Debug for Overtaken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Overtaken")
    }
}

/// Acts as the other writer: deletes the row `inserted`, and sets every other row to 3.
async fn overwrite(other: &CosmosTables, table: &TableName) {
    for row in ROWS {
        let kind = match row {
            "inserted" if value(other, table, row).await.is_none() => continue,
            "inserted" => OperationKind::Delete(IfMatch::Any),
            _ => OperationKind::InsertOrReplace(number(3)),
        };
        other.submit(table, transaction(other, [(row, kind)])).await.unwrap();
    }
}

const ROWS: [&str; 3] = ["a", "b", "inserted"];

fn number(value: i32) -> Row {
    let mut row = RowWriter::new();
    row.property("V", ValueRef::Int32(value));
    row.finish()
}

fn transaction<const N: usize>(store: &CosmosTables, operations: [(&str, OperationKind); N]) -> Transaction {
    let limits = store.capabilities().limits;
    let mut transaction = Transaction::new(PartitionKey::new("p").unwrap(), limits).unwrap();
    for (row, kind) in operations {
        transaction.push(Operation { row_key: RowKey::new(row).unwrap(), kind }).unwrap();
    }
    transaction
}

async fn value(store: &CosmosTables, table: &TableName, row: &str) -> Option<i32> {
    let found = store.get(table, &EntityKey::new("p", row).unwrap(), &Select::All).await.unwrap()?;
    match found.row.view().find("V", &mut 0).unwrap() {
        Some(ValueRef::Int32(value)) => Some(value),
        other => panic!("{other:?}"),
    }
}

/// Returns transactions with every kind of operation, both alone and in batches.
fn transactions(store: &CosmosTables) -> Vec<(&'static str, Transaction)> {
    let row = || number(2);
    let all = [
        ("merge", transaction(store, [("a", OperationKind::Merge(row(), IfMatch::Any))])),
        ("insert or merge", transaction(store, [("a", OperationKind::InsertOrMerge(row()))])),
        ("insert or replace", transaction(store, [("a", OperationKind::InsertOrReplace(row()))])),
        ("replace", transaction(store, [("a", OperationKind::Replace(row(), IfMatch::Any))])),
        ("delete", transaction(store, [("a", OperationKind::Delete(IfMatch::Any))])),
        ("insert", transaction(store, [("inserted", OperationKind::Insert(row()))])),
        ("insert or replace, new", transaction(store, [("inserted", OperationKind::InsertOrReplace(row()))])),
        (
            "batch",
            transaction(
                store,
                [("a", OperationKind::InsertOrReplace(row())), ("b", OperationKind::Delete(IfMatch::Any))],
            ),
        ),
        (
            "batch with an insert",
            transaction(
                store,
                [
                    ("inserted", OperationKind::Insert(row())),
                    ("b", OperationKind::Merge(row(), IfMatch::Any)),
                ],
            ),
        ),
    ];
    all.into()
}

async fn world(exact: bool, applies: bool) -> (Arc<Overtaken>, CosmosTables) {
    let account = Emulator::new(false).unwrap();
    let table = TableName::new("Things").unwrap();
    account.create(&table, 1, 4, None).unwrap();
    let other = account.open(Options::new()).await.unwrap();
    for row in ["a", "b"] {
        let insert = transaction(&other, [(row, OperationKind::Insert(number(1)))]);
        other.submit(&table, insert).await.unwrap();
    }
    let network = Arc::new(Overtaken {
        account: account.clone(),
        other,
        table,
        armed: AtomicBool::new(false),
        applies,
    });
    let store = account.open_over(Options::new().at_most_once_writes(exact), network.clone()).await.unwrap();
    store.query(&network.table, &Query::new(KeyRange::partition("none")), None).await.unwrap();
    (network, store)
}

#[test]
fn con_11_a_lost_write_is_not_applied_again_over_another_writers_change() {
    runtime().block_on(async {
        for exact in [true, false] {
            for number in 0..9 {
                let (network, store) = world(exact, true).await;
                let (verb, transaction) = transactions(&store).swap_remove(number);
                network.armed.store(true, Ordering::SeqCst);
                let answer = store.submit(&network.table, transaction).await;
                assert!(!network.armed.load(Ordering::SeqCst), "{verb}: a write was sent");
                // The write was applied, so the error must not be a rejection.
                if let Err(error) = answer {
                    assert!(error.is_ambiguous(), "{verb}, exact {exact}: {error}");
                }
                let now = [
                    value(&network.other, &network.table, "a").await,
                    value(&network.other, &network.table, "b").await,
                    value(&network.other, &network.table, "inserted").await,
                ];
                assert_eq!(now, [Some(3), Some(3), None], "{verb}, exact {exact}");
            }
        }
    });
}

/// Tests a write request that is lost before it arrives, followed by another writer's change. The write may be rejected, fail with an ambiguous error, or be
/// applied exactly once after that change.
#[test]
fn con_11_a_write_that_did_not_arrive_is_applied_at_most_once() {
    runtime().block_on(async {
        for number in 0..9 {
            let (network, store) = world(true, false).await;
            let (verb, transaction) = transactions(&store).swap_remove(number);
            network.armed.store(true, Ordering::SeqCst);
            let answer = store.submit(&network.table, transaction).await;
            let (a, b) = (
                value(&network.other, &network.table, "a").await,
                value(&network.other, &network.table, "b").await,
            );
            match answer {
                Ok(_) => assert_ne!((a, b), (Some(3), Some(3)), "{verb}: acknowledged without an effect"),
                Err(error) => {
                    assert_eq!((a, b), (Some(3), Some(3)), "{verb}: {error}");
                    assert!(error.is_ambiguous(), "{verb}: {error}");
                }
            }
        }
    });
}

/// A mock network that applies the first write request, lets another program replace the item while keeping its other members, and then loses the
/// response.
#[derive(Debug)]
struct Kept {
    account: Emulator,
    armed: AtomicBool,
}

impl Network for Kept {
    fn deliver(&self, request: Request) -> Delivery {
        let account = self.account.clone();
        if !request.is_write() || !self.armed.swap(false, Ordering::SeqCst) {
            return Box::pin(async move { account.receive(&request).await });
        }
        Box::pin(async move {
            let _ = account.receive(&request).await;
            let table = TableName::new("Things").unwrap();
            let key = ("x-ms-documentdb-partitionkey".to_owned(), r#"["p"]"#.to_owned());
            let (colls, _) = request.target.rsplit_once("/docs").unwrap();
            let read = account.exchange("GET", &format!("{colls}/docs/a"), [key], Vec::new()).await.unwrap();
            let text = String::from_utf8(read.body).unwrap();
            let changed = text.replace("\"V\":2", "\"V\":9");
            assert_ne!(changed, text, "the write was applied");
            account.put(&table, r#"["p"]"#, &changed).await.unwrap();
            Err(Broken::AfterSending)
        })
    }
}

/// Tests that a version written by another program is not mistaken for this library's write. The other program reads an item, changes a property and replaces
/// the item, which keeps the last write's identifier.
#[test]
fn con_11_a_version_of_another_program_is_not_taken_for_the_own_one() {
    runtime().block_on(async {
        for verb in ["merge", "insert or merge", "insert or replace", "replace"] {
            let (network, _) = world(true, false).await;
            let kept = Arc::new(Kept { account: network.account.clone(), armed: AtomicBool::new(false) });
            let store = network.account.open_over(Options::new(), kept.clone()).await.unwrap();
            store.query(&network.table, &Query::new(KeyRange::partition("none")), None).await.unwrap();
            let (_, transaction) = transactions(&store).into_iter().find(|(name, _)| *name == verb).unwrap();
            kept.armed.store(true, Ordering::SeqCst);
            let answer = store.submit(&network.table, transaction).await;
            assert!(answer.as_ref().is_err_and(table_core::Error::is_ambiguous), "{verb}: {answer:?}");
            assert_eq!(value(&network.other, &network.table, "a").await, Some(9), "{verb}");
        }
    });
}

/// Tests that a broken connection does not cause an error if no other writer is active, because conditional writes are sent again.
#[test]
fn con_11_a_write_that_did_not_arrive_is_sent_again() {
    runtime().block_on(async {
        for verb in ["merge", "insert or merge", "insert or replace", "replace", "delete", "batch"] {
            let (network, _) = world(true, false).await;
            let lossy =
                Arc::new(Dropping { account: network.account.clone(), armed: AtomicBool::new(false) });
            let store = network.account.open_over(Options::new(), lossy.clone()).await.unwrap();
            store.query(&network.table, &Query::new(KeyRange::partition("none")), None).await.unwrap();
            let (_, transaction) = transactions(&store).into_iter().find(|(name, _)| *name == verb).unwrap();
            lossy.armed.store(true, Ordering::SeqCst);
            store.submit(&network.table, transaction).await.unwrap_or_else(|error| panic!("{verb}: {error}"));
            let expected = if verb == "delete" { None } else { Some(2) };
            assert_eq!(value(&network.other, &network.table, "a").await, expected, "{verb}");
        }
    });
}

/// A mock network that loses the first write request.
#[derive(Debug)]
struct Dropping {
    account: Emulator,
    armed: AtomicBool,
}

impl Network for Dropping {
    fn deliver(&self, request: Request) -> Delivery {
        let account = self.account.clone();
        if request.is_write() && self.armed.swap(false, Ordering::SeqCst) {
            return Box::pin(async { Err(Broken::AfterSending) });
        }
        Box::pin(async move { account.receive(&request).await })
    }
}
