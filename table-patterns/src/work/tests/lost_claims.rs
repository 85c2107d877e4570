//! Tests workers that never receive the response to a claim.

use std::collections::BTreeSet;
use std::sync::Mutex;

use table_core::runtime::ticks_of;

use super::*;

/// A handler that records the changed entity for each call.
#[derive(Clone, Default)]
struct Seen(Arc<Mutex<BTreeSet<String>>>);

impl Handler<Mail> for Seen {
    async fn handle(&self, _: &Mail, call: work::Delivery<'_>) -> Result<()> {
        self.0.lock().unwrap().insert(call.source.as_str().to_owned());
        Ok(())
    }
}

#[test]
fn con_11_no_lost_response_makes_work_poison_that_was_never_tried() {
    // If the request before the lost response is slow, half of the lease passes. The claims are then extended before the first step.
    for (poison_after, is_slow) in [1, 2, 3].into_iter().flat_map(|most| [(most, false), (most, true)]) {
        for lost in 0..20 {
            let at = format!("poison after {poison_after}, request {lost}, slow: {is_slow}");
            let (outbox, engine, time) = outbox();
            let (table, sales) = (TableName::new("Company").unwrap(), PartitionKey::new("Sales").unwrap());
            block_on(engine.create_table(&table)).unwrap();
            for source in 0..3 {
                let source = RowKey::new(source.to_string()).unwrap();
                let intent = Intent::of(source).step(Step::call(&Mail("hello".into())).unwrap());
                let limits = outbox.store().capabilities().limits;
                let mut transaction = Transaction::new(sales.clone(), limits).unwrap();
                outbox.record(&mut transaction, &intent).unwrap();
                block_on(outbox.submit(&table, transaction)).unwrap();
            }
            let store = FaultyStore::new(engine.clone());
            let (timed_out, clock) = (ErrorCode::OperationTimedOut, Arc::clone(&time));
            let half = ticks_of(WorkerOptions::default().lease) / 2;
            store.script(move |_, at| {
                if is_slow && at + 1 == lost {
                    clock.fetch_add(half, Ordering::SeqCst);
                }
                if at == lost { Fault::After(timed_out) } else { Fault::None }
            });
            let (queue, pace) = (outbox.queue().clone(), outbox.runtime().clone());
            let faulty = Outbox::with_runtime(store, engine.clone(), queue, pace);
            let options = WorkerOptions { poison_after, ..WorkerOptions::default() };
            let seen = Seen::default();
            let worker = Worker::with_options(faulty, options).handler(seen.clone());
            for _ in 0..10 {
                block_on(worker.run_until_idle()).unwrap();
                time.fetch_add(36_000_000_000, Ordering::SeqCst);
                block_on(Sweep::new(outbox.clone()).sweep_registered()).unwrap();
            }
            assert_eq!(worker.metrics().poisoned, 0, "{at}: {:?}", worker.metrics());
            let seen = seen.0.lock().unwrap().len();
            let left = block_on(Sweep::new(outbox.clone()).sweep_registered()).unwrap().pending;
            assert_eq!((seen, left), (3, 0), "{at}: {:?}", worker.metrics());
        }
    }
}
