//! Tests sweeps with a failing request, and sweeps with a wrong clock.

use std::time::Duration;

use table_core::query::Select;
use table_core::runtime::ticks_of;

use super::*;
use crate::outbox::registry;

#[test]
fn pat_ec_8_an_outage_at_any_request_for_a_row_stops_no_sweep_of_other_partitions() {
    let mut failed = 0;
    for at in 2..20 {
        let (outbox, engine, time) = outbox();
        let table = TableName::new("Company").unwrap();
        block_on(engine.create_table(&table)).unwrap();
        for partition in ["a", "b", "c"] {
            record(&outbox, &table, partition);
        }
        block_on(engine.clear(outbox.queue())).unwrap();
        time.fetch_add(6 * 600_000_000, Ordering::SeqCst);
        let store = FaultyStore::new(engine.clone());
        // The first two requests read the registry.
        store.fail_at(at);
        let (queue, pace) = (outbox.queue().clone(), outbox.runtime().clone());
        let report =
            block_on(Sweep::new(Outbox::with_runtime(store, engine, queue, pace)).sweep_registered());
        let report = report.unwrap_or_else(|error| panic!("request {at}: {error}"));
        failed += report.failed;
        assert!(report.prompted + report.failed >= 3 && report.prompted >= 2, "request {at}: {report:?}");
    }
    assert!(failed > 0);
}

/// Tests rows that the store cannot represent. A sweep counts them, and does not mark their partition as quiet.
#[test]
fn pat_ec_8_a_sweep_counts_the_rows_that_pages_omit() {
    for (property, codes) in [("Intent", 1), ("RowKey", 0)] {
        let (outbox, engine, time) = outbox();
        let table = TableName::new("Company").unwrap();
        block_on(engine.create_table(&table)).unwrap();
        record(&outbox, &table, "a");
        block_on(engine.clear(outbox.queue())).unwrap();
        time.fetch_add(24 * 60 * 600_000_000, Ordering::SeqCst);
        let store = FaultyStore::new(engine.clone());
        store.misread((property, ErrorCode::EntityMismatch), |table, _| table.as_str() == "Company");
        let (queue, pace) = (outbox.queue().clone(), outbox.runtime().clone());
        let sweep = Sweep::new(Outbox::with_runtime(store.clone(), engine, queue, pace));
        for report in [block_on(sweep.sweep_registered()), block_on(sweep.sweep_table(&table, 10))] {
            let report = report.unwrap();
            assert_eq!((report.failed, report.errors.len(), report.quiet), (1, codes, 0), "{report:?}");
        }
        store.heal();
        let report = block_on(sweep.sweep_registered()).unwrap();
        assert_eq!((report.failed, report.pending, report.prompted), (0, 1, 1), "{report:?}");
    }
}

#[test]
fn pat_ec_8_a_partition_with_many_due_rows_costs_a_sweep_few_writes_and_messages() {
    let (outbox, engine, time) = outbox();
    let table = TableName::new("Company").unwrap();
    block_on(engine.create_table(&table)).unwrap();
    (0..1_500).for_each(|_| record(&outbox, &table, "a"));
    record(&outbox, &table, "b");
    block_on(engine.clear(outbox.queue())).unwrap();
    time.fetch_add(6 * 600_000_000, Ordering::SeqCst);
    for is_scan in [false, true] {
        let store = FaultyStore::new(engine.clone());
        let (queue, pace) = (outbox.queue().clone(), outbox.runtime().clone());
        let sweep = Sweep::new(Outbox::with_runtime(store.clone(), engine.clone(), queue, pace));
        let report = block_on(async {
            if is_scan { sweep.sweep_table(&table, 10_000).await } else { sweep.sweep_registered().await }
        });
        let report = report.unwrap();
        let prompted = if is_scan { 101 } else { 102 };
        assert_eq!((report.pending, report.prompted, report.failed), (1_501, prompted, 0), "{report:?}");
        let writes = store.calls().into_iter().filter(|call| *call == Call::Submit).count();
        assert!(writes <= 110, "{writes} writes");
    }
    assert_eq!(block_on(outbox.backlog()).unwrap().waiting, 203);
    let worker = Worker::new(outbox.clone()).handler(Nothing);
    block_on(worker.run_until_idle()).unwrap();
    assert_eq!(worker.metrics().done, 1_501, "{:?}", worker.metrics());
    assert_eq!(block_on(outbox.backlog()).unwrap().waiting, 0);
}

#[test]
fn pat_ec_8_a_sweep_whose_clock_is_ahead_marks_only_partitions_as_quiet_that_were_registered_two_hours_ago() {
    let (outbox, engine, time) = outbox();
    let table = TableName::new("Company").unwrap();
    block_on(engine.create_table(&table)).unwrap();
    for partition in ["a", "b", "c"] {
        record(&outbox, &table, partition);
    }
    block_on(Worker::new(outbox.clone()).handler(Nothing).run_until_idle()).unwrap();
    let hours = |hours: u64| ticks_of(Duration::from_secs(hours * 60 * 60));
    let sweep = |ahead: u64| {
        let now = Arc::clone(&time);
        let clock = Clock::new(move || now.load(Ordering::SeqCst) + ahead);
        let pace = Runtime::new().clock(clock).sleep_by(|_| Box::pin(async {}));
        let outbox = Outbox::with_runtime(engine.clone(), engine.clone(), outbox.queue().clone(), pace);
        block_on(Sweep::new(outbox).sweep_registered()).unwrap().quiet
    };
    assert_eq!((sweep(0), sweep(hours(3)), sweep(hours(1_000))), (0, 0, 0));
    time.fetch_add(hours(1), Ordering::SeqCst);
    record(&outbox, &table, "b");
    block_on(Worker::new(outbox.clone()).handler(Nothing).run_until_idle()).unwrap();
    time.fetch_add(hours(1) + ticks_of(Duration::from_secs(60)), Ordering::SeqCst);
    assert_eq!((sweep(hours(3)), sweep(0)), (2, 0));
}

#[test]
fn a_sweep_that_finds_work_in_a_quiet_partition_keeps_the_mark_of_a_concurrent_erasure() {
    for at in 0..12 {
        let (outbox, engine, time) = outbox();
        let (table, sales) = (TableName::new("Company").unwrap(), PartitionKey::new("Sales").unwrap());
        block_on(engine.create_table(&table)).unwrap();
        record(&outbox, &table, "Sales");
        block_on(Worker::new(outbox.clone()).handler(Nothing).run_until_idle()).unwrap();
        let pass = |seconds| time.fetch_add(ticks_of(Duration::from_secs(seconds)), Ordering::SeqCst);
        pass(3 * 60 * 60);
        assert_eq!(block_on(Sweep::new(outbox.clone()).sweep_registered()).unwrap().quiet, 1);
        // A writer relies on its registration and records a step. The message for the step is lost.
        let with_store = |store: FaultyStore<Engine>| {
            let (queue, pace) = (outbox.queue().clone(), outbox.runtime().clone());
            Outbox::with_runtime(store, engine.clone(), queue, pace)
        };
        let pace = outbox.runtime().clone();
        let writer = Outbox::with_runtime(engine.clone(), engine.clone(), outbox.queue().clone(), pace);
        writer.assume_registered_partition(&table, &sales);
        record(&writer, &table, "Sales");
        block_on(engine.clear(outbox.queue())).unwrap();
        pass(6 * 60);
        let store = FaultyStore::new(engine.clone());
        let (other, of, partition_key) = (engine.clone(), table.clone(), sales.clone());
        store.script(move |_, number| {
            if number != at {
                return Fault::None;
            }
            let (other, of, partition_key) = (other.clone(), of.clone(), partition_key.clone());
            Fault::Meanwhile(Box::new(move || {
                assert!(block_on(registry::mark_erased(&other, &of, &partition_key)).unwrap());
            }))
        });
        let report = block_on(Sweep::new(with_store(store.clone())).sweep_registered()).unwrap();
        assert_eq!(report.pending, 1);
        let (registry, key) = (TableName::new(REGISTRY).unwrap(), registry::key_of(&table, &sales).unwrap());
        let entry = block_on(engine.get(&registry, &key, &Select::All)).unwrap().unwrap();
        let is_late = store.calls().len() <= at;
        assert!(is_late || registry::is_erased(entry.row.view()), "an erasure at request {at}");
    }
}
