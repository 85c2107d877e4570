//! Tests workers whose sleeps end too early, never end, or panic.

use std::sync::atomic::AtomicUsize;

use futures_util::future::ready;

use super::*;

/// Tests threads that are suspended between the start of a sleep and its first poll. The suspension lasts longer than the sleep.
#[test]
fn pat_ec_3_a_sleep_that_has_ended_at_its_first_poll_ends_no_renewal() {
    for suspended in [1, 3] {
        let started = AtomicUsize::new(0);
        let world = World::with_sleeps(move |_, sleep| {
            let is_suspended = started.fetch_add(1, Ordering::SeqCst) < suspended;
            if is_suspended { Box::pin(ready(())) } else { sleep }
        });
        world.assert_no_lease_is_lost(&format!("the first {suspended}"));
    }
    let started = AtomicUsize::new(0);
    let world = World::with_sleeps(move |_, sleep| {
        let is_suspended = started.fetch_add(1, Ordering::SeqCst) % 3 != 2;
        if is_suspended { Box::pin(ready(())) } else { sleep }
    });
    world.assert_no_lease_is_lost("two of three");
}

#[test]
fn pat_ec_3_a_sleep_function_that_was_unusable_is_tried_again_later() {
    let (started, has_threads) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
    let (counted, can_start) = (Arc::clone(&started), Arc::clone(&has_threads));
    let world = World::with_sleeps(move |_, sleep| {
        counted.fetch_add(1, Ordering::SeqCst);
        // A process that cannot start threads sleeps in the calling thread.
        if can_start.load(Ordering::SeqCst) { sleep } else { Box::pin(ready(())) }
    });
    let worker = Worker::new(world.outbox.clone()).handler(Polled);
    for _ in 0..3 {
        record(&world.outbox, &world.table, "p1");
        block_on(worker.run_until_idle()).unwrap();
    }
    assert_eq!((worker.metrics().done, started.load(Ordering::SeqCst)), (3, 4));
    has_threads.store(true, Ordering::SeqCst);
    world.slow.time.0.fetch_add(60 * SECOND, Ordering::SeqCst);
    record(&world.outbox, &world.table, "p1");
    block_on(select(pin!(worker.run_until_idle()), pin!(world.slow.time.clone().run())));
    assert_eq!(worker.metrics().done, 4);
    assert!(started.load(Ordering::SeqCst) > 4, "a minute later, the function is tried again");
}

/// Returns a sleep that fails like the timer of an async runtime that has ended.
fn dead(panics: bool) -> Sleep {
    let mut polls = 0;
    Box::pin(poll_fn(move |_| {
        polls += 1;
        assert!(!panics || polls < 2, "the runtime of this timer has ended");
        Poll::Pending
    }))
}

#[test]
fn pat_ec_3_a_worker_that_outlives_its_async_runtime_extends_later_leases() {
    for (panics, name) in [(true, "a panic"), (false, "a sleep that never ends")] {
        let has_died = AtomicBool::new(false);
        let world = World::with_sleeps(move |length, sleep| {
            let is_last = length > Duration::from_millis(1) && !has_died.swap(true, Ordering::SeqCst);
            if is_last { dead(panics) } else { sleep }
        });
        world.assert_no_lease_is_lost(name);
    }
}

/// Tests that a step runs without a timer if each sleep panics. The worker must not retry the timer forever.
#[test]
fn pat_ec_3_a_sleep_function_that_always_panics_fails_no_step() {
    for panics_at_once in [false, true] {
        let started = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&started);
        let world = World::with_sleeps(move |_, _| {
            counted.fetch_add(1, Ordering::SeqCst);
            assert!(!panics_at_once, "no async runtime is running");
            dead(true)
        });
        record(&world.outbox, &world.table, "p1");
        let worker = Worker::new(world.outbox.clone()).handler(Polled);
        block_on(worker.run_until_idle()).unwrap();
        assert_eq!((worker.metrics().done, worker.metrics().failures), (1, 0));
        let started = started.load(Ordering::SeqCst);
        assert!(started <= 4, "{started} sleeps");
    }
}

/// Tests a sleep function that advances a simulated clock and lets other tasks run.
#[test]
fn pat_ec_3_a_sleep_that_ends_with_its_second_poll_lets_the_step_proceed() {
    let world = World::with_sleeps(|_, _| {
        let mut has_yielded = false;
        Box::pin(poll_fn(move |context| {
            if std::mem::replace(&mut has_yielded, true) {
                return Poll::Ready(());
            }
            context.waker().wake_by_ref();
            Poll::Pending
        }))
    });
    record(&world.outbox, &world.table, "p1");
    let worker = Worker::new(world.outbox.clone()).handler(Polled);
    block_on(worker.run_until_idle()).unwrap();
    assert_eq!(worker.metrics().done, 1);
}
