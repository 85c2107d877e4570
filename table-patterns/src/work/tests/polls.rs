//! Tests the delays of `Worker::run` after failed receive requests.

use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use super::*;

/// The number of failed receive requests in the first outage.
const FAILURES: usize = 12;

#[test]
fn pat_ec_5_the_delay_after_a_failed_receive_restarts_once_the_queue_has_responded() {
    let engine = Engine::in_memory();
    let queue = QueueName::new("work").unwrap();
    let (sleeps, is_over) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicBool::new(false)));
    let sleep = {
        let (engine, queue) = (engine.clone(), queue.clone());
        let (sleeps, is_over) = (Arc::clone(&sleeps), Arc::clone(&is_over));
        move |delay: Duration| {
            let mut sleeps = sleeps.lock().unwrap();
            sleeps.push(delay);
            // The queue is missing, then exists and is empty for one request, and then is missing again.
            match sleeps.len() {
                FAILURES => drop(block_on(engine.create_queue(&queue)).unwrap()),
                made if made == FAILURES + 1 => block_on(engine.delete_queue(&queue)).unwrap(),
                made if made > FAILURES + 1 => is_over.store(true, Ordering::SeqCst),
                _ => {}
            }
            Box::pin(async {}) as _
        }
    };
    let runtime = Runtime::new().sleep_by(sleep);
    let worker = Worker::new(Outbox::with_runtime(engine.clone(), engine, queue, runtime));
    block_on(worker.run(|| is_over.load(Ordering::SeqCst)));
    let options = WorkerOptions::default();
    let sleeps = sleeps.lock().unwrap();
    assert!(sleeps[FAILURES - 1] > options.redelivery.initial * 2, "{sleeps:?}");
    assert_eq!(sleeps[FAILURES], options.poll_interval);
    assert!(sleeps[FAILURES + 1] <= options.redelivery.initial, "{sleeps:?}");
}
