//! Renewal: a worker extends its lease while a step runs, so a slow request in a step does not let the lease expire (PAT-EC-3).

use std::future::poll_fn;
use std::task::{Poll, ready};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use table_core::queue::QueueStore;
use table_core::runtime::ticks_of;
use table_core::store::TableStore;

use crate::shared_sleep::{SharedSleep, SleepEnd};
use crate::work::handler::Keep;
use crate::work::worker::Worker;

/// The maximum time for which a worker extends the lease of a running step. A step that never ends therefore holds its message for a limited time.
const LONGEST: Duration = Duration::from_secs(60 * 60);
/// The number of sleeps that may panic during one step.
const PANICS: usize = 2;

impl<S: TableStore, Q: QueueStore> Worker<S, Q> {
    /// Runs `work` (a step or a request), and extends the lease whenever half of it has passed. Ignores errors, because the next call of
    /// [`keep`](Keep::keep) in `work` returns them.
    pub(super) async fn keeping<T: Send>(&self, lease: &dyn Keep, work: impl Future<Output = T> + Send) -> T {
        let begun = lease.now();
        let (mut work, mut sleep, mut keeps, mut panics) = (Box::pin(work), None, None, 0);
        let done = poll_fn(|context| {
            if let Poll::Ready(done) = work.as_mut().poll(context) {
                return Poll::Ready(done);
            }
            if keeps.is_none() {
                // The sleep is shorter than half of the lease, because a shared sleep may have been started earlier by another step, or the lease may be half
                // over soon. A sleep may panic because its async runtime has ended. If the next sleep panics as well, the step runs without a timer.
                let next = || self.timer.next(self.outbox.runtime(), self.options.lease / 4);
                let running = sleep.take().or_else(|| (panics < PANICS).then(next).flatten());
                let Some(running) = running else { return Poll::Pending };
                let end = ready!(SharedSleep::poll_unpin(sleep.insert(running), context));
                sleep = None;
                panics += usize::from(end == SleepEnd::Panicked);
                let is_short = lease.now().saturating_sub(begun) <= ticks_of(LONGEST);
                keeps = is_short.then(|| lease.keep());
            }
            if let Some(keep) = &mut keeps {
                let _ = ready!(BoxFuture::poll_unpin(keep, context));
                keeps = None;
            }
            // The work is polled before the next sleep, because that sleep may also end immediately.
            context.waker().wake_by_ref();
            Poll::Pending
        })
        .await;
        // IMPORTANT: the request is not cancelled, because its response contains the next receipt.
        if let Some(keep) = keeps {
            let _ = keep.await;
        }
        done
    }
}
