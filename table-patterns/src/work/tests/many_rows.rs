//! Tests deliveries of messages for partitions with many rows, and for partitions into which a foreign writer inserts rows continuously.

use table_core::ValueRef;
use table_core::row::RowWriter;

use super::space::inserted;
use super::*;

/// A handler that records how many requests the worker had sent to the store before.
struct After(FaultyStore<Engine>, Arc<AtomicU64>);

impl Handler<Mail> for After {
    async fn handle(&self, _: &Mail, _: work::Delivery<'_>) -> Result<()> {
        self.1.store(self.0.calls().len() as u64, Ordering::SeqCst);
        Ok(())
    }
}

#[test]
fn pat_ec_7_rows_that_are_inserted_during_a_delivery_delay_no_other_message_for_long() {
    /// The number of times that the foreign writer inserts a page of rows.
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
        let row = {
            let mut writer = RowWriter::new();
            if is_waiting {
                let until = i64::try_from(time.load(Ordering::SeqCst)).unwrap() + 24 * 36_000_000_000;
                writer.property("NotBefore", ValueRef::Int64(until));
                writer.property("Wait", ValueRef::Int64(until));
            }
            writer.finish()
        };
        let page = move |at: usize| (0..32).map(move |number| at * 32 + number);
        let add = {
            let (engine, table) = (engine.clone(), table.clone());
            move |at: usize| {
                let limits = engine.capabilities().limits;
                let mut transaction = Transaction::new(PartitionKey::new("p").unwrap(), limits).unwrap();
                page(at).for_each(|number| transaction.push(inserted(number, row.clone())).unwrap());
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
        assert_eq!(block_on(outbox.backlog()).unwrap().waiting, 1, "the message remains");
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
