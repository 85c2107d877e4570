//! Tests that all poison entries can be requeued or discarded at once, even if one of them cannot be moved.

use std::time::Duration;

use table_core::query::{KeyRange, Query, TextRange};
use table_core::runtime::ticks_of;

use super::*;
use crate::outbox::POISON_PREFIX;
use crate::outbox::notes::Note;
use crate::outbox::rows::{self, Pending, together};

/// Returns an outbox with a poison entry for each of three tables.
fn poisoned() -> (Outbox<Engine, Engine>, Engine, Arc<AtomicU64>, [TableName; 3]) {
    let (outbox, engine, time) = outbox();
    let tables = ["First", "Second", "Third"].map(|name| TableName::new(name).unwrap());
    for table in &tables {
        block_on(engine.create_table(table)).unwrap();
        record(&outbox, table, "Sales");
    }
    let options = WorkerOptions { poison_after: 1, ..WorkerOptions::default() };
    let worker = Worker::with_options(outbox.clone(), options);
    for _ in 0..3 {
        block_on(worker.run_until_idle()).unwrap();
        time.fetch_add(ticks_of(Duration::from_secs(1_300)), Ordering::SeqCst);
    }
    assert_eq!(block_on(outbox.poison(32)).unwrap().len(), tables.len());
    (outbox, engine, time, tables)
}

#[test]
fn pat_ec_4_poison_of_a_dropped_table_stops_no_requeue() {
    for gone in 0..3 {
        for is_bulk in [true, false] {
            let (outbox, engine, _, tables) = poisoned();
            block_on(engine.delete_table(&tables[gone])).unwrap();
            if is_bulk {
                assert_eq!(block_on(outbox.requeue_poison_if(|_| true)).unwrap(), 3);
            } else {
                while block_on(outbox.requeue_poison()).unwrap().is_some() {}
            }
            assert_eq!(block_on(outbox.poison(32)).unwrap(), []);
            let worker = Worker::new(outbox).handler(Nothing);
            block_on(worker.run_until_idle()).unwrap();
            assert_eq!(worker.metrics().done, 2, "{gone}");
        }
    }
}

#[test]
fn pat_ec_4_an_entry_that_cannot_be_moved_stops_no_other() {
    let mut refused = 0;
    let codes = [ErrorCode::InvalidInput, ErrorCode::UpdateConditionNotSatisfied, ErrorCode::FormatTooNew];
    for (at, code) in (0..12).flat_map(|at| codes.map(|code| (at, code))) {
        for requeues in [true, false] {
            let (outbox, engine, time, _) = poisoned();
            let store = FaultyStore::new(engine.clone());
            let (queue, pace) = (outbox.queue().clone(), outbox.runtime().clone());
            let operator = Outbox::with_runtime(store.clone(), engine, queue, pace);
            let refusal = move || Fault::Before(code);
            store.script(move |_, number| if number == at { refusal() } else { Fault::None });
            let run = async || {
                if requeues {
                    operator.requeue_poison_if(|_| true).await
                } else {
                    operator.discard_poison_if(|_| true).await
                }
            };
            let first = block_on(run());
            store.heal();
            time.fetch_add(ticks_of(Duration::from_secs(61)), Ordering::SeqCst);
            let again = block_on(run()).unwrap();
            match first {
                Ok(moved) => assert_eq!((moved, again), (3, 0), "{at}"),
                Err(error) => {
                    assert_eq!((error.code(), again), (code, 1), "{at}");
                    refused += 1;
                }
            }
            assert_eq!(block_on(outbox.poison(32)).unwrap(), []);
        }
    }
    assert!(refused > 3, "{refused}");
}

/// Makes a poison row pending again without resetting its attempts. This simulates a worker that has died after it wrote the poison entry and before it moved
/// the row.
fn unmove(engine: &Engine, table: &TableName) {
    let partition = PartitionKey::new("Sales").unwrap();
    let limits = engine.capabilities().limits;
    let read = |range| {
        let page = block_on(engine.query(table, &Query::new(range), None)).unwrap();
        page.rows.iter().map(|row| Pending::read(table, row).unwrap()).next().unwrap()
    };
    let aside = read(KeyRange::rows(partition.as_str(), TextRange::prefix(POISON_PREFIX)));
    block_on(engine.submit(table, together(&partition, aside.back().unwrap(), limits).unwrap())).unwrap();
    let note = Note::Failed { error: None, failures: aside.attempts, until: 0, wait: 0 };
    let note = read(rows::range(&partition)).note(note).unwrap();
    block_on(engine.submit(table, together(&partition, [note], limits).unwrap())).unwrap();
}

#[test]
fn pat_ec_4_an_entry_whose_row_is_still_pending_is_requeued_with_its_attempts_reset_or_discarded() {
    for requeues in [true, false] {
        let (outbox, engine, _, tables) = poisoned();
        for table in &tables {
            unmove(&engine, table);
        }
        let moved = if requeues {
            block_on(outbox.requeue_poison_if(|_| true)).unwrap()
        } else {
            block_on(outbox.discard_poison_if(|_| true)).unwrap()
        };
        assert_eq!(moved, 3);
        let left = |table| {
            let query = Query::new(rows::everywhere());
            block_on(engine.query(table, &query, None)).unwrap().rows.len()
        };
        assert_eq!(tables.each_ref().map(left), [usize::from(requeues); 3]);
        let options = WorkerOptions { poison_after: 1, ..WorkerOptions::default() };
        let worker = Worker::with_options(outbox.clone(), options).handler(Nothing);
        block_on(worker.run_until_idle()).unwrap();
        assert_eq!((worker.metrics().done, worker.metrics().poisoned), (if requeues { 3 } else { 0 }, 0));
    }
}

#[test]
fn pat_ec_4_a_second_entry_of_a_requeued_row_neither_resets_nor_discards_the_row() {
    let (outbox, engine, time, tables) = poisoned();
    let entries = block_on(outbox.poison(32)).unwrap();
    assert_eq!(block_on(outbox.requeue_poison_if(|_| true)).unwrap(), 3);
    for entry in entries {
        let queue = outbox.queue().poison().unwrap();
        block_on(engine.put(&queue, PutMessage::new(serde_json::to_string(&entry).unwrap()))).unwrap();
    }
    time.fetch_add(ticks_of(Duration::from_secs(61)), Ordering::SeqCst);
    assert_eq!(block_on(outbox.discard_poison_if(|_| true)).unwrap(), 3);
    let worker = Worker::new(outbox).handler(Nothing);
    block_on(worker.run_until_idle()).unwrap();
    assert_eq!(worker.metrics().done, u64::try_from(tables.len()).unwrap());
}

#[test]
fn pat_ec_4_entries_that_another_operator_has_moved_in_the_meantime_end_no_call() {
    for requeues in [true, false] {
        let (outbox, _, time, _) = poisoned();
        let is_first = std::sync::atomic::AtomicBool::new(true);
        // While this operator decides, the entries become visible again, and another operator moves them.
        let slow = |_: &work::PoisonEntry| {
            if is_first.swap(false, Ordering::SeqCst) {
                time.fetch_add(ticks_of(Duration::from_secs(61)), Ordering::SeqCst);
                assert_eq!(block_on(outbox.requeue_poison_if(|_| true)).unwrap(), 3);
            }
            true
        };
        let ended = if requeues {
            block_on(outbox.requeue_poison_if(slow))
        } else {
            block_on(outbox.discard_poison_if(slow))
        };
        ended.unwrap();
        let worker = Worker::new(outbox.clone()).handler(Nothing);
        block_on(worker.run_until_idle()).unwrap();
        assert_eq!((worker.metrics().done, block_on(outbox.backlog()).unwrap().poison), (3, 0));
    }
}
