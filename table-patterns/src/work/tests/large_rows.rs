//! Tests workers on stores that count each updated row completely towards the size of a transaction. On such a store, a transaction can claim only a few large
//! rows.

use std::fmt;
use std::sync::atomic::AtomicUsize;

use table_core::EntityKey;
use table_core::query::{Continuation, Page, Query, Select};
use table_core::row::entity_bytes;
use table_core::store::{Capabilities, Committed, StoredRow, TablePage};

use super::*;

/// A store that refuses a transaction of several operations if the changed rows are too large in total, as Cosmos DB does.
#[derive(Clone)]
struct Whole {
    engine: Engine,
    /// The maximum number of bytes.
    most: Arc<AtomicUsize>,
    /// The number of refused transactions.
    refused: Arc<AtomicUsize>,
}

impl Whole {
    fn new(engine: &Engine, most: usize) -> Self {
        Self { engine: engine.clone(), most: Arc::new(AtomicUsize::new(most)), refused: Arc::default() }
    }

    /// Returns the total size of the rows that a transaction changes.
    async fn bytes(&self, table: &TableName, transaction: &Transaction) -> Result<usize> {
        let partition_key = transaction.partition_key();
        let mut bytes = 0;
        for operation in transaction.operations() {
            let row_key = operation.row_key.as_str();
            let key = EntityKey::new(partition_key.as_str(), row_key)?;
            let stored = self.engine.get(table, &key, &Select::All).await?;
            let row = match &operation.kind {
                OperationKind::Merge(..) => stored.as_ref().map(|stored| &stored.row),
                kind => kind.row(),
            };
            bytes += entity_bytes(partition_key.as_str(), row_key, row);
        }
        Ok(bytes)
    }
}

impl fmt::Debug for Whole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Whole")
    }
}

impl fmt::Display for Whole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("whole")
    }
}

impl TableStore for Whole {
    fn capabilities(&self) -> &Capabilities {
        self.engine.capabilities()
    }

    async fn create_table(&self, table: &TableName) -> Result<()> {
        self.engine.create_table(table).await
    }

    async fn delete_table(&self, table: &TableName) -> Result<()> {
        self.engine.delete_table(table).await
    }

    async fn list_tables(&self, prefix: &str, from: Option<&str>, top: usize) -> Result<TablePage> {
        self.engine.list_tables(prefix, from, top).await
    }

    async fn get(&self, table: &TableName, key: &EntityKey, select: &Select) -> Result<Option<StoredRow>> {
        self.engine.get(table, key, select).await
    }

    async fn query(&self, table: &TableName, query: &Query, from: Option<&Continuation>) -> Result<Page> {
        self.engine.query(table, query, from).await
    }

    async fn submit(&self, table: &TableName, transaction: Transaction) -> Result<Committed> {
        let is_too_large = transaction.operations().len() > 1
            && self.bytes(table, &transaction).await? > self.most.load(Ordering::SeqCst);
        if is_too_large {
            self.refused.fetch_add(1, Ordering::SeqCst);
            return Err(Error::new(ErrorCode::RequestBodyTooLarge, "the rows are too large together"));
        }
        self.engine.submit(table, transaction).await
    }
}

/// Records intents of about 100 KB in one partition, and sends a message for them.
fn record_large(outbox: &Outbox<Engine, Engine>, table: &TableName, count: usize) {
    let sales = PartitionKey::new("Sales").unwrap();
    block_on(outbox.store().create_table(table)).unwrap();
    for number in 0..count {
        let mut transaction = Transaction::new(sales.clone(), outbox.store().capabilities().limits).unwrap();
        let step = Step::call(&Mail("x".repeat(100_000))).unwrap();
        let intent = Intent::of(RowKey::new(number.to_string()).unwrap()).step(step);
        outbox.record(&mut transaction, &intent).unwrap();
        block_on(outbox.submit(table, transaction)).unwrap();
    }
    block_on(outbox.store().clear(outbox.queue())).unwrap();
    block_on(outbox.notify(table, &sales)).unwrap();
}

#[test]
fn egt_3_a_page_of_rows_that_are_too_large_for_one_claim_is_claimed_in_parts() {
    for (most, refusals) in [(2 << 20, 1), (250_000, 16), (150_000, 32)] {
        for poison_after in [1, 5] {
            let (outbox, engine, _) = outbox();
            let table = TableName::new("Company").unwrap();
            record_large(&outbox, &table, 40);
            let store = Whole::new(&engine, most);
            let (queue, pace) = (outbox.queue().clone(), outbox.runtime().clone());
            let large = Outbox::with_runtime(store.clone(), engine, queue, pace);
            let options = WorkerOptions { poison_after, ..WorkerOptions::default() };
            let worker = Worker::with_options(large, options).handler(Nothing);
            block_on(worker.run_until_idle()).unwrap();
            let metrics = worker.metrics();
            assert_eq!((metrics.done, metrics.lost, metrics.poisoned), (40, 0, 0), "{most}: {metrics:?}");
            let refused = store.refused.load(Ordering::SeqCst);
            assert!(refused <= refusals, "{most}: {refused} refused transactions");
        }
    }
}

/// A handler that runs for more than half of the lease, and then extends it. In the meantime, the store has begun to refuse large transactions.
struct Slow {
    store: Whole,
    time: Arc<AtomicU64>,
}

impl Handler<Mail> for Slow {
    async fn handle(&self, _: &Mail, delivery: work::Delivery<'_>) -> Result<()> {
        self.store.most.store(150_000, Ordering::SeqCst);
        self.time.fetch_add(20 * 10_000_000, Ordering::SeqCst);
        delivery.keep().await
    }
}

#[test]
fn egt_3_claims_that_are_too_large_for_one_transaction_are_extended_one_by_one() {
    let (outbox, engine, time) = outbox();
    let table = TableName::new("Company").unwrap();
    record_large(&outbox, &table, 5);
    let store = Whole::new(&engine, 2 << 20);
    let (queue, pace) = (outbox.queue().clone(), outbox.runtime().clone());
    let large = Outbox::with_runtime(store.clone(), engine, queue, pace);
    let worker = Worker::new(large).handler(Slow { store, time });
    block_on(worker.run_until_idle()).unwrap();
    let metrics = worker.metrics();
    assert_eq!((metrics.done, metrics.lost, metrics.failures), (5, 0, 0), "{metrics:?}");
}
