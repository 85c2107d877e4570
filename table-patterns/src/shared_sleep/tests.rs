//! Tests the ways in which a sleep that several tasks share can end.

use std::future::{pending, poll_fn};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use table_core::Clock;

use super::*;
use crate::bounded_wait::StallDetector;

const SECOND: u64 = 10_000_000;

/// Returns a runtime whose sleeps never end, and the time of its clock.
fn stuck() -> (Runtime, Arc<AtomicU64>) {
    let time = Arc::new(AtomicU64::new(639_307_584_000_000_000));
    let clock = Arc::clone(&time);
    let clock = Clock::new(move || clock.load(Ordering::SeqCst));
    (Runtime::new().clock(clock).sleep_by(|_| pending().boxed()), time)
}

#[test]
fn a_sleep_that_never_ends_counts_as_ended_once_its_length_has_passed_twice() {
    for (length, ends_after) in [(1, 1_001), (1_000, 2_000), (7_500, 15_000)] {
        let (runtime, time) = stuck();
        let mut sleep = SharedSleep::start(&runtime, Duration::from_millis(length));
        time.fetch_add(ends_after * SECOND / 1_000, Ordering::SeqCst);
        assert!(!sleep.has_ended() && (&mut sleep).now_or_never().is_none(), "{length}");
        time.fetch_add(1, Ordering::SeqCst);
        assert!(sleep.has_ended(), "{length}");
        assert_eq!(sleep.now_or_never(), Some(SleepEnd::Passed), "{length}");
    }
    // A clock that was set back does not extend the sleep.
    let (runtime, time) = stuck();
    let sleep = SharedSleep::start(&runtime, Duration::from_secs(60));
    time.fetch_sub(1, Ordering::SeqCst);
    assert!(sleep.has_ended());
}

/// Tests that all clones end if the sleep function panics, whichever of them is polled at that time.
#[test]
fn a_panic_of_the_sleep_function_ends_all_clones() {
    let mut polls = 0;
    let runtime = Runtime::new().sleep_by(move |_| {
        poll_fn(move |_| {
            polls += 1;
            assert!(polls < 2, "the runtime of this timer has ended");
            Poll::Pending
        })
        .boxed()
    });
    let sleep = SharedSleep::start(&runtime, Duration::from_secs(1));
    assert_eq!(sleep.clone().now_or_never(), None);
    assert!(!sleep.has_ended());
    assert_eq!(sleep.clone().now_or_never(), Some(SleepEnd::Panicked));
    assert!(sleep.has_ended());
    assert_eq!(sleep.now_or_never(), Some(SleepEnd::Panicked));
}

/// Tests a queue whose tasks share a timeout. The async runtime in which the timeout was set has ended.
#[test]
fn a_stalled_queue_is_detected_after_the_runtime_of_its_alarm_has_ended() {
    let started = AtomicU64::new(0);
    let runtime = Runtime::new().sleep_by(move |_| {
        let is_first = started.fetch_add(1, Ordering::SeqCst) == 0;
        let mut polls = 0;
        poll_fn(move |_| {
            polls += 1;
            assert!(!is_first || polls < 2, "the runtime of this timer has ended");
            if is_first { Poll::Pending } else { Poll::Ready(()) }
        })
        .boxed()
    });
    let detector = StallDetector::default();
    let wait = || detector.wait(pending::<()>(), (&runtime, Duration::from_secs(5)));
    assert_eq!(wait().now_or_never(), None, "the first alarm is set");
    assert_eq!(wait().now_or_never(), Some(None));
}
