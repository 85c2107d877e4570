use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Wake, Waker};
use std::thread;

use pollster::block_on;
use table_store::key::EntityKey;
use table_store::limits::Limits;
use table_store::name::TableName;
use table_store::operation::{Operation, OperationKind};
use table_store::query::Select;
use table_store::row::RowWriter;
use table_store::store::TableStore;
use table_store::transaction::Transaction;
use table_store::{ErrorCode, PartitionKey, Result, RowKey};

use super::super::caught;
use crate::Engine;
use crate::options::EngineOptions;

fn employees() -> TableName {
    TableName::new("Employee").unwrap()
}

fn engine() -> Engine {
    let engine = EngineOptions::new().in_memory();
    block_on(engine.create_table(&employees())).unwrap();
    engine
}

fn insert(row: &str) -> Transaction {
    let mut transaction = Transaction::new(PartitionKey::new("Sales").unwrap(), Limits::UNLIMITED).unwrap();
    let kind = OperationKind::Insert(RowWriter::new().finish());
    transaction.push(Operation { row_key: RowKey::new(row).unwrap(), kind }).unwrap();
    transaction
}

fn is_there(engine: &Engine, row: &str) -> Result<bool> {
    let key = EntityKey::new("Sales", row)?;
    block_on(engine.get(&employees(), &key, &Select::All)).map(|found| found.is_some())
}

#[test]
fn a_write_withdraws_the_state_until_a_read() {
    let engine = engine();
    let is_published = || engine.inner.shared.published().unwrap().is_some();
    assert!(!is_published());
    for row in ["1", "2"] {
        block_on(engine.submit(&employees(), insert(row))).unwrap();
        assert!(!is_published());
        assert!(is_there(&engine, row).unwrap());
        assert!(is_published());
    }
    let refused = block_on(engine.submit(&employees(), insert("1"))).unwrap_err();
    assert_eq!(refused.code(), ErrorCode::EntityAlreadyExists);
    assert!(is_published(), "a refused write changes nothing");
}

#[test]
fn a_snapshot_does_not_see_later_writes() {
    let engine = engine();
    block_on(engine.submit(&employees(), insert("1"))).unwrap();
    let before = engine.inner.state_to_keep().unwrap();
    block_on(engine.submit(&employees(), insert("2"))).unwrap();
    assert_eq!((before.memtable.len(), engine.inner.state().unwrap().memtable.len()), (1, 2));
}

#[test]
fn threads_read_their_own_writes() {
    let engine = engine();
    thread::scope(|scope| {
        for thread in 0..4 {
            let engine = engine.clone();
            scope.spawn(move || {
                for number in 0..500 {
                    let row = format!("{thread}-{number}");
                    block_on(engine.submit(&employees(), insert(&row))).unwrap();
                    assert!(is_there(&engine, &row).unwrap(), "{row}");
                }
            });
        }
    });
    assert_eq!(engine.inner.state().unwrap().memtable.len(), 2_000);
}

#[test]
fn a_read_sees_every_write_that_was_acknowledged_to_another_thread_before() {
    const WRITES: usize = 2_000;
    let engine = engine();
    let acknowledged: [AtomicUsize; 2] = Default::default();
    thread::scope(|scope| {
        for (writer, count) in acknowledged.iter().enumerate() {
            let engine = engine.clone();
            scope.spawn(move || {
                for number in 0..WRITES {
                    block_on(engine.submit(&employees(), insert(&format!("{writer}-{number}")))).unwrap();
                    count.store(number + 1, Ordering::Release);
                }
            });
        }
        for _ in 0..2 {
            let (engine, acknowledged) = (engine.clone(), &acknowledged);
            scope.spawn(move || {
                while acknowledged.iter().any(|count| count.load(Ordering::Acquire) < WRITES) {
                    for (writer, count) in acknowledged.iter().enumerate() {
                        if let Some(last) = count.load(Ordering::Acquire).checked_sub(1) {
                            assert!(
                                is_there(&engine, &format!("{writer}-{last}")).unwrap(),
                                "{writer}-{last}"
                            );
                        }
                    }
                }
            });
        }
    });
}

#[test]
fn an_incomplete_change_is_never_read() {
    let engine = engine();
    block_on(engine.submit(&employees(), insert("1"))).unwrap();
    assert!(is_there(&engine, "1").unwrap());
    let direct = engine.inner.direct.clone().unwrap();
    direct.with(|committer| {
        let panicked = caught(|| {
            committer.change(|_| panic!("a change panics"));
            Ok(())
        });
        committer.shared.poison(&panicked.unwrap_err());
    });
    assert_eq!(is_there(&engine, "1").unwrap_err().code(), ErrorCode::EnginePoisoned);
}

/// A waker that reads a row when it is called.
struct Reads {
    engine: Engine,
    found: Mutex<Option<Result<bool>>>,
}

impl Wake for Reads {
    fn wake(self: Arc<Self>) {
        *self.found.lock().unwrap() = Some(is_there(&self.engine, "1"));
    }
}

#[test]
fn a_waker_may_read() {
    let engine = engine();
    let reads = Arc::new(Reads { engine: engine.clone(), found: Mutex::default() });
    let waker = Waker::from(Arc::clone(&reads));
    let table = employees();
    let mut written = pin!(engine.submit(&table, insert("1")));
    let direct = engine.inner.direct.clone().unwrap();
    direct.with(|_| assert!(written.as_mut().poll(&mut Context::from_waker(&waker)).is_pending()));
    // The thread responds to requests in the order in which they were sent.
    block_on(engine.checkpoint()).unwrap();
    block_on(written).unwrap();
    assert_eq!(reads.found.lock().unwrap().take().map(Result::unwrap), Some(true));
}
