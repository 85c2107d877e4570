//! Tests workers with leases of different lengths on one queue.

use std::time::Duration;

use super::*;

const SECOND: u64 = 10_000_000;

/// A handler that runs a second worker, which processes messages for the same partition.
struct Meanwhile {
    outbox: Outbox<Engine, Engine>,
    table: TableName,
    other: Arc<Worker<Engine, Engine>>,
}

impl Handler<Mail> for Meanwhile {
    async fn handle(&self, _: &Mail, _: work::Delivery<'_>) -> Result<()> {
        self.outbox.notify(&self.table, &PartitionKey::new("Sales")?).await?;
        self.other.run_until_idle().await
    }
}

#[test]
fn pat_ec_7_a_claim_is_respected_by_workers_with_a_shorter_lease() {
    let (outbox, engine, _) = outbox();
    let table = TableName::new("Company").unwrap();
    block_on(engine.create_table(&table)).unwrap();
    record(&outbox, &table, "Sales");
    let other = Arc::new(Worker::new(outbox.clone()).handler(Nothing));
    let handler = Meanwhile { outbox: outbox.clone(), table, other: Arc::clone(&other) };
    let options = WorkerOptions { lease: Duration::from_secs(60 * 60), ..WorkerOptions::default() };
    let worker = Worker::with_options(outbox, options).handler(handler);
    block_on(worker.run_until_idle()).unwrap();
    assert_eq!((other.metrics().received, other.metrics().done), (1, 0));
    assert_eq!((worker.metrics().done, worker.metrics().lost), (1, 0));
}

/// A handler that extends its lease after 12 seconds. A second worker then processes messages for the same partition.
struct Extended {
    time: Arc<AtomicU64>,
    meanwhile: Meanwhile,
}

impl Handler<Mail> for Extended {
    async fn handle(&self, mail: &Mail, delivery: work::Delivery<'_>) -> Result<()> {
        self.time.fetch_add(12 * SECOND, Ordering::SeqCst);
        delivery.keep().await?;
        self.meanwhile.handle(mail, delivery).await
    }
}

#[test]
fn pat_ec_7_claims_are_extended_if_the_lease_was_extended_while_they_were_written() {
    // The slow request either claims the first row or begins the second one.
    for slow in 1..=2 {
        let (outbox, engine, time) = outbox();
        let table = TableName::new("Company").unwrap();
        block_on(engine.create_table(&table)).unwrap();
        (0..slow).for_each(|_| record(&outbox, &table, "Sales"));
        block_on(engine.clear(outbox.queue())).unwrap();
        block_on(outbox.notify(&table, &PartitionKey::new("Sales").unwrap())).unwrap();
        let store = FaultyStore::new(engine.clone());
        let (clock, mut submits) = (Arc::clone(&time), 0);
        store.script(move |call, _| {
            submits += u64::from(call == Call::Submit);
            if call != Call::Submit || submits != slow {
                return Fault::None;
            }
            clock.fetch_add(20 * SECOND, Ordering::SeqCst);
            Fault::Before(ErrorCode::ServerBusy)
        });
        let (queue, pace) = (outbox.queue().clone(), outbox.runtime().clone());
        let faulty = Outbox::with_runtime(store, engine, queue, pace);
        let other = Arc::new(Worker::new(outbox.clone()).handler(Nothing));
        let meanwhile = Meanwhile { outbox, table, other: Arc::clone(&other) };
        let options = WorkerOptions { concurrency: 1, ..WorkerOptions::default() };
        let worker = Worker::with_options(faulty, options).handler(Extended { time, meanwhile });
        block_on(worker.run_until_idle()).unwrap();
        assert_eq!((other.metrics().steps, worker.metrics().done, worker.metrics().lost), (0, slow, 0));
    }
}
