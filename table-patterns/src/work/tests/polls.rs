//! Tests the delays of `Worker::run` after failed receive requests.

use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use super::*;

/// The number of receive requests that fail in the first outage.
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
            // At first, the queue is missing. It then exists and is empty for one request, and is missing again afterwards.
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
    // Each delay is a single sleep, because it is not longer than the poll interval.
    let options = WorkerOptions { poll_interval: Duration::from_secs(3_600), ..WorkerOptions::default() };
    let outbox = Outbox::with_runtime(engine.clone(), engine, queue, runtime);
    let worker = Worker::with_options(outbox, options);
    block_on(worker.run(|| is_over.load(Ordering::SeqCst)));
    let sleeps = sleeps.lock().unwrap();
    assert!(sleeps[FAILURES - 1] > options.redelivery.initial * 2, "{sleeps:?}");
    assert_eq!(sleeps[FAILURES], options.poll_interval);
    assert!(sleeps[FAILURES + 1] <= options.redelivery.initial, "{sleeps:?}");
}

/// Runs a worker whose queue is missing. Returns the number of failed receive requests, and the sleeps between them. The worker is stopped during the sleep
/// that ends after `stop_after`.
fn outage(poll_interval: Duration, stop_after: Duration) -> (u64, Vec<Duration>) {
    let (engine, queue) = (Engine::in_memory(), QueueName::new("work").unwrap());
    let (sleeps, is_over) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicBool::new(false)));
    let sleep = {
        let (sleeps, is_over) = (Arc::clone(&sleeps), Arc::clone(&is_over));
        move |delay: Duration| {
            let mut sleeps = sleeps.lock().unwrap();
            sleeps.push(delay);
            is_over.store(sleeps.iter().sum::<Duration>() >= stop_after, Ordering::SeqCst);
            Box::pin(async {}) as _
        }
    };
    let outbox = Outbox::with_runtime(engine.clone(), engine, queue, Runtime::new().sleep_by(sleep));
    let worker = Worker::with_options(outbox, WorkerOptions { poll_interval, ..WorkerOptions::default() });
    block_on(worker.run(|| is_over.load(Ordering::SeqCst)));
    let sleeps = sleeps.lock().unwrap().clone();
    (worker.metrics().receive_failures, sleeps)
}

#[test]
fn pat_ec_5_a_worker_whose_queue_is_unavailable_stops_within_a_poll_interval() {
    let hour = Duration::from_secs(3_600);
    for (poll_interval, longest) in [(1_000, 1_000), (10, 100), (0, 100)].map(|of| {
        let (interval, longest) = of;
        (Duration::from_millis(interval), Duration::from_millis(longest))
    }) {
        let (failures, sleeps) = outage(poll_interval, hour);
        assert_eq!(sleeps.iter().max(), Some(&longest), "{poll_interval:?}");
        // A queue that is available again is read within a minute.
        assert!((60..=130).contains(&failures), "{poll_interval:?}: {failures} requests in an hour");
        assert!(sleeps.iter().sum::<Duration>() < hour + longest, "{poll_interval:?}");
    }
    // A worker that polls rarely does not poll more often during an outage.
    let (failures, sleeps) = outage(hour, hour * 20);
    assert!(failures < 300 && sleeps.iter().max() <= Some(&(hour / 6)), "{failures} requests: {sleeps:?}");
}
