//! Tests rows of another program that have no space for the notes of workers and sweeps.

use table_core::ValueRef;
use table_core::limits::{ENTITY_BYTES, ENTITY_RESERVE, PROPERTIES};
use table_core::row::{Row, RowWriter, entity_bytes};

use super::*;
use crate::outbox::OUTBOX_PREFIX;

const HOUR: u64 = 36_000_000_000;

/// Returns the operation that inserts an outbox row.
pub(super) fn inserted(number: usize, row: Row) -> Operation {
    let row_key = RowKey::new(format!("{OUTBOX_PREFIX}{number:016x}{number:016x}")).unwrap();
    Operation { row_key, kind: OperationKind::Insert(row) }
}

/// Inserts outbox rows as another program might.
fn insert(engine: &Engine, table: &TableName, partition: &str, rows: impl IntoIterator<Item = Operation>) {
    for row in rows {
        let limits = engine.capabilities().limits;
        let mut transaction = Transaction::new(PartitionKey::new(partition).unwrap(), limits).unwrap();
        transaction.push(row).unwrap();
        block_on(engine.submit(table, transaction)).unwrap();
    }
}

/// Returns a row with `count` properties.
fn numbered(count: usize) -> Row {
    let mut writer = RowWriter::new();
    writer.property("Intent", ValueRef::Binary(b"x"));
    (1..count).for_each(|number| writer.property(&format!("P{number}"), ValueRef::Int32(7)));
    writer.finish()
}

/// Returns a row of the given size, in a partition whose key has one character.
fn sized(number: usize, bytes: usize, names: &[&str]) -> Row {
    let parts = vec![vec![b'x'; 64 * 1024]; 15];
    let filled = |filler: usize| {
        let mut writer = RowWriter::new();
        for (at, part) in parts.iter().enumerate() {
            let name = if at == 0 { "Intent".to_owned() } else { format!("Intent{at}") };
            writer.property(&name, ValueRef::Binary(part));
        }
        for (at, name) in names.iter().enumerate() {
            let length = filler / 2 / names.len() + if at == 0 { filler / 2 % names.len() } else { 0 };
            writer.property(name, ValueRef::String(&"y".repeat(length)));
        }
        writer.finish()
    };
    let row_key = inserted(number, filled(0)).row_key;
    let size = |row: &Row| entity_bytes("p", row_key.as_str(), Some(row)) + ENTITY_RESERVE;
    filled(bytes - size(&filled(0)))
}

#[test]
fn pat_ec_4_a_row_without_space_for_a_note_is_set_aside_and_delays_no_other() {
    let mut rows: Vec<Vec<Row>> = (PROPERTIES - 9..=PROPERTIES).map(|count| vec![numbered(count)]).collect();
    for names in [&["Other"][..], &["Seal", "Error"]] {
        let sizes = (0..10_000).step_by(2_500).chain((0..300).step_by(100));
        rows.extend(sizes.map(|less| vec![sized(0, ENTITY_BYTES - less, names)]));
    }
    rows.push((0..6).map(|number| sized(number, ENTITY_BYTES, &["Other"])).collect());
    for has_sweep in [false, true] {
        for (at, bodies) in rows.iter().enumerate() {
            let (outbox, engine, time) = outbox();
            let table = TableName::new("Company").unwrap();
            block_on(engine.create_table(&table)).unwrap();
            let bodies = bodies.iter().cloned().enumerate().map(|(number, row)| inserted(number, row));
            let count = u64::try_from(bodies.len()).unwrap();
            insert(&engine, &table, "p", bodies);
            if has_sweep {
                record(&outbox, &table, "p");
                block_on(engine.clear(outbox.queue())).unwrap();
                time.fetch_add(HOUR, Ordering::SeqCst);
                let report = block_on(Sweep::new(outbox.clone()).sweep_registered()).unwrap();
                assert_eq!((report.failed, report.prompted), (0, count + 1), "{at}: {report:?}");
            }
            for partition in ["p", "q"] {
                record(&outbox, &table, partition);
            }
            let worker = Worker::new(outbox.clone()).handler(Nothing);
            block_on(worker.run_once()).unwrap();
            block_on(worker.run_until_idle()).unwrap();
            let metrics = worker.metrics();
            assert_eq!(metrics.done, 2 + u64::from(has_sweep), "{at}: {metrics:?}");
            let work_for_a_day = || {
                for _ in 0..24 {
                    time.fetch_add(HOUR, Ordering::SeqCst);
                    block_on(worker.run_until_idle()).unwrap();
                }
            };
            work_for_a_day();
            let (backlog, metrics) = (block_on(outbox.backlog()).unwrap(), worker.metrics());
            assert_eq!((backlog.waiting, backlog.poison), (0, count), "{at}: {metrics:?}");
            // An operator can requeue and discard the row.
            assert_eq!(block_on(outbox.requeue_poison_if(|_| true)).unwrap(), count);
            work_for_a_day();
            assert_eq!(block_on(outbox.discard_poison_if(|_| true)).unwrap(), count);
        }
    }
}
