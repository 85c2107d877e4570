//! Tests of sweeps during which a request fails.

use super::*;

#[test]
fn pat_ec_8_an_outage_at_any_request_for_a_row_stops_no_sweep_of_other_partitions() {
    let mut failed = 0;
    for at in 1..20 {
        let (outbox, engine, time) = outbox();
        let table = TableName::new("Company").unwrap();
        block_on(engine.create_table(&table)).unwrap();
        for partition in ["a", "b", "c"] {
            record(&outbox, &table, partition);
        }
        block_on(engine.clear(outbox.queue())).unwrap();
        time.fetch_add(6 * 600_000_000, Ordering::SeqCst);
        let store = FaultyStore::new(engine.clone());
        // The first request reads the registry.
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
