//! Tests which consistency reads request.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use table_core::query::{KeyRange, Query, Select};
use table_core::row::RowWriter;
use table_core::{
    EntityKey, IfMatch, Operation, OperationKind, PartitionKey, RowKey, TableName, TableStore, Transaction,
};
use table_cosmos::emulator::{Delivery, Emulator, Network, Request};
use table_cosmos::{CosmosTables, Options};

use crate::runtime;

/// The header with which the Azure SDK requests a read consistency.
const STRATEGY: &str = "x-ms-cosmos-read-consistency-strategy";

/// A mock network that records item requests.
struct Recorder {
    account: Emulator,
    sent: Mutex<Vec<Request>>,
}

impl Recorder {
    /// Removes the recorded requests and returns them.
    fn take(&self) -> Vec<Request> {
        std::mem::take(&mut *self.sent.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Network for Recorder {
    fn deliver(&self, request: Request) -> Delivery {
        if request.target.contains("/docs") {
            self.sent.lock().unwrap_or_else(PoisonError::into_inner).push(request.clone());
        }
        let account = self.account.clone();
        Box::pin(async move { account.receive(&request).await })
    }
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Recorder")
    }
}

fn transaction(store: &CosmosTables, rows: &[&str], kind: &OperationKind) -> Transaction {
    let limits = store.capabilities().limits;
    let mut transaction = Transaction::new(PartitionKey::new("a").unwrap(), limits).unwrap();
    for row in rows {
        let row_key = RowKey::new(*row).unwrap();
        transaction.push(Operation { row_key, kind: kind.clone() }).unwrap();
    }
    transaction
}

/// Sends every kind of read, including those that precede a write.
async fn read_everything(store: &CosmosTables, table: &TableName) {
    let row = || RowWriter::new().finish();
    let key = EntityKey::new("a", "1").unwrap();
    store.get(table, &key, &Select::All).await.unwrap();
    for keys in [KeyRange::ALL, KeyRange::partition("a"), KeyRange::point("a", "1")] {
        let mut from = None;
        loop {
            let query = Query { top: Some(1), ..Query::new(keys.clone()) };
            let page = store.query(table, &query, from.as_ref()).await.unwrap();
            from = page.continuation;
            if from.is_none() {
                break;
            }
        }
    }
    for rows in [&["1"][..], &["1", "2"]] {
        for kind in [OperationKind::Merge(row(), IfMatch::Any), OperationKind::InsertOrReplace(row())] {
            store.submit(table, transaction(store, rows, &kind)).await.unwrap();
        }
    }
}

#[test]
fn con_2_every_read_requests_the_latest_committed_version_if_the_options_say_so() {
    runtime().block_on(async {
        for (enabled, expected) in [(true, Some("LatestCommitted")), (false, None)] {
            let account = Emulator::new(false).unwrap();
            let recorder = Arc::new(Recorder { account: account.clone(), sent: Mutex::default() });
            let options = Options::new().latest_committed_reads(enabled);
            let store = account.open_over(options, recorder.clone()).await.unwrap();
            let table = TableName::new("Things").unwrap();
            store.create_table(&table).await.unwrap();
            let row = RowWriter::new().finish();
            let insert = transaction(&store, &["1", "2", "3"], &OperationKind::Insert(row));
            store.submit(&table, insert).await.unwrap();
            let _ = recorder.take();
            read_everything(&store, &table).await;
            let (writes, reads): (Vec<_>, Vec<_>) = recorder.take().into_iter().partition(Request::is_write);
            assert!(reads.len() > 10 && writes.len() == 4, "{} reads, {} writes", reads.len(), writes.len());
            for read in &reads {
                assert_eq!(read.header(STRATEGY), expected, "{} {}", read.method, read.target);
            }
            assert!(writes.iter().all(|write| write.header(STRATEGY).is_none()));

            let ada = Query::new(KeyRange::partition("a"));
            let units = store.explain(&table, &ada).await.unwrap().units;
            assert_eq!(units, if enabled { (4.0, 6.0) } else { (2.0, 3.0) }, "a quorum read costs twice");
        }
    });
}
