//! Tests programs that cannot read the keys of an outbox for a while, for example because a signature has expired.

use super::*;
use crate::outbox::seal;

/// Creates an outbox with the same queue on a store that injects faults into the original store. Returns both.
fn faulty(outbox: &Outbox<Engine, Engine>) -> (Outbox<FaultyStore<Engine>, Engine>, FaultyStore<Engine>) {
    let store = FaultyStore::new(outbox.store().clone());
    let queue = outbox.queue().clone();
    (Outbox::with_runtime(store.clone(), outbox.queues().clone(), queue, outbox.runtime().clone()), store)
}

fn submit(outbox: &Outbox<FaultyStore<Engine>, Engine>, table: &TableName) -> Result<()> {
    let partition = PartitionKey::new("Sales").unwrap();
    let mut transaction = Transaction::new(partition, outbox.store().capabilities().limits).unwrap();
    let intent = Intent::of(RowKey::new("1").unwrap()).step(Step::call(&Mail("hello".into())).unwrap());
    outbox.record(&mut transaction, &intent).unwrap();
    block_on(outbox.submit(table, transaction)).map(drop)
}

#[test]
fn pat_ec_4_a_program_that_is_refused_the_keys_records_no_intent_without_a_seal() {
    for code in [ErrorCode::AuthenticationFailed, ErrorCode::AuthorizationFailure] {
        for has_keys in [false, true] {
            for at in 0..8 {
                let (outbox, engine, _) = outbox();
                let table = TableName::new("Company").unwrap();
                block_on(engine.create_table(&table)).unwrap();
                if has_keys {
                    record(&outbox, &table, "Sales");
                }
                let (program, store) = faulty(&outbox);
                store.script(move |_, number| if number == at { Fault::Before(code) } else { Fault::None });
                let first = submit(&program, &table);
                assert!(first.as_ref().err().is_none_or(|error| error.code() == code), "{first:?}");
                store.heal();
                submit(&program, &table).unwrap();
                let worker = Worker::new(outbox.clone()).handler(Nothing);
                block_on(worker.run_until_idle()).unwrap();
                let recorded = u64::from(has_keys) + u64::from(first.is_ok()) + 1;
                let metrics = worker.metrics();
                assert_eq!((metrics.done, metrics.poisoned), (recorded, 0), "request {at}: {metrics:?}");
            }
        }
    }
}

#[test]
fn pat_ec_4_a_message_with_an_unknown_key_does_not_make_a_program_forget_its_keys() {
    let (outbox, engine, _) = outbox();
    let table = TableName::new("Company").unwrap();
    block_on(engine.create_table(&table)).unwrap();
    let (program, store) = faulty(&outbox);
    submit(&program, &table).unwrap();
    // The store denies access to the keys while an intent with an unknown key is checked.
    let sales = PartitionKey::new("Sales").unwrap();
    store.script(|_, _| Fault::Before(ErrorCode::AuthenticationFailed));
    let place = seal::Place { table: &table, partition_key: &sales, row_key: "1" };
    let is_genuine = program.seals().is_genuine(&store, place, (b"{}", Some("00000000.AAAA")));
    assert!(!block_on(is_genuine).unwrap());
    store.heal();
    submit(&program, &table).unwrap();
    let worker = Worker::new(outbox).handler(Nothing);
    block_on(worker.run_until_idle()).unwrap();
    assert_eq!((worker.metrics().done, worker.metrics().poisoned), (2, 0), "{:?}", worker.metrics());
}

#[test]
fn pat_ec_5_an_intent_does_not_become_poison_while_the_keys_cannot_be_read() {
    for code in [ErrorCode::ServerBusy, ErrorCode::OperationTimedOut, ErrorCode::AuthorizationFailure] {
        let (outbox, engine, time) = outbox();
        let table = TableName::new("Company").unwrap();
        block_on(engine.create_table(&table)).unwrap();
        record(&outbox, &table, "Sales");
        for _ in 0..20 {
            // A worker in a new process has not read the keys yet. Its first query reads the rows, and the others read the keys.
            let (program, store) = faulty(&outbox);
            let mut queries = 0;
            store.script(move |call, _| {
                queries += u32::from(call == Call::Query);
                if call == Call::Query && queries > 1 { Fault::Before(code) } else { Fault::None }
            });
            let worker = Worker::new(program).handler(Nothing);
            block_on(worker.run_until_idle()).unwrap();
            assert_eq!((worker.metrics().outages, worker.metrics().failures), (1, 0), "{code:?}");
            time.fetch_add(20 * 600_000_000, Ordering::SeqCst);
        }
        assert_eq!(block_on(outbox.backlog()).unwrap().poison, 0, "{code:?}");
        let worker = Worker::new(faulty(&outbox).0).handler(Nothing);
        block_on(worker.run_until_idle()).unwrap();
        assert_eq!(worker.metrics().done, 1, "{code:?}");
    }
}
