//! Tests the delivery of messages for partitions with many rows, and for partitions into which another program continuously inserts rows.

use proptest::prelude::*;
use table_core::ValueRef;
use table_core::query::Query;
use table_core::row::{Row, RowWriter};
use table_core::testing::LimitedStore;

use super::space::inserted;
use super::*;

const SECOND: u64 = 10_000_000;

/// Returns a row that cannot be processed yet. Another worker has claimed it, or it waits for its next attempt.
fn waiting(now: u64, wait: u64) -> Row {
    let (until, wait) = (i64::try_from(now + wait).unwrap(), i64::try_from(wait).unwrap());
    let mut writer = RowWriter::new();
    writer.property("NotBefore", ValueRef::Int64(until));
    writer.property("Wait", ValueRef::Int64(wait));
    writer.finish()
}

/// A handler that records the number of requests that the worker has sent to the store so far.
struct After(FaultyStore<Engine>, Arc<AtomicU64>);

impl Handler<Mail> for After {
    async fn handle(&self, _: &Mail, _: work::Delivery<'_>) -> Result<()> {
        self.1.store(self.0.calls().len() as u64, Ordering::SeqCst);
        Ok(())
    }
}

#[test]
fn pat_ec_7_rows_that_are_inserted_during_a_delivery_delay_no_other_message_for_long() {
    /// The number of times that the other program inserts a page of rows.
    const PAGES: usize = 1_500;
    for is_waiting in [false, true] {
        let (outbox, engine, time) = outbox();
        let table = TableName::new("Company").unwrap();
        block_on(engine.create_table(&table)).unwrap();
        record(&outbox, &table, "q");
        block_on(engine.clear(outbox.queue())).unwrap();
        let store = FaultyStore::new(engine.clone());
        let (queue, pace) = (outbox.queue().clone(), outbox.runtime().clone());
        let faulty = Outbox::with_runtime(store.clone(), engine.clone(), queue, pace);
        for partition in ["p", "q"] {
            block_on(faulty.notify(&table, &PartitionKey::new(partition).unwrap())).unwrap();
        }
        let day = 86_400 * SECOND;
        let row =
            if is_waiting { waiting(time.load(Ordering::SeqCst), day) } else { RowWriter::new().finish() };
        let numbers_of = move |at: usize| (0..32).map(move |number| at * 32 + number);
        let add = {
            let (engine, table) = (engine.clone(), table.clone());
            move |at: usize| {
                let limits = engine.capabilities().limits;
                let mut transaction = Transaction::new(PartitionKey::new("p").unwrap(), limits).unwrap();
                numbers_of(at).for_each(|number| transaction.push(inserted(number, row.clone())).unwrap());
                block_on(engine.submit(&table, transaction)).unwrap();
            }
        };
        add(0);
        let mut pages = 0;
        store.script(move |call, _| {
            if call != Call::Query || pages == PAGES {
                return Fault::None;
            }
            pages += 1;
            let (add, at) = (add.clone(), pages);
            Fault::Meanwhile(Box::new(move || add(at)))
        });
        let asked = Arc::default();
        let worker = Worker::new(faulty).handler(After(store.clone(), Arc::clone(&asked)));
        block_on(worker.run_once()).unwrap();
        let (asked, metrics) = (asked.load(Ordering::SeqCst), worker.metrics());
        assert!(metrics.done == 1 && asked < 1_200, "{asked} requests, waiting: {is_waiting}, {metrics:?}");
        // Rows that are not due are read faster than they are inserted. The delivery therefore reaches the last row and deletes its message. Other messages
        // cover these rows.
        let remaining = u64::from(!is_waiting);
        assert_eq!(block_on(outbox.backlog()).unwrap().waiting, remaining, "waiting: {is_waiting}");
    }
}

#[test]
fn pat_ec_7_one_message_suffices_for_any_number_of_rows() {
    let (outbox, engine, _) = outbox();
    let table = TableName::new("Company").unwrap();
    block_on(engine.create_table(&table)).unwrap();
    (0..1_500).for_each(|_| record(&outbox, &table, "Sales"));
    block_on(engine.clear(outbox.queue())).unwrap();
    block_on(outbox.notify(&table, &PartitionKey::new("Sales").unwrap())).unwrap();
    let worker = Worker::new(outbox).handler(Nothing);
    block_on(worker.run_until_idle()).unwrap();
    assert_eq!((worker.metrics().done, worker.metrics().received), (1_500, 2));
}

/// A partition with one row that can be processed, and many rows that are not due yet.
struct Backlog {
    outbox: Outbox<FaultyStore<Engine>, Engine>,
    store: FaultyStore<Engine>,
    time: Arc<AtomicU64>,
}

impl Backlog {
    /// Creates a backlog. The rows that are not due have the given numbers. Each page contains one row.
    fn new(rows: impl Iterator<Item = usize>, wait: u64) -> Self {
        let (plain, engine, time) = outbox();
        let (table, sales) = (TableName::new("Company").unwrap(), PartitionKey::new("Sales").unwrap());
        block_on(engine.create_table(&table)).unwrap();
        record(&plain, &table, "Sales");
        let row = waiting(time.load(Ordering::SeqCst), wait);
        let rows: Vec<_> = rows.map(|number| inserted(number, row.clone())).collect();
        for rows in rows.chunks(100) {
            let mut transaction = Transaction::new(sales.clone(), engine.capabilities().limits).unwrap();
            for row in rows {
                transaction.push(row.clone()).unwrap();
            }
            block_on(engine.submit(&table, transaction)).unwrap();
        }
        let store = FaultyStore::new(engine.clone()).pages_of(1);
        let (queue, pace) = (plain.queue().clone(), plain.runtime().clone());
        let outbox = Outbox::with_runtime(store.clone(), engine, queue, pace);
        Self { outbox, store, time }
    }

    fn worker(&self) -> Worker<FaultyStore<Engine>, Engine> {
        Worker::new(self.outbox.clone())
    }
}

#[test]
fn pat_ec_7_a_due_row_behind_many_waiting_rows_is_reached() {
    let backlog = Backlog::new(0..2_500, 86_400 * SECOND);
    let worker = backlog.worker().handler(Nothing);
    for delivery in 1..=3 {
        block_on(worker.run_once()).unwrap();
        assert_eq!(worker.metrics().received, delivery);
    }
    assert_eq!(worker.metrics().done, 1, "{:?}", worker.metrics());
    assert_eq!(
        block_on(backlog.outbox.backlog()).unwrap().waiting,
        0,
        "the waiting rows have other messages"
    );
}

#[test]
fn pat_ec_7_a_row_that_failed_before_a_long_backlog_is_tried_again_in_time() {
    /// A handler that fails once.
    struct Once(AtomicU64);
    impl Handler<Mail> for Once {
        async fn handle(&self, _: &Mail, _: work::Delivery<'_>) -> Result<()> {
            let is_first = self.0.fetch_add(1, Ordering::SeqCst) == 0;
            if is_first { Err(work::failure("not at first")) } else { Ok(()) }
        }
    }
    // The rows that are not due follow the row that fails.
    let backlog = Backlog::new((0..1_500).map(|number| usize::MAX - number), 86_400 * SECOND);
    let worker = backlog.worker().handler(Once(AtomicU64::default()));
    block_on(worker.run_until_idle()).unwrap();
    assert_eq!((worker.metrics().failures, worker.metrics().received), (1, 2), "{:?}", worker.metrics());
    backlog.time.fetch_add(3 * SECOND, Ordering::SeqCst);
    block_on(worker.run_until_idle()).unwrap();
    assert_eq!(worker.metrics().done, 1, "{:?}", worker.metrics());
}

#[test]
fn pat_ec_5_an_error_late_in_a_long_backlog_delays_its_message_briefly() {
    let backlog = Backlog::new(0..8_000, 86_400 * SECOND);
    let worker = backlog.worker().handler(Nothing);
    for _ in 0..6 {
        block_on(worker.run_once()).unwrap();
    }
    assert_eq!((worker.metrics().received, worker.metrics().failures), (6, 0));
    backlog.store.script(|_, _| Fault::Before(ErrorCode::ServerBusy));
    block_on(worker.run_once()).unwrap();
    assert_eq!((worker.metrics().received, worker.metrics().failures), (7, 1));
    backlog.store.heal();
    backlog.time.fetch_add(3 * SECOND, Ordering::SeqCst);
    block_on(worker.run_until_idle()).unwrap();
    assert_eq!(worker.metrics().done, 1, "{:?}", worker.metrics());
}

#[test]
fn pat_ec_7_a_continued_message_ends_if_another_worker_has_the_rest() {
    let (outbox, engine, time) = outbox();
    let table = TableName::new("Company").unwrap();
    block_on(engine.create_table(&table)).unwrap();
    (0..1_500).for_each(|_| record(&outbox, &table, "Sales"));
    let mut transaction =
        Transaction::new(PartitionKey::new("Sales").unwrap(), engine.capabilities().limits).unwrap();
    let claimed = waiting(time.load(Ordering::SeqCst), 30 * SECOND);
    transaction.push(inserted(usize::MAX, claimed)).unwrap();
    block_on(engine.submit(&table, transaction)).unwrap();
    block_on(engine.clear(outbox.queue())).unwrap();
    block_on(outbox.notify(&table, &PartitionKey::new("Sales").unwrap())).unwrap();
    let worker = Worker::new(outbox.clone()).handler(Nothing);
    block_on(worker.run_until_idle()).unwrap();
    assert_eq!((worker.metrics().done, worker.metrics().received), (1_500, 2));
    assert_eq!(block_on(outbox.backlog()).unwrap().waiting, 0);
}

type Limited = FaultyStore<LimitedStore<Engine>>;

/// Returns an outbox on a store with or without key order.
fn limited(
    (plain, engine): (&Outbox<Engine, Engine>, &Engine),
    (page_rows, is_ordered): (usize, bool),
) -> (Outbox<Limited, Engine>, Limited) {
    let limited = LimitedStore::new(engine.clone(), |capabilities| capabilities.ordered = is_ordered);
    let store = FaultyStore::new(if is_ordered { limited } else { limited.shuffled(1_000) });
    let store = store.pages_of(page_rows);
    let (queue, pace) = (plain.queue().clone(), plain.runtime().clone());
    (Outbox::with_runtime(store.clone(), engine.clone(), queue, pace), store)
}

/// Records an intent in a row with the given number.
fn record_at(outbox: &Outbox<Engine, Engine>, table: &TableName, number: usize) {
    let limits = outbox.store().capabilities().limits;
    let mut transaction = Transaction::new(PartitionKey::new("Sales").unwrap(), limits).unwrap();
    let intent = Intent::of(RowKey::new("1").unwrap()).step(Step::call(&Mail("hello".into())).unwrap());
    let Operation { kind, .. } = outbox.operation(&intent).unwrap();
    let Operation { row_key, .. } = inserted(number, RowWriter::new().finish());
    transaction.push(Operation { row_key, kind }).unwrap();
    block_on(outbox.submit(table, transaction)).unwrap();
}

/// Returns the `RowKey`s of all pending rows in key order.
fn pending(engine: &Engine, table: &TableName) -> Vec<String> {
    let range = crate::outbox::rows::range(&PartitionKey::new("Sales").unwrap());
    let (mut keys, mut from) = (Vec::new(), None);
    loop {
        let page = block_on(engine.query(table, &Query::new(range.clone()), from.as_ref())).unwrap();
        keys.extend(page.rows.iter().map(|row| row.row_key.to_owned()));
        from = page.continuation;
        if from.is_none() {
            return keys;
        }
    }
}

/// Inserts rows that are not due for a day.
fn insert_waiting((engine, table): (&Engine, &TableName), now: u64, numbers: impl Iterator<Item = usize>) {
    let row = waiting(now, 86_400 * SECOND);
    let rows: Vec<_> = numbers.map(|number| inserted(number, row.clone())).collect();
    for rows in rows.chunks(100) {
        let limits = engine.capabilities().limits;
        let mut transaction = Transaction::new(PartitionKey::new("Sales").unwrap(), limits).unwrap();
        for row in rows {
            transaction.push(row.clone()).unwrap();
        }
        block_on(engine.submit(table, transaction)).unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn pat_ec_7_one_message_suffices_for_the_free_rows_among_waiting_rows(
        runs in prop::collection::vec((any::<bool>(), 1..90_usize), 0..7),
        (page, is_ordered) in (prop_oneof![1..50_usize, Just(1_000)], any::<bool>()),
        (fail, is_lost) in (0..60_usize, any::<bool>()),
    ) {
        let (plain, engine, time) = outbox();
        let table = TableName::new("Company").unwrap();
        block_on(engine.create_table(&table)).unwrap();
        let (mut at, mut left) = (0, Vec::new());
        for (is_free, count) in runs {
            let numbers = at..at + count;
            at += count;
            if is_free {
                numbers.for_each(|number| record_at(&plain, &table, number));
            } else {
                insert_waiting((&engine, &table), time.load(Ordering::SeqCst), numbers.clone());
                let key = |number| inserted(number, RowWriter::new().finish()).row_key.as_str().to_owned();
                left.extend(numbers.map(key));
            }
        }
        block_on(engine.clear(plain.queue())).unwrap();
        block_on(plain.notify(&table, &PartitionKey::new("Sales").unwrap())).unwrap();
        let (outbox, store) = limited((&plain, &engine), (page, is_ordered));
        store.script(move |_, number| match is_lost {
            _ if number != fail => Fault::None,
            false => Fault::Before(ErrorCode::InternalError),
            true => Fault::After(ErrorCode::OperationTimedOut),
        });
        let worker = Worker::new(outbox).handler(Nothing);
        for _ in 0..4 {
            block_on(worker.run_until_idle()).unwrap();
            time.fetch_add(600 * SECOND, Ordering::SeqCst);
        }
        prop_assert_eq!(pending(&engine, &table), left);
        prop_assert_eq!(block_on(plain.backlog()).unwrap().poison, 0);
    }
}

#[test]
fn pat_ec_7_a_message_for_waiting_rows_reads_them_in_large_pages() {
    for (count, pages) in [(640, 2), (6_400, 8)] {
        let (plain, engine, time) = outbox();
        let table = TableName::new("Company").unwrap();
        block_on(engine.create_table(&table)).unwrap();
        insert_waiting((&engine, &table), time.load(Ordering::SeqCst), 0..count);
        block_on(plain.notify(&table, &PartitionKey::new("Sales").unwrap())).unwrap();
        let (outbox, store) = limited((&plain, &engine), (usize::MAX, true));
        let worker = Worker::new(outbox).handler(Nothing);
        block_on(worker.run_until_idle()).unwrap();
        // The first page has 32 rows. Each other page has up to 1,000 rows.
        assert_eq!(store.calls(), vec![Call::Query; pages], "{count} rows");
        assert_eq!(block_on(plain.backlog()).unwrap().waiting, 0);
    }
}

#[test]
fn cos_1_one_message_suffices_for_any_number_of_rows_on_a_store_without_key_order() {
    let (plain, engine, _) = outbox();
    let table = TableName::new("Company").unwrap();
    block_on(engine.create_table(&table)).unwrap();
    (0..1_500).for_each(|_| record(&plain, &table, "Sales"));
    block_on(engine.clear(plain.queue())).unwrap();
    block_on(plain.notify(&table, &PartitionKey::new("Sales").unwrap())).unwrap();
    let worker = Worker::new(limited((&plain, &engine), (usize::MAX, false)).0).handler(Nothing);
    block_on(worker.run_until_idle()).unwrap();
    assert_eq!((worker.metrics().done, pending(&engine, &table).len()), (1_500, 0));
    assert_eq!(block_on(plain.backlog()).unwrap().waiting, 0);
}
