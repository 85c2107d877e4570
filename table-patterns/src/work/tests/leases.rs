//! Tests workers with different lease durations on one queue.

use std::time::Duration;

use super::*;

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
