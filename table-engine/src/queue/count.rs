//! Counts the messages of a queue in portions, so a long queue does not block an executor thread.

use std::future::poll_fn;
use std::ops::ControlFlow;
use std::task::Poll;

use table_store::queue::QueueName;
use table_store::{Result, ticks};

use super::{rows, table_of};
use crate::base::Skipped;
use crate::engine::Engine;

/// The number of rows after which a count yields to the executor.
const PORTION: usize = if cfg!(test) { 3 } else { 10_000 };

impl Engine {
    /// Counts the messages that have not expired. Yields to the executor after each portion of rows.
    pub(super) async fn count_in_portions(&self, queue: &QueueName) -> Result<u64> {
        self.check_busy()?;
        let state = self.inner.state()?;
        let table = self.table_id(&state, &table_of(queue))?;
        let now = self.inner.steady.now();
        let mut span = rows::shown_span(table, state.front(table), ticks::MAX);
        let mut count = 0;
        loop {
            let (mut left, mut last) = (PORTION, None);
            let counted = state.scan_readable(&span, &Skipped::default(), |key, row| {
                if let Some(row) = row
                    && rows::Shown::read(row).is_ok_and(|shown| !shown.is_expired(now))
                {
                    count += 1;
                }
                left -= 1;
                if left > 0 {
                    return Ok(ControlFlow::Continue(()));
                }
                last = Some(key.to_vec());
                Ok(ControlFlow::Break(()))
            });
            self.remember(self.inner.shared.after_read(counted)?);
            let Some(last) = last else { return Ok(count) };
            span.start = [last.as_slice(), &[0]].concat();
            yield_once().await;
        }
    }
}

/// Yields to the executor once.
async fn yield_once() {
    let mut has_yielded = false;
    poll_fn(|context| {
        if std::mem::replace(&mut has_yielded, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
