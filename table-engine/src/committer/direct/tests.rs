use std::mem::ManuallyDrop;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use pollster::block_on;
use table_store::ErrorCode;
use table_store::clock::Clock;
use table_store::key::EntityKey;
use table_store::limits::Limits;
use table_store::name::TableName;
use table_store::operation::{Operation, OperationKind};
use table_store::query::Select;
use table_store::row::RowWriter;
use table_store::store::TableStore;
use table_store::transaction::Transaction;
use table_store::{PartitionKey, RowKey};

use crate::Engine;
use crate::options::EngineOptions;
use crate::tests::callbacks::PanicsAtPass;

fn employees() -> TableName {
    TableName::new("Employee").unwrap()
}

fn engine() -> Engine {
    started(EngineOptions::new())
}

fn started(options: EngineOptions) -> Engine {
    let engine = options.in_memory();
    block_on(engine.create_table(&employees())).unwrap();
    engine
}

fn insert(row: &str) -> Transaction {
    let mut transaction = Transaction::new(PartitionKey::new("Sales").unwrap(), Limits::UNLIMITED).unwrap();
    let kind = OperationKind::Insert(RowWriter::new().finish());
    transaction.push(Operation { row_key: RowKey::new(row).unwrap(), kind }).unwrap();
    transaction
}

#[test]
fn in_memory_writes_complete_at_their_first_poll() {
    let engine = engine();
    let direct = engine.inner.direct.clone().unwrap();
    let table = employees();
    let is_done_at_once = |number: &usize| {
        // The committer's thread releases the lock after it has responded. On a busy machine, this may be much later.
        drop(direct.lock());
        let mut written = pin!(engine.submit(&table, insert(&number.to_string())));
        match written.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(outcome) => outcome.map(|_| true).unwrap(),
            // The committer's thread may hold the lock while it checks for work.
            Poll::Pending => block_on(written).map(|_| false).unwrap(),
        }
    };
    let at_once = (0..100).filter(is_done_at_once).count();
    assert!(at_once > 50, "{at_once} of 100");
}

#[test]
fn a_write_while_the_committer_is_busy_is_done_by_its_thread() {
    let engine = engine();
    let direct = engine.inner.direct.clone().unwrap();
    let table = employees();
    let held = direct.lock();
    let mut written = pin!(engine.submit(&table, insert("1")));
    assert!(written.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    drop(held);
    block_on(written).unwrap();
}

#[test]
fn a_closed_engine_writes_nothing() {
    let engine = engine();
    let left = engine.clone();
    block_on(engine.close()).unwrap();
    let refused = block_on(left.submit(&employees(), insert("1"))).unwrap_err();
    assert_eq!(refused.code(), ErrorCode::EngineClosed);
}

fn is_there(engine: &Engine, row: &str) -> bool {
    let key = EntityKey::new("Sales", row).unwrap();
    block_on(engine.get(&employees(), &key, &Select::All)).unwrap().is_some()
}

#[test]
fn a_panic_in_a_callers_write_stops_writes_but_not_reads() {
    let panics = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&panics);
    let now = move || {
        assert!(!seen.load(Ordering::Relaxed), "the clock panics");
        1
    };
    let engine = started(EngineOptions::new().clock(Clock::new(now)));
    block_on(engine.submit(&employees(), insert("1"))).unwrap();
    panics.store(true, Ordering::Relaxed);
    let refused = |row| block_on(engine.submit(&employees(), insert(row))).unwrap_err().code();
    assert_eq!(refused("2"), ErrorCode::EnginePoisoned);
    panics.store(false, Ordering::Relaxed);
    assert_eq!(refused("2"), ErrorCode::EnginePoisoned);
    assert_eq!((is_there(&engine, "1"), is_there(&engine, "2")), (true, false));
    let left = engine.clone();
    assert_eq!(block_on(engine.close()).unwrap_err().code(), ErrorCode::EnginePoisoned);
    assert_eq!(block_on(left.submit(&employees(), insert("3"))).unwrap_err().code(), ErrorCode::EngineClosed);
}

#[test]
fn a_thread_panic_between_requests_leaves_no_caller_unanswered() {
    let engine = started(EngineOptions::new().scheduler(Arc::new(PanicsAtPass { at_events: false })));
    block_on(engine.delete_table(&employees())).unwrap();
    // The request either completes before the panic, or is refused after it.
    drop(block_on(engine.create_table(&employees())));
    assert_eq!(block_on(engine.close()).unwrap_err().code(), ErrorCode::EnginePoisoned);
}

struct Panics;

impl Wake for Panics {
    fn wake(self: Arc<Self>) {
        panic!("a waker panics");
    }
}

#[test]
fn a_panicking_waker_or_a_dropped_future_does_not_undo_a_write() {
    let engine = engine();
    let direct = engine.inner.direct.clone().unwrap();
    let table = employees();
    // The test's own handle to the waker is leaked, because dropping it would panic here.
    let waker = ManuallyDrop::new(Waker::from(Arc::new(Panics)));
    let held = direct.lock();
    let mut written = pin!(engine.submit(&table, insert("1")));
    assert!(written.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    let mut dropped = Box::pin(engine.submit(&table, insert("2")));
    assert!(dropped.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    drop(dropped);
    drop(held);
    // This request is queued after both writes, so both have been processed when it is answered.
    block_on(engine.checkpoint()).unwrap();
    block_on(written).unwrap();
    assert_eq!((is_there(&engine, "1"), is_there(&engine, "2")), (true, true));
}
