//! Tests of missing databases, the throughput and indexing of new containers, and request sizes.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use table_core::query::{KeyRange, Query, Select};
use table_core::row::{Row, RowWriter};
use table_core::{
    EntityKey, ErrorCode, Operation, OperationKind, PartitionKey, RowKey, TableName, TableStore, Transaction,
    ValueRef,
};
use table_cosmos::emulator::{Delivery, Emulator, Network, Request};
use table_cosmos::{CosmosTables, Difference, Options, Throughput};

use crate::runtime;

/// The service's maximum request size, in bytes.
const MOST: usize = 2 << 20;

pub(crate) fn row(text: &str) -> Row {
    let mut row = RowWriter::new();
    row.property("Text", ValueRef::String(text));
    row.finish()
}

pub(crate) fn transaction(
    store: &impl TableStore,
    operations: impl IntoIterator<Item = (String, OperationKind)>,
) -> Transaction {
    let mut transaction =
        Transaction::new(PartitionKey::new("p").unwrap(), store.capabilities().limits).unwrap();
    for (row_key, kind) in operations {
        transaction.push(Operation { row_key: RowKey::new(row_key).unwrap(), kind }).unwrap();
    }
    transaction
}

/// A mock network that records the autoscale settings in requests.
struct Scaling {
    account: Emulator,
    settings: Mutex<Vec<String>>,
}

impl Scaling {
    fn new(account: &Emulator) -> Arc<Self> {
        Arc::new(Self { account: account.clone(), settings: Mutex::default() })
    }
}

impl fmt::Debug for Scaling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Scaling")
    }
}

impl Network for Scaling {
    fn deliver(&self, request: Request) -> Delivery {
        let account = self.account.clone();
        if let Some(settings) = request.header("x-ms-cosmos-offer-autopilot-settings") {
            self.settings.lock().unwrap_or_else(PoisonError::into_inner).push(settings.to_owned());
        }
        Box::pin(async move { account.receive(&request).await })
    }
}

#[test]
fn opt_6_a_missing_database_is_named_by_every_verb() {
    runtime().block_on(async {
        let account = Emulator::new(false).unwrap();
        let client = account.client(Vec::new()).await.unwrap();
        let store = CosmosTables::with_client(&client, "elsewhere", Options::new());
        let (table, key) = (TableName::new("Things").unwrap(), EntityKey::new("p", "a").unwrap());
        let insert = transaction(&store, [("a".to_owned(), OperationKind::Insert(row("x")))]);
        let query = Query::new(KeyRange::ALL);
        let errors = [
            ("get", store.get(&table, &key, &Select::All).await.unwrap_err()),
            ("query", store.query(&table, &query, None).await.unwrap_err()),
            ("submit", store.submit(&table, insert).await.unwrap_err()),
            ("create", store.create_table(&table).await.unwrap_err()),
            ("delete", store.delete_table(&table).await.unwrap_err()),
            ("list", store.list_tables("", None, 10).await.unwrap_err()),
            ("explain", store.explain(&table, &query).await.unwrap_err()),
            ("partitions", store.partitions(&table).await.unwrap_err()),
            ("differences", store.differences(&table).await.unwrap_err()),
        ];
        for (verb, error) in errors {
            // A missing database is reported neither as a missing table, which a program might create, nor as a missing entity.
            assert_eq!(error.code(), ErrorCode::InvalidInput, "{verb}: {error}");
            assert!(error.to_string().contains("the database `elsewhere` does not exist"), "{verb}: {error}");
        }
    });
}

#[test]
fn a_new_container_indexes_no_operation_ids_and_has_the_set_throughput() {
    runtime().block_on(async {
        let account = Emulator::new(false).unwrap();
        let table = TableName::new("Things").unwrap();
        let network = Scaling::new(&account);
        // The emulator ignores the autoscale settings, so the test checks the request instead.
        let store = account.open_over(Options::new().autoscale(4_000), network.clone()).await.unwrap();
        store.create_table(&table).await.unwrap();
        let sent = network.settings.lock().unwrap_or_else(PoisonError::into_inner).clone();
        assert_eq!(sent, [r#"{"maxThroughput":4000}"#]);
        store.delete_table(&table).await.unwrap();

        let store = account.open(Options::new().throughput(800)).await.unwrap();
        store.create_table(&table).await.unwrap();
        let described = account.described(&table).await.unwrap();
        let json: serde_json::Value = serde_json::from_str(&described).unwrap();
        let excluded = json["indexingPolicy"]["excludedPaths"].as_array().unwrap();
        assert!(excluded.iter().any(|path| path["path"] == "/o/?"), "{described}");
        assert_eq!(store.differences(&table).await.unwrap(), []);
        let other = account.open(Options::new().autoscale(400)).await.unwrap();
        let expected =
            Difference::Throughput { asked: Throughput::Autoscale(400), found: Throughput::Manual(800) };
        assert_eq!(other.differences(&table).await.unwrap(), [expected]);
    });
}

/// Strings whose UTF-16 code units occupy one, two, three and six bytes in JSON.
const TEXTS: [&str; 4] = ["x", "é", "東", "\u{1}"];

#[test]
fn egt_3_a_batch_that_a_transaction_accepts_fits_a_request_and_fills_it() {
    runtime().block_on(async {
        let account = Emulator::new(false).unwrap();
        let table = TableName::new("Things").unwrap();
        account.create(&table, 1, 1, None).unwrap();
        let store = account.open(Options::new()).await.unwrap();
        for (number, text) in TEXTS.into_iter().enumerate() {
            let row = row(&text.repeat(24_000 / text.len().min(3)));
            let mut full = transaction(&store, []);
            let refused = (0..100).find_map(|at| {
                let row_key = RowKey::new(format!("{number}-{at:03}")).unwrap();
                full.push(Operation { row_key, kind: OperationKind::InsertOrReplace(row.clone()) }).err()
            });
            if let Some(error) = refused {
                assert_eq!(error.code(), ErrorCode::RequestBodyTooLarge, "{text:?}: {error}");
            }
            let measured = full.bytes();
            let _ = account.sent();
            store.submit(&table, full).await.unwrap_or_else(|error| panic!("{text:?}: {error}"));
            let sent = account.sent().iter().map(|sent| sent.bytes).max().unwrap();
            assert!(sent <= MOST && measured >= sent, "{text:?}: {sent} bytes, {measured} measured");
            assert!(measured - sent < sent / 50, "{text:?}: {sent} bytes, {measured} measured");
        }
    });
}

/// Tests that a batch that is too large for one request is rejected before it is sent. In a batch, the id of a replaced item occurs twice, so the estimated
/// size is too small if `RowKey`s are long. For this reason, the actual request is measured as well.
#[test]
fn egt_3_a_batch_that_does_not_fit_a_request_is_refused_before_it_is_sent() {
    runtime().block_on(async {
        let account = Emulator::new(false).unwrap();
        let table = TableName::new("Things").unwrap();
        account.create(&table, 1, 1, None).unwrap();
        let store = account.open(Options::new()).await.unwrap();
        let key = |at: usize| format!("{at:03}{}", "k".repeat(500));
        let small = (0..100).map(|at| (key(at), OperationKind::Insert(row("x"))));
        store.submit(&table, transaction(&store, small)).await.unwrap();
        // A transaction of a hundred rows, with the largest accepted row size.
        let full = (15_000..21_000).rev().step_by(10).find_map(|length| {
            let limits = store.capabilities().limits;
            let mut full = Transaction::new(PartitionKey::new("p").unwrap(), limits).unwrap();
            let row = row(&"x".repeat(length));
            let pushed = (0..100).try_for_each(|at| {
                let kind = OperationKind::InsertOrReplace(row.clone());
                full.push(Operation { row_key: RowKey::new(key(at)).unwrap(), kind })
            });
            pushed.is_ok().then_some(full)
        });
        let _ = account.sent();
        let error = store.submit(&table, full.unwrap()).await.unwrap_err();
        assert_eq!((error.code(), error.rule()), (ErrorCode::RequestBodyTooLarge, Some("EGT-3")), "{error}");
        assert!(!error.is_ambiguous() && error.to_string().contains("commit it in parts"), "{error}");
        assert!(account.sent().iter().all(|sent| sent.is_query), "only the reads are sent");
    });
}
