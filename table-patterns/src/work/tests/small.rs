//! Tests workers on stores that allow only a few operations per transaction.

use std::time::Duration;

use proptest::prelude::*;
use table_core::runtime::ticks_of;
use table_core::testing::LimitedStore;

use super::*;

#[test]
fn egt_2_workers_claim_no_more_rows_than_fit_into_a_transaction() {
    const ROWS: u64 = 40;
    for operations in [3, 4, 10, 100] {
        for has_handler in [true, false] {
            let (outbox, engine, time) = outbox();
            let store = LimitedStore::new(engine.clone(), |limited| limited.limits.operations = operations);
            let (queue, pace) = (outbox.queue().clone(), outbox.runtime().clone());
            let outbox = Outbox::with_runtime(store, engine.clone(), queue, pace);
            let (table, sales) = (TableName::new("Company").unwrap(), PartitionKey::new("Sales").unwrap());
            block_on(engine.create_table(&table)).unwrap();
            for number in 0..ROWS {
                let limits = outbox.store().capabilities().limits;
                let mut transaction = Transaction::new(sales.clone(), limits).unwrap();
                let source = RowKey::new(number.to_string()).unwrap();
                let intent = Intent::of(source).step(Step::call(&Mail("hello".into())).unwrap());
                outbox.record(&mut transaction, &intent).unwrap();
                block_on(outbox.submit(&table, transaction)).unwrap();
            }
            // A single message for all rows is sufficient.
            block_on(engine.clear(outbox.queue())).unwrap();
            block_on(outbox.notify(&table, &sales)).unwrap();
            let options = WorkerOptions { poison_after: 1, ..WorkerOptions::default() };
            let worker = Worker::with_options(outbox.clone(), options);
            let worker = if has_handler { worker.handler(Nothing) } else { worker };
            for _ in 0..3 {
                block_on(worker.run_until_idle()).unwrap();
                time.fetch_add(ticks_of(Duration::from_secs(1_300)), Ordering::SeqCst);
            }
            let metrics = worker.metrics();
            let expected = if has_handler { (ROWS, 0) } else { (0, ROWS) };
            assert_eq!((metrics.done, metrics.poisoned), expected, "{operations}: {metrics:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn egt_3_intents_of_any_size_are_set_aside_once(
        sizes in prop::collection::vec(1_000..20_000_usize, 2..14),
        rows in 2..9_usize,
        concurrency in 1..20_usize,
    ) {
        let (outbox, engine, time) = outbox();
        let store = LimitedStore::new(engine.clone(), |limited| {
            limited.limits.transaction_bytes = rows * 21_000;
        });
        let (queue, pace) = (outbox.queue().clone(), outbox.runtime().clone());
        let outbox = Outbox::with_runtime(store, engine.clone(), queue, pace);
        let (table, sales) = (TableName::new("Company").unwrap(), PartitionKey::new("Sales").unwrap());
        block_on(engine.create_table(&table)).unwrap();
        for (number, size) in sizes.iter().enumerate() {
            let limits = outbox.store().capabilities().limits;
            let mut transaction = Transaction::new(sales.clone(), limits).unwrap();
            // The handler cannot decode the payload, so the work becomes poison after the first attempt.
            let payload = format!("[\"{}\"]", "x".repeat(*size));
            let step = Step::Call { name: Mail::NAME.to_owned(), version: Mail::VERSION, payload };
            let intent = Intent::of(RowKey::new(number.to_string()).unwrap()).step(step);
            outbox.record(&mut transaction, &intent).unwrap();
            block_on(outbox.submit(&table, transaction)).unwrap();
        }
        block_on(engine.clear(outbox.queue())).unwrap();
        block_on(outbox.notify(&table, &sales)).unwrap();
        let options = WorkerOptions { concurrency, ..WorkerOptions::default() };
        let worker = Worker::with_options(outbox.clone(), options).handler(Nothing);
        for _ in 0..20 {
            block_on(worker.run_until_idle()).unwrap();
            time.fetch_add(ticks_of(Duration::from_secs(1_300)), Ordering::SeqCst);
        }
        let backlog = block_on(outbox.backlog()).unwrap();
        prop_assert_eq!((backlog.waiting, backlog.poison), (0, sizes.len() as u64), "{:?}", worker.metrics());
    }
}
