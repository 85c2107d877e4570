use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use pollster::block_on;
use table_core::clock::Clock;

use super::*;

const SECOND: u64 = 10_000_000;

/// Returns the total time, in seconds, spent waiting for 100 batches of 10 items at 100 items per second. The time is read from `clock`.
fn waited(clock: impl Fn(u64) -> u64 + Send + Sync + 'static) -> u64 {
    let time = Arc::new(AtomicU64::new(1_000 * 86_400 * SECOND));
    let (shown, slept) = (Arc::clone(&time), Arc::clone(&time));
    let began = time.load(Ordering::SeqCst);
    let runtime = Runtime::new().clock(Clock::new(move || clock(shown.load(Ordering::SeqCst)))).sleep_by(
        move |length| {
            slept.fetch_add(ticks_of(length), Ordering::SeqCst);
            Box::pin(async {})
        },
    );
    let mut pacer = Pacer::new(runtime, NonZeroU32::new(100));
    for _ in 0..100 {
        block_on(pacer.items(10));
    }
    (time.load(Ordering::SeqCst) - began) / SECOND
}

#[test]
fn a_rate_is_kept_if_the_clock_runs_stops_or_goes_back() {
    let day = 86_400 * SECOND;
    let readings = AtomicU64::new(0);
    assert_eq!(waited(|time| time), 10);
    assert_eq!(waited(|_| 7), 10);
    assert_eq!(waited(move |time| time - readings.fetch_add(1, Ordering::SeqCst) * day), 10);
}
