//! Tests that if this library and another program change the same items, neither loses the other's changes.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use serde_json::Value as Json;
use table_core::query::Select;
use table_core::row::{Row, RowWriter};
use table_core::{
    ETag, Entity, EntityKey, ErrorCode, IfMatch, Operation, OperationKind, PartitionKey, RowKey, TableName,
    TableStore, TableStoreExt, Transaction, ValueRef,
};
use table_cosmos::emulator::{Answer, Delivery, Emulator, Network, Request};
use table_cosmos::{CosmosTables, Format, Mapping, Options};
use tokio::time::sleep;

use crate::lossy::{LATEST, Lossy};
use crate::runtime;

#[derive(Clone, Debug, Entity, PartialEq)]
#[entity(table = "Jobs")]
#[partition_key(owner)]
#[row_key(name)]
struct Job {
    owner: String,
    name: String,
    done: i64,
}

fn options() -> Options {
    let mapping = Mapping::new(["/owner"]).property("Done", "/progress/done", Format::Int64);
    Options::new().mapping_of::<Job>(mapping).unwrap()
}

fn headers(more: Option<&str>) -> Vec<(String, String)> {
    let key = ("x-ms-documentdb-partitionkey".to_owned(), r#"["p"]"#.to_owned());
    let condition = more.map(|etag| ("if-match".to_owned(), etag.to_owned()));
    [key].into_iter().chain(condition).collect()
}

const TARGET: &str = "/dbs/tables/colls/Jobs/docs/job";

async fn document(account: &Emulator) -> Json {
    let answer = account.exchange("GET", TARGET, headers(None), Vec::new()).await.unwrap();
    serde_json::from_slice(&answer.body).unwrap()
}

/// Increments the counter as the other program would: with a read, followed by a replace conditional on the `ETag`.
async fn see(account: &Emulator) -> bool {
    let mut item = document(account).await;
    sleep(Duration::from_millis(3)).await;
    let etag = item["_etag"].as_str().unwrap().to_owned();
    item["progress"]["seen"] = (item["progress"]["seen"].as_i64().unwrap() + 1).into();
    let body = item.to_string().into_bytes();
    account.exchange("PUT", TARGET, headers(Some(&etag)), body).await.unwrap().status < 300
}

fn created(account: &Emulator) -> TableName {
    let table = TableName::new("Jobs").unwrap();
    account.create_with_paths(&table, &["/owner"], 1, None).unwrap();
    table
}

async fn history(seed: u64) {
    let mut random = StdRng::seed_from_u64(seed);
    let account = Emulator::new(false).unwrap();
    let table = created(&account);
    let item = r#"{"id": "job", "owner": "p", "progress": {"done": 0, "seen": 0}, "notes": ["keep"]}"#;
    account.put(&table, r#"["p"]"#, item).await.unwrap();
    let mut tasks = Vec::new();
    for client in 0..3_u32 {
        let own = random.random();
        let store = account.open_over(options(), Lossy::new(account.clone(), own, false)).await.unwrap();
        let mut random = StdRng::seed_from_u64(own);
        tasks.push(tokio::spawn(async move {
            let jobs = store.table::<Job>();
            let (mut done, mut possible) = (0_i64, 0_i64);
            for number in 0..4 {
                sleep(Duration::from_millis(random.random_range(0..40))).await;
                let bit = 1 << (client * 4 + number);
                match jobs.update(Job::key("p", "job"), |job| job.done += bit).await {
                    Ok(_) => done |= bit,
                    Err(error) if error.is_ambiguous() => possible |= bit,
                    Err(_) => {}
                }
            }
            (done, possible)
        }));
    }
    let other = account.clone();
    let others = tokio::spawn(async move {
        let mut increments = 0;
        for _ in 0..20 {
            sleep(Duration::from_millis(random.random_range(0..20))).await;
            increments += i64::from(see(&other).await);
        }
        increments
    });
    let (mut done, mut possible) = (0, 0);
    for task in tasks {
        let outcome = task.await.unwrap();
        (done, possible) = (done | outcome.0, possible | outcome.1);
    }
    let others = others.await.unwrap();
    sleep(LATEST * 2).await;
    let item = document(&account).await;
    assert_eq!(
        item["progress"]["seen"], others,
        "seed {seed}: a change of the other program was lost: {item}"
    );
    let stored = item["progress"]["done"].as_i64().unwrap();
    assert!(
        stored & done == done && stored & !(done | possible) == 0,
        "seed {seed}: {item}, {done:b}, {possible:b}"
    );
    assert_eq!(item["notes"][0], "keep", "seed {seed}");
    assert!(others > 0);
}

#[test]
fn con_11_and_wire_6_no_change_of_either_program_is_lost_over_a_lossy_network() {
    for seed in 0..crate::histories::histories() / 3 {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
        runtime.block_on(history(seed));
    }
}

/// A mock network that records its first response to a read of the item and returns it for every later read, like a lagging replica.
struct Behind {
    account: Emulator,
    first: Arc<Mutex<Option<Answer>>>,
    armed: AtomicBool,
}

impl Network for Behind {
    fn deliver(&self, request: Request) -> Delivery {
        let (account, first) = (self.account.clone(), self.first.clone());
        let is_read = request.method == "GET" && request.target.contains("/docs/job");
        if is_read && self.armed.load(Ordering::SeqCst) {
            let answer = first.lock().unwrap_or_else(PoisonError::into_inner).clone();
            return Box::pin(async move { Ok(answer.unwrap()) });
        }
        Box::pin(async move {
            let answer = account.receive(&request).await?;
            if is_read {
                first.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(answer.clone());
            }
            Ok(answer)
        })
    }
}

impl fmt::Debug for Behind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Behind")
    }
}

fn row(name: &str, value: i64) -> Row {
    let mut row = RowWriter::new();
    row.property(name, ValueRef::Int64(value));
    row.finish()
}

async fn submit(store: &CosmosTables, table: &TableName, kind: OperationKind) -> table_core::Result<ETag> {
    let limits = store.capabilities().limits;
    let mut transaction = Transaction::new(PartitionKey::new("p").unwrap(), limits).unwrap();
    transaction.push(Operation { row_key: RowKey::new("job").unwrap(), kind }).unwrap();
    Ok(store.submit(table, transaction).await?.remove(0).unwrap())
}

/// Tests that a merge keeps every property, even if it reads a stale version of the entity from a lagging replica.
#[test]
fn con_2_a_stale_read_of_a_merge_loses_no_property() {
    runtime().block_on(async {
        for is_mapped in [false, true] {
            let account = Emulator::new(false).unwrap();
            let (table, options) = if is_mapped {
                (created(&account), options())
            } else {
                let table = TableName::new("Jobs").unwrap();
                account.create(&table, 1, 1, None).unwrap();
                (table, Options::new())
            };
            let network =
                Arc::new(Behind { account: account.clone(), first: Arc::default(), armed: false.into() });
            let store = account.open_over(options.clone(), network.clone()).await.unwrap();
            let other = account.open(options).await.unwrap();
            submit(&other, &table, OperationKind::Insert(row("Done", 1))).await.unwrap();
            let key = EntityKey::new("p", "job").unwrap();
            store.get(&table, &key, &Select::All).await.unwrap();
            let newer =
                submit(&other, &table, OperationKind::Merge(row("Added", 2), IfMatch::Any)).await.unwrap();
            network.armed.store(true, Ordering::SeqCst);
            let mut changes = vec![OperationKind::Merge(row("Done", 3), IfMatch::ETag(newer.clone()))];
            if is_mapped {
                changes.push(OperationKind::Replace(row("Added", 2), IfMatch::ETag(newer)));
            }
            for change in changes {
                let error = submit(&store, &table, change).await.unwrap_err();
                assert_eq!(error.code(), ErrorCode::UpdateConditionNotSatisfied, "{error}");
                let found = other.get(&table, &key, &Select::All).await.unwrap().unwrap();
                for (name, value) in [("Done", 1), ("Added", 2)] {
                    let is = found.row.view().find(name, &mut 0).unwrap();
                    assert_eq!(is, Some(ValueRef::Int64(value)), "{name}, mapped {is_mapped}");
                }
            }
        }
    });
}

/// Tests a limitation of inserts, which have no condition: if a network redelivers the request after the entity was deleted, the entity is inserted again.
/// This cannot happen over HTTP/1.1, which delivers a request only once.
#[test]
fn con_11_an_insert_that_is_delivered_again_after_a_deletion_inserts_again() {
    runtime().block_on(async {
        let account = Emulator::new(false).unwrap();
        let table = TableName::new("Jobs").unwrap();
        account.create(&table, 1, 1, None).unwrap();
        let recorded = Arc::new(Recording { account: account.clone(), writes: Mutex::default() });
        let store = account.open_over(Options::new(), recorded.clone()).await.unwrap();
        let key = EntityKey::new("p", "job").unwrap();
        submit(&store, &table, OperationKind::Insert(row("Done", 1))).await.unwrap();
        let insert = recorded.writes.lock().unwrap_or_else(PoisonError::into_inner).remove(0);
        for change in [
            OperationKind::Replace(row("Done", 2), IfMatch::Any),
            OperationKind::Merge(row("More", 2), IfMatch::Any),
        ] {
            submit(&store, &table, change).await.unwrap();
            assert_eq!(
                account.receive(&insert).await.unwrap().status,
                409,
                "while the entity exists, nothing happens"
            );
        }
        let limits = store.capabilities().limits;
        let mut delete = Transaction::new(PartitionKey::new("p").unwrap(), limits).unwrap();
        let kind = OperationKind::Delete(IfMatch::Any);
        delete.push(Operation { row_key: RowKey::new("job").unwrap(), kind }).unwrap();
        store.submit(&table, delete).await.unwrap();
        let changes = recorded.writes.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for change in &changes {
            assert!(
                account.receive(change).await.unwrap().status >= 400,
                "a condition is used up: {change:?}"
            );
        }
        assert_eq!(store.get(&table, &key, &Select::All).await.unwrap(), None);
        assert_eq!(account.receive(&insert).await.unwrap().status, 201, "an insert has no condition");
    });
}

/// A mock network that records write requests.
#[derive(Debug)]
struct Recording {
    account: Emulator,
    writes: Mutex<Vec<Request>>,
}

impl Network for Recording {
    fn deliver(&self, request: Request) -> Delivery {
        if request.is_write() {
            self.writes.lock().unwrap_or_else(PoisonError::into_inner).push(request.clone());
        }
        let account = self.account.clone();
        Box::pin(async move { account.receive(&request).await })
    }
}
