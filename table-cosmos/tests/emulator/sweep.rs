//! Tests a program with one fault at each of its requests in turn. A fault is an error response sent before or after the request is applied, a broken
//! connection, or a dropped call.

mod once;

use std::sync::Arc;
use std::time::Duration;

use table_core::query::{KeyRange, Query, TextRange};
use table_core::{Error, IfMatch, OperationKind, Result, TableName, TableStore};
use table_cosmos::emulator::{Emulator, Network};
use table_cosmos::{CosmosTables, Options};
use tokio::time::{sleep, timeout};

use crate::operation::{row, transaction};
use once::{FATES, Fate, Once};

const ROWS: usize = 12;

/// Opens a store over a mock network. A request that receives no response times out after a few seconds of virtual time.
async fn opened(account: &Emulator, network: Arc<dyn Network>, table: &TableName) -> CosmosTables {
    let store = account.open_over(Options::new(), network).await.unwrap();
    // This query opens the container before the sweep. Other tests cover the requests that open a container.
    let _ = store.query(table, &Query::new(KeyRange::partition("none")), None).await;
    store
}

async fn account() -> (Emulator, TableName) {
    let account = Emulator::new(false).unwrap();
    let table = TableName::new("Things").unwrap();
    account.create(&table, 1, 4, None).unwrap();
    let owner = account.open(Options::new()).await.unwrap();
    for at in 0..ROWS {
        let insert = [(format!("r{at:02}"), OperationKind::Insert(row("first")))];
        owner.submit(&table, transaction(&owner, insert)).await.unwrap();
    }
    (account, table)
}

fn paused() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap()
}

/// Returns all rows of a range and their values.
async fn rows(store: &CosmosTables, table: &TableName, keys: KeyRange, top: usize) -> Result<Vec<String>> {
    let query = Query { top: Some(top), ..Query::new(keys) };
    let (mut rows, mut from) = (Vec::new(), None);
    loop {
        let page = store.query(table, &query, from.as_ref()).await?;
        for entity in page.rows.iter() {
            let text = match entity.row.find("Text", &mut 0)? {
                Some(table_core::ValueRef::String(text)) => text.to_owned(),
                _ => String::new(),
            };
            rows.push(format!("{} {text}", entity.row_key));
        }
        match page.continuation {
            Some(next) => from = Some(next),
            None => return Ok(rows),
        }
    }
}

#[test]
fn con_11_and_page_5_a_fault_at_any_request_of_a_scan_loses_and_repeats_no_row() {
    paused().block_on(async {
        let (account, table) = account().await;
        let all = || KeyRange { partition_key: TextRange::prefix("p"), row_key: TextRange::ALL };
        for keys in [KeyRange::partition("p"), all()] {
            let calm = Once::new(&account, usize::MAX, FATES[0]);
            let store = opened(&account, calm.clone(), &table).await;
            let before = calm.sent();
            let expected = rows(&store, &table, keys.clone(), 5).await.unwrap();
            assert_eq!(expected.len(), ROWS);
            let (mut complete, mut failed) = (0, 0);
            for (at, fate) in (before..calm.sent()).flat_map(|at| FATES.map(|fate| (at, fate))) {
                let store = opened(&account, Once::new(&account, at, fate), &table).await;
                match rows(&store, &table, keys.clone(), 5).await {
                    Ok(found) => {
                        assert_eq!(found, expected, "{fate:?} at {at}");
                        complete += 1;
                    }
                    Err(_) => failed += 1,
                }
            }
            println!("{keys:?}: {complete} complete, {failed} failed");
            assert!(complete > failed, "most faults are absorbed: {complete} and {failed}");
        }
    });
}

/// Returns batches and single writes of different kinds. The table has the same rows before each of them.
fn batch(store: &CosmosTables) -> Vec<table_core::Transaction> {
    let any = || IfMatch::Any;
    let key = |at: usize| format!("r{at:02}");
    vec![
        transaction(
            store,
            [
                (key(0), OperationKind::Merge(row("second"), any())),
                (key(1), OperationKind::Replace(row("second"), any())),
                (key(2), OperationKind::Delete(any())),
                (key(3), OperationKind::InsertOrMerge(row("second"))),
                ("new".to_owned(), OperationKind::Insert(row("second"))),
                ("newer".to_owned(), OperationKind::InsertOrReplace(row("second"))),
            ],
        ),
        transaction(
            store,
            [(key(0), OperationKind::Delete(any())), (key(1), OperationKind::Merge(row("second"), any()))],
        ),
        transaction(store, [(key(0), OperationKind::Merge(row("second"), any()))]),
        transaction(store, [("new".to_owned(), OperationKind::InsertOrMerge(row("second")))]),
        transaction(store, [(key(0), OperationKind::Delete(any()))]),
    ]
}

/// Checks an outcome, and that no delayed request of the transaction overwrites a later change by another writer.
async fn check(account: &Emulator, table: &TableName, outcome: Result<(), Error>, case: &str) {
    let owner = account.open(Options::new()).await.unwrap();
    let now = rows(&owner, table, KeyRange::partition("p"), 100).await.unwrap();
    let untouched: Vec<String> = (0..ROWS).map(|at| format!("r{at:02} first")).collect();
    match &outcome {
        Ok(()) => assert_ne!(now, untouched, "{case}: acknowledged and not applied"),
        Err(error) if error.is_ambiguous() => {}
        Err(error) => assert_eq!(now, untouched, "{case}: refused and applied: {error}"),
    }
    // Another writer changes every row. It deletes no row, because a delayed insert of a deleted entity is a documented exception.
    for key in (0..ROWS).map(|at| format!("r{at:02}")).chain(["new".to_owned(), "newer".to_owned()]) {
        let write = transaction(&owner, [(key, OperationKind::InsertOrReplace(row("third")))]);
        owner.submit(table, write).await.unwrap();
    }
    sleep(Duration::from_secs(2_000)).await;
    let then = rows(&owner, table, KeyRange::partition("p"), 100).await.unwrap();
    assert!(
        then.iter().all(|row| row.ends_with("third")),
        "{case}: another writer's change was undone: {then:?}"
    );
}

#[test]
fn con_11_and_egt_10_a_fault_at_any_request_of_a_write_applies_it_at_most_once() {
    for number in 0..5 {
        let sent = paused().block_on(async {
            let (account, table) = account().await;
            let calm = Once::new(&account, usize::MAX, FATES[0]);
            let store = opened(&account, calm.clone(), &table).await;
            let before = calm.sent();
            store.submit(&table, batch(&store).swap_remove(number)).await.unwrap();
            before..calm.sent()
        });
        let (mut done, mut refused, mut ambiguous) = (0, 0, 0);
        for (at, fate) in sent.flat_map(|at| FATES.map(|fate| (at, fate))) {
            paused().block_on(async {
                let (account, table) = account().await;
                let store = opened(&account, Once::new(&account, at, fate), &table).await;
                let outcome = store.submit(&table, batch(&store).swap_remove(number)).await.map(drop);
                match &outcome {
                    Ok(()) => done += 1,
                    Err(error) if error.is_ambiguous() => ambiguous += 1,
                    Err(_) => refused += 1,
                }
                check(&account, &table, outcome, &format!("transaction {number}, {fate:?} at {at}")).await;
            });
        }
        println!("transaction {number}: {done} done, {refused} refused, {ambiguous} ambiguous");
        assert!(done > ambiguous, "{done} done, {ambiguous} ambiguous");
    }
}

#[test]
fn con_11_a_dropped_call_sends_nothing_more() {
    for number in 0..5 {
        for (at, is_applied) in (0..4).flat_map(|at| [(at, false), (at, true)]) {
            paused().block_on(async {
                let (account, table) = account().await;
                let idle = Once::new(&account, usize::MAX, FATES[0]);
                let store = opened(&account, idle.clone(), &table).await;
                let network = Once::new(&account, idle.sent() + at, Fate::Silence(is_applied));
                drop(store);
                let store = opened(&account, network.clone(), &table).await;
                let call = store.submit(&table, batch(&store).swap_remove(number));
                let dropped = timeout(Duration::from_millis(100), call).await;
                let sent = network.sent();
                let outcome = match dropped {
                    Ok(outcome) => outcome.map(drop),
                    Err(_) => {
                        Err(Error::new(table_core::ErrorCode::OperationTimedOut, "dropped").into_ambiguous())
                    }
                };
                check(&account, &table, outcome, &format!("transaction {number}, dropped at {at}")).await;
                assert_eq!(
                    network.sent(),
                    sent,
                    "transaction {number}: a request after the call was dropped"
                );
            });
        }
    }
}
