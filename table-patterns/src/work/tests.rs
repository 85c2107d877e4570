//! Tests workers and sweeps with invalid rows and messages. These must be reported, and must not affect other work.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use pollster::block_on;
use serde::{Deserialize, Serialize};
use table_core::embedded::{Clock, Engine, EngineOptions};
use table_core::key::{PartitionKey, RowKey};
use table_core::name::TableName;
use table_core::operation::{Operation, OperationKind};
use table_core::queue::{PutMessage, QueueName, QueueStore};
use table_core::store::TableStore;
use table_core::transaction::Transaction;
use table_core::{Error, ErrorCode, Result, TableEntity, TableStoreExt};

use crate::feed::{FEEDS, Feed, FeedChange};
use crate::outbox::{Intent, Message, Outbox, REGISTRY, Step};
use crate::tests::faults::{Call, Fault, FaultyStore};
use crate::work::{self, Handler, Runtime, Sweep, Worker, WorkerOptions};

mod circuits;
mod clocks;
mod handler_errors;
mod kept;
mod keys;
mod large;
mod large_rows;
mod leases;
mod left;
mod long_outages;
mod lost_claims;
mod many_keys;
mod many_rows;
mod order;
mod polls;
mod requeue;
mod running;
mod small;
mod space;
mod sweeps;
mod unreadable;
mod versions;

/// Creates an outbox on an in-memory engine. Returns both, and the time of the clock that they share, in ticks. The test can change this time.
fn outbox() -> (Outbox<Engine, Engine>, Engine, Arc<AtomicU64>) {
    let time = Arc::new(AtomicU64::new(639_307_584_000_000_000));
    let clock = || {
        let now = Arc::clone(&time);
        Clock::new(move || now.load(Ordering::SeqCst))
    };
    let engine = EngineOptions::new().clock(clock()).in_memory();
    let pace = Runtime::new().clock(clock()).sleep_by(|_| Box::pin(async {}));
    let queue = QueueName::new("work").unwrap();
    let outbox = Outbox::with_runtime(engine.clone(), engine.clone(), queue, pace);
    block_on(outbox.create_queues()).unwrap();
    (outbox, engine, time)
}

fn record(outbox: &Outbox<Engine, Engine>, table: &TableName, partition: &str) {
    let partition = PartitionKey::new(partition).unwrap();
    let mut transaction = Transaction::new(partition, outbox.store().capabilities().limits).unwrap();
    let intent = Intent::of(RowKey::new("1").unwrap()).step(Step::call(&Mail("hello".into())).unwrap());
    outbox.record(&mut transaction, &intent).unwrap();
    block_on(outbox.submit(table, transaction)).unwrap();
}

#[test]
fn pat_ec_8_an_invalid_registry_row_stops_no_sweep_of_other_partitions() {
    let (outbox, engine, time) = outbox();
    let table = TableName::new("Company").unwrap();
    block_on(engine.create_table(&table)).unwrap();
    record(&outbox, &table, "Sales");
    block_on(engine.clear(outbox.queue())).unwrap();
    time.fetch_add(6 * 600_000_000, Ordering::SeqCst);
    let registry = engine.untyped(REGISTRY).unwrap();
    for (bucket, partition) in [("aaa_00", "x"), ("zzz_00", "y")] {
        let row = TableEntity::new(bucket, partition).unwrap().with("A", 1);
        block_on(registry.insert(&row)).unwrap();
    }
    let report = block_on(Sweep::new(outbox).sweep_registered()).unwrap();
    assert_eq!((report.partitions, report.prompted, report.failed), (1, 1, 2), "{report:?}");
    assert!(report.errors[0].contains("names no table") && report.errors[0].contains("aaa_00"), "{report:?}");
}

#[test]
fn pat_ec_8_an_invalid_row_among_the_feeds_stops_no_view() {
    let (_, engine, _) = outbox();
    let (table, sales) = (TableName::new("Company").unwrap(), PartitionKey::new("Sales").unwrap());
    let feed = Feed::new(engine.clone());
    block_on(engine.create_table_if_missing(&table)).unwrap();
    let transaction = Transaction::new(sales.clone(), engine.capabilities().limits).unwrap();
    let source = RowKey::new("1").unwrap();
    let change = FeedChange { source: &source, kind: "set", payload: b"" };
    block_on(feed.submit(&table, transaction, &[change])).unwrap();
    let registry = engine.untyped(FEEDS).unwrap();
    block_on(registry.insert(&TableEntity::new("other_00", "x").unwrap())).unwrap();
    assert_eq!(block_on(feed.partitions(&table)).unwrap(), [sales]);
}

#[test]
fn pat_ec_4_an_invalid_poison_message_is_shown_as_such_and_stops_no_worker() {
    let (outbox, engine, _) = outbox();
    let poison = outbox.queue().poison().unwrap();
    let strange = || block_on(engine.put(&poison, PutMessage::new("hello"))).unwrap();
    strange();
    let entries = block_on(outbox.poison(32)).unwrap();
    assert_eq!(entries[0].work, "hello");
    assert!(entries[0].error.as_ref().unwrap().contains("not a poison entry"), "{entries:?}");
    assert_eq!(block_on(outbox.discard_poison()).unwrap().unwrap().work, "hello");
    assert!(block_on(outbox.poison(32)).unwrap().is_empty());

    // The requeued entry becomes poison again, now with its error.
    strange();
    assert!(block_on(outbox.requeue_poison()).unwrap().is_some());
    block_on(Worker::new(outbox.clone()).run_until_idle()).unwrap();
    let entries = block_on(outbox.poison(32)).unwrap();
    assert_eq!((entries.len(), entries[0].work.as_str()), (1, "hello"));
    assert!(entries[0].error.as_ref().unwrap().contains("does not describe any work"), "{entries:?}");
}

#[test]
fn pat_ec_7_a_batch_is_one_query_one_claim_and_sixteen_rows_per_transaction() {
    let (outbox, engine, time) = outbox();
    let table = TableName::new("Company").unwrap();
    block_on(engine.create_table(&table)).unwrap();
    for _ in 0..70 {
        record(&outbox, &table, "Sales");
    }
    block_on(engine.clear(outbox.queue())).unwrap();
    let store = FaultyStore::new(engine.clone());
    let clock = Clock::new(move || time.load(Ordering::SeqCst));
    let counted =
        Outbox::with_runtime(store.clone(), engine, outbox.queue().clone(), Runtime::new().clock(clock));
    block_on(outbox.notify(&table, &PartitionKey::new("Sales").unwrap())).unwrap();
    let worker = Worker::new(counted).handler(Nothing);
    block_on(worker.run_until_idle()).unwrap();
    assert_eq!(worker.metrics().done, 70);
    let calls = store.calls();
    let count = |which: Call| calls.iter().filter(|call| **call == which).count();
    // One query is sent per batch, and one for the outbox's key. Each batch is claimed with one transaction. The transactions after it each end sixteen rows
    // and start the next sixteen.
    assert_eq!((count(Call::Query), count(Call::Submit), calls.len()), (3 + 1, 3 + 5, 12));
}

#[test]
fn con_11_a_claim_with_a_lost_response_is_recognised_by_its_identifier() {
    for lost in 1..6 {
        let (outbox, engine, _) = outbox();
        let table = TableName::new("Company").unwrap();
        block_on(engine.create_table(&table)).unwrap();
        (0..3).for_each(|_| record(&outbox, &table, "Sales"));
        let store = FaultyStore::new(engine.clone());
        let timed_out = ErrorCode::OperationTimedOut;
        store.script(move |_, at| if at == lost { Fault::After(timed_out) } else { Fault::None });
        let faulty =
            Outbox::with_runtime(store, engine.clone(), outbox.queue().clone(), outbox.runtime().clone());
        let worker = Worker::new(faulty).handler(Nothing);
        block_on(worker.run_until_idle()).unwrap();
        let left = block_on(Sweep::new(outbox.clone()).sweep_registered()).unwrap().pending;
        // If the response to the start of an attempt was lost, the attempt ends when its claim expires. Its message is then delivered again.
        let waiting = block_on(outbox.backlog()).unwrap().waiting;
        assert!(left == 0 || (left == 1 && waiting > 0), "request {lost}: {left} left, {waiting} messages");
    }
}

#[derive(Serialize, Deserialize)]
struct Mail(String);

impl Message for Mail {
    const NAME: &'static str = "mail";
    const VERSION: u32 = 1;
}

struct Nothing;

impl Handler<Mail> for Nothing {
    async fn handle(&self, _: &Mail, _: work::Delivery<'_>) -> Result<()> {
        Ok(())
    }
}

/// A handler that fails as if its table's stored schema were newer than the program.
struct Older;

impl Handler<Mail> for Older {
    async fn handle(&self, _: &Mail, _: work::Delivery<'_>) -> Result<()> {
        Err(Error::new(ErrorCode::SchemaMismatch, "the layout is newer"))
    }
}

#[test]
fn pat_ec_4_a_layout_unknown_to_the_handler_is_poison_with_its_reason() {
    let table = TableName::new("Company").unwrap();
    let (outbox, engine, time) = outbox();
    block_on(engine.create_table(&table)).unwrap();
    record(&outbox, &table, "Sales");
    let options = WorkerOptions { poison_after: 3, ..WorkerOptions::default() };
    let worker = Worker::with_options(outbox.clone(), options).handler(Older);
    for _ in 0..6 {
        block_on(worker.run_until_idle()).unwrap();
        time.fetch_add(20 * 600_000_000, Ordering::SeqCst);
    }
    let entries = block_on(outbox.poison(32)).unwrap();
    assert_eq!((entries.len(), entries[0].attempts), (1, 3), "{entries:?}");
    assert!(entries[0].error.as_ref().unwrap().contains("the layout is newer"), "{entries:?}");
    assert_eq!(worker.metrics().left, 0);
}

/// A handler whose target is down while the flag is `true`. It counts its calls.
struct Down(Arc<std::sync::atomic::AtomicBool>, Arc<AtomicU64>);

impl Handler<Mail> for Down {
    async fn handle(&self, _: &Mail, _: work::Delivery<'_>) -> Result<()> {
        self.1.fetch_add(1, Ordering::SeqCst);
        if self.0.load(Ordering::SeqCst) {
            return Err(Error::new(ErrorCode::ServerBusy, "the mail server is down"));
        }
        Ok(())
    }
}

#[test]
fn pat_ec_5_an_outage_of_a_day_makes_no_poison_and_is_retried_rarely() {
    let (outbox, engine, time) = outbox();
    let table = TableName::new("Company").unwrap();
    block_on(engine.create_table(&table)).unwrap();
    for row in 0..20 {
        record(&outbox, &table, &format!("p{row}"));
    }
    let intent = Intent::of(RowKey::new("1").unwrap()).step(Step::call(&Mail("hello".into())).unwrap());
    block_on(outbox.enqueue(&table, &PartitionKey::new("x").unwrap(), &intent)).unwrap();
    let (is_down, asked) = (Arc::new(std::sync::atomic::AtomicBool::new(true)), Arc::default());
    let worker = Worker::new(outbox.clone()).handler(Down(Arc::clone(&is_down), Arc::clone(&asked)));
    for minute in 0..1_500 {
        if minute == 1_440 {
            assert!(worker.metrics().outages > 0);
            assert!(asked.load(Ordering::SeqCst) < 8_000, "{} calls in a day", asked.load(Ordering::SeqCst));
            is_down.store(false, Ordering::SeqCst);
        }
        block_on(worker.run_until_idle()).unwrap();
        time.fetch_add(600_000_000, Ordering::SeqCst);
    }
    let metrics = worker.metrics();
    assert_eq!((metrics.poisoned, metrics.failures, metrics.done), (0, 0, 21), "{metrics:?}");
}

#[test]
fn pat_ec_5_a_clock_that_is_set_back_keeps_no_circuit_open_longer() {
    let (outbox, engine, time) = outbox();
    let table = TableName::new("Company").unwrap();
    block_on(engine.create_table(&table)).unwrap();
    time.fetch_add(30 * 864_000_000_000, Ordering::SeqCst);
    record(&outbox, &table, "Sales");
    let (is_down, asked) = (Arc::new(std::sync::atomic::AtomicBool::new(true)), Arc::default());
    let worker = Worker::new(outbox.clone()).handler(Down(Arc::clone(&is_down), asked));
    block_on(worker.run_until_idle()).unwrap();
    is_down.store(false, Ordering::SeqCst);
    // The clocks of the queue and the workers are set back to a time before the failure.
    block_on(engine.clear(outbox.queue())).unwrap();
    time.fetch_sub(29 * 864_000_000_000, Ordering::SeqCst);
    let prompt = || block_on(outbox.notify(&table, &PartitionKey::new("Sales").unwrap())).unwrap();
    prompt();
    time.fetch_add(50_000_000, Ordering::SeqCst);
    prompt();
    block_on(worker.run_until_idle()).unwrap();
    assert_eq!(worker.metrics().done, 1, "{:?}", worker.metrics());
}

#[test]
fn pat_ec_7_a_row_claimed_with_a_clock_days_ahead_is_free() {
    let (outbox, engine, time) = outbox();
    let table = TableName::new("Company").unwrap();
    block_on(engine.create_table(&table)).unwrap();
    record(&outbox, &table, "Sales");
    let query = table_core::query::Query::new(table_core::query::KeyRange::ALL);
    let page = block_on(engine.query(&table, &query, None)).unwrap();
    let row_key = page.rows.iter().next().unwrap().row_key.to_owned();
    let ahead = i64::try_from(time.load(Ordering::SeqCst)).unwrap() + 3 * 864_000_000_000;
    let claim = TableEntity::new("Sales", row_key.as_str())
        .unwrap()
        .with("NotBefore", ahead)
        .with("Claim", "a dead worker");
    // The methods of `Table` refuse reserved rows.
    let kind = OperationKind::Merge(claim.to_row().unwrap(), table_core::IfMatch::Any);
    let limits = engine.capabilities().limits;
    let mut merge = Transaction::new(PartitionKey::new("Sales").unwrap(), limits).unwrap();
    merge.push(Operation { row_key: RowKey::new(row_key).unwrap(), kind }).unwrap();
    block_on(engine.submit(&table, merge)).unwrap();
    let worker = Worker::new(outbox).handler(Nothing);
    block_on(worker.run_until_idle()).unwrap();
    assert_eq!(worker.metrics().done, 1);
}

#[test]
fn pat_ec_4_poison_is_requeued_and_discarded_in_bulk_and_costs_later_work_nothing() {
    let (outbox, engine, time) = outbox();
    let table = TableName::new("Company").unwrap();
    block_on(engine.create_table(&table)).unwrap();
    for _ in 0..70 {
        record(&outbox, &table, "Sales");
    }
    let options = WorkerOptions { poison_after: 1, ..WorkerOptions::default() };
    let fails = Worker::with_options(outbox.clone(), options).handler(Older);
    for _ in 0..200 {
        block_on(fails.run_until_idle()).unwrap();
        time.fetch_add(20 * 600_000_000, Ordering::SeqCst);
    }
    assert_eq!(block_on(outbox.backlog()).unwrap().poison, 70);
    // The worker that processes a later change does not read any poison rows.
    let store = FaultyStore::new(engine.clone());
    record(&outbox, &table, "Sales");
    let counted =
        Outbox::with_runtime(store.clone(), engine.clone(), outbox.queue().clone(), outbox.runtime().clone());
    let worker = Worker::new(counted).handler(Nothing);
    block_on(worker.run_until_idle()).unwrap();
    assert_eq!(worker.metrics().done, 1);
    assert!(store.calls().len() < 8, "{:?}", store.calls());

    let mut wanted = 10;
    let chosen = std::sync::Mutex::new(&mut wanted);
    let some = |_: &work::PoisonEntry| {
        let mut left = chosen.lock().unwrap();
        let is_chosen = **left > 0;
        **left -= i32::from(is_chosen);
        is_chosen
    };
    assert_eq!(block_on(outbox.requeue_poison_if(some)).unwrap(), 10);
    block_on(worker.run_until_idle()).unwrap();
    assert_eq!(worker.metrics().done, 11);
    time.fetch_add(2 * 600_000_000, Ordering::SeqCst);
    assert_eq!(block_on(outbox.discard_poison_if(|_| true)).unwrap(), 60);
    let page = block_on(engine.query(
        &table,
        &table_core::query::Query::new(table_core::query::KeyRange::ALL),
        None,
    ));
    assert_eq!(page.unwrap().rows.len(), 0, "no row is left");
}
