//! Helpers for tests of two concurrent programs. An older program writes continuously, or one of its writes is interleaved with a backfill.

use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use table_core::Result;
use tests::faults::Control;
use tests::time::Time;

/// A duration slightly longer than an hour. Afterwards, no earlier request of an older program can still take effect.
pub(super) const HOUR: Duration = Duration::from_secs(3_601);

/// A process that a test advances one store call at a time.
pub(super) type Process<T> = Pin<Box<dyn Future<Output = T>>>;

/// Checks that a write succeeded, or failed only because of a concurrent write. If the newer program's declaration causes an error, the test fails.
pub(super) fn raced<T>(outcome: Result<T>) {
    if let Err(error) = outcome {
        assert!(error.is_not_found() || error.is_conflict() || error.rule() == Some("CON-3"), "{error}");
    }
}

/// Stops the thread of the older program when it is dropped, even if the newer program panics.
struct Ending<'a>(&'a AtomicBool);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Runs both programs concurrently for at least `rounds` rounds each. Three seconds pass after each round of the older program.
pub(super) fn under_load(time: &Time, rounds: u32, older: impl Fn(u32) + Sync, newer: impl Fn(u32)) {
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            for round in 0_u32.. {
                older(round);
                time.pass(Duration::from_secs(3));
                if round > rounds && is_over.load(Ordering::Relaxed) {
                    break;
                }
            }
        });
        let _ending = Ending(&is_over);
        (0..rounds).for_each(newer);
    });
}

/// Makes the first `of_backfill` store calls of a backfill and the first `of_write` calls of a write. Then completes both. Returns the result of the write.
pub(super) fn interleave<T>(
    (builder, mut built, of_backfill): (&Control, Process<()>, usize),
    (writer, mut written, of_write): (&Control, Process<T>, usize),
) -> T {
    let is_built = (0..of_backfill).any(|_| builder.step(&mut built).is_some());
    let outcome = (0..of_write).find_map(|_| writer.step(&mut written));
    if !is_built {
        while builder.step(&mut built).is_none() {}
    }
    outcome.unwrap_or_else(|| {
        loop {
            if let Some(outcome) = writer.step(&mut written) {
                return outcome;
            }
        }
    })
}
