use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};

use pollster::block_on;
use table_core::{Error, ErrorCode};

use super::*;

thread_local! {
    static POLLS: Cell<usize> = const { Cell::new(0) };
}

/// Returns `number` and counts the calls. Fails for number 1.
async fn turn(number: usize) -> Result<usize> {
    POLLS.set(POLLS.get() + 1);
    if number == 1 { Err(Error::new(ErrorCode::InvalidInput, "the second")) } else { Ok(number) }
}

#[test]
fn results_are_in_order_and_an_error_ends_the_reads() {
    assert_eq!(block_on(in_order([0, 2, 3].map(turn), 2)).unwrap(), [0, 2, 3]);
    POLLS.set(0);
    assert_eq!(block_on(in_order((0..20).map(turn), 2)).unwrap_err().code(), ErrorCode::InvalidInput);
    assert!(POLLS.get() < 20, "{} were asked", POLLS.get());
}

#[test]
fn pending_reads_run_concurrently_and_return_in_order() {
    let (now, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
    // The first four reads complete immediately.
    let reads = (0..20).map(async |number: usize| {
        most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        for _ in 0..if number < 4 { 0 } else { 2 + number % 3 } {
            later().await;
        }
        now.fetch_sub(1, Ordering::SeqCst);
        Ok(number)
    });
    assert!(block_on(in_order(reads, 3)).unwrap().into_iter().eq(0..20));
    assert_eq!(most.load(Ordering::SeqCst), 3);
}

/// Completes when it is polled for the second time.
async fn later() {
    let mut polled = false;
    poll_fn(|context| {
        if std::mem::replace(&mut polled, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

#[test]
fn an_error_of_one_write_cancels_no_other() {
    let done = AtomicUsize::new(0);
    let writes = (0..20).map(async |number| {
        let written = turn(number).await;
        done.fetch_add(1, Ordering::SeqCst);
        written
    });
    assert_eq!(block_on(all_done(writes, 2)).unwrap_err().code(), ErrorCode::InvalidInput);
    assert_eq!(done.into_inner(), 20);
}
