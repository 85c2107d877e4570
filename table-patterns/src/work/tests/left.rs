//! Tests how often workers retry work that they cannot do. Meanwhile, sweeps run and the partition changes.

use table_core::ValueRef;
use table_core::row::RowWriter;

use super::*;
use crate::outbox::OUTBOX_PREFIX;

const MINUTE: u64 = 600_000_000;
const DAY: u64 = 24 * 60;

/// A handler that fails with the given error.
struct Fails(Error);

impl Handler<Mail> for Fails {
    async fn handle(&self, _: &Mail, _: work::Delivery<'_>) -> Result<()> {
        Err(self.0.clone())
    }
}

/// The kind of record that the worker cannot process.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Record {
    /// The handler fails with this code.
    Fails(ErrorCode),
    /// The intent is in a later format.
    Later { is_sealed: bool },
}

/// Inserts an intent in a later format.
fn insert_later(outbox: &Outbox<Engine, Engine>, table: &TableName, is_sealed: bool) {
    let mut writer = RowWriter::new();
    writer.property("Intent", ValueRef::Binary(br#"{"Version":2}"#));
    let row_key = RowKey::new(format!("{OUTBOX_PREFIX}{:032x}", 7)).unwrap();
    let limits = outbox.store().capabilities().limits;
    let mut transaction = Transaction::new(PartitionKey::new("Sales").unwrap(), limits).unwrap();
    transaction.push(Operation { row_key, kind: OperationKind::Insert(writer.finish()) }).unwrap();
    if is_sealed {
        block_on(outbox.submit(table, transaction)).unwrap();
    } else {
        block_on(outbox.register(table, &PartitionKey::new("Sales").unwrap())).unwrap();
        block_on(outbox.store().submit(table, transaction)).unwrap();
    }
}

#[test]
fn pat_ec_4_work_that_cannot_be_done_is_tried_rarely_and_has_few_messages() {
    use ErrorCode::{FormatTooNew, IndexNotReady, InvalidInput, ServerBusy, UpdateConditionNotSatisfied};
    let codes = [FormatTooNew, IndexNotReady, InvalidInput, ServerBusy, UpdateConditionNotSatisfied];
    for kind in
        codes.map(Record::Fails).into_iter().chain([true, false].map(|is_sealed| Record::Later { is_sealed }))
    {
        let (outbox, engine, time) = outbox();
        let (table, sales) = (TableName::new("Company").unwrap(), PartitionKey::new("Sales").unwrap());
        block_on(engine.create_table(&table)).unwrap();
        match kind {
            Record::Fails(_) => record(&outbox, &table, "Sales"),
            Record::Later { is_sealed } => insert_later(&outbox, &table, is_sealed),
        }
        let error = match kind {
            Record::Fails(code) => code,
            Record::Later { .. } => InvalidInput,
        };
        let worker = Worker::new(outbox.clone()).handler(Fails(Error::new(error, "not here")));
        for minute in 0..DAY {
            block_on(outbox.notify(&table, &sales)).unwrap();
            block_on(worker.run_until_idle()).unwrap();
            block_on(Sweep::new(outbox.clone()).sweep_registered()).unwrap();
            time.fetch_add(MINUTE, Ordering::SeqCst);
            let waiting = block_on(outbox.backlog()).unwrap().waiting;
            assert!(waiting <= 20, "{kind:?}: {waiting} messages after {minute} minutes");
        }
        let metrics = worker.metrics();
        let tries = metrics.left + metrics.outages + metrics.failures;
        let most = if error == UpdateConditionNotSatisfied { 2 * DAY } else { 400 };
        assert!(tries < most, "{kind:?}: {metrics:?}");
        let is_poison = error == InvalidInput && kind != (Record::Later { is_sealed: true });
        assert_eq!(metrics.poisoned, u64::from(is_poison), "{kind:?}: {metrics:?}");
        if let Record::Later { .. } = kind {
            continue;
        }
        // Another program can do the work. It starts once the delay of the work has passed, which is at most `redelivery.max`.
        time.fetch_add(10 * MINUTE + MINUTE / 30, Ordering::SeqCst);
        let newer = Worker::new(outbox.clone()).handler(Nothing);
        block_on(newer.run_until_idle()).unwrap();
        assert_eq!(newer.metrics().done, u64::from(!is_poison), "{kind:?}: {:?}", newer.metrics());
    }
}
