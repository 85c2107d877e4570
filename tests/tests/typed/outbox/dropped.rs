//! Tests handlers that drop the future of `Delivery::keep`. They drop it before any of its requests, or between the effect of a request and its response.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::FutureExt;
use pollster::block_on;
use table_core::Result;
use table_patterns::work::{Delivery, Handler};
use tests::faults::Control;
use tests::time::Time;

use crate::outbox::claims::{Named, record, sales};
use crate::outbox::company::{Company, employees};

/// A handler that extends its lease in the first call.
#[derive(Clone)]
struct Impatient {
    time: Time,
    /// The number of times the future is polled before it is dropped.
    polls: usize,
    /// The number of later calls of `keep` in the same attempt. Each is made when most of the lease has passed.
    repeats: usize,
    calls: Arc<AtomicUsize>,
}

impl Handler<Named> for Impatient {
    async fn handle(&self, _: &Named, delivery: Delivery<'_>) -> Result<()> {
        if self.calls.fetch_add(1, Ordering::SeqCst) > 0 {
            return Ok(());
        }
        self.time.pass(Duration::from_secs(20));
        {
            let mut keep = pin!(delivery.keep());
            for _ in 0..self.polls {
                if keep.as_mut().now_or_never().is_some() {
                    break;
                }
            }
        }
        for _ in 0..self.repeats {
            self.time.pass(Duration::from_secs(20));
            delivery.keep().await?;
        }
        Ok(())
    }
}

#[test]
fn pat_ec_7_a_dropped_extension_of_a_lease_loses_neither_the_message_nor_the_claims() {
    const ROWS: usize = 3;
    for (polls, repeats) in (0..8).flat_map(|polls| (0..3).map(move |repeats| (polls, repeats))) {
        let company = Company::new();
        record(&company, (0..ROWS).map(|row| row.to_string()));
        let alive = company.outbox(&Control::default());
        block_on(alive.notify(&employees(), &sales())).unwrap();
        let control = Control::default().stepped().answering_late();
        let calls = Arc::new(AtomicUsize::new(0));
        let handler = Impatient { time: company.time(), polls, repeats, calls: Arc::clone(&calls) };
        let worker = company.worker(&control).handler(handler);
        for _ in 0..3 {
            block_on(worker.run_until_idle()).unwrap();
            company.pass(Duration::from_secs(3_600));
        }
        let metrics = worker.metrics();
        assert_eq!(
            (metrics.done, metrics.lost, metrics.failures, metrics.outages, calls.load(Ordering::SeqCst)),
            (ROWS as u64, 0, 0, 0, ROWS),
            "{polls} polls, {repeats} repeats: {metrics:?}"
        );
        assert_eq!(block_on(alive.backlog()).unwrap().waiting, 0);
    }
}
