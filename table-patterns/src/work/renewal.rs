//! Lease renewal: a worker extends its lease while a step runs. Otherwise, the lease could expire during a slow request (PAT-EC-3).

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

/// The running time of a step after which the worker no longer extends the lease. Without this limit, a step that never ends would hold its message forever.
const LONGEST: Duration = Duration::from_secs(60 * 60);
/// The number of panicked sleeps during one step after which the step continues without a timer.
const PANICS: usize = 2;

impl<S: TableStore, Q: QueueStore> Worker<S, Q> {
    /// Runs `work` (a step or a request), and extends the lease whenever half of it has passed. Errors are ignored here, because the next call of
    /// [`keep`](Keep::keep) in `work` returns them.
    pub(super) async fn keeping<T: Send>(&self, lease: &dyn Keep, work: impl Future<Output = T> + Send) -> T {
        let begun = lease.now();
        let (mut work, mut sleep, mut keeps, mut panics) = (Box::pin(work), None, None, 0);
        let done = poll_fn(|context| {
            if let Poll::Ready(done) = work.as_mut().poll(context) {
                return Poll::Ready(done);
            }
            if keeps.is_none() {
                // The sleep is shorter than half of the lease: half of the lease may be over soon, or another step may have started the shared sleep earlier. A
                // sleep may panic because its async runtime has ended. If a second sleep panics, the step continues without a timer.
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
            // The work must be polled before the next sleep starts, because that sleep may also end at once.
            context.waker().wake_by_ref();
            Poll::Pending
        })
        .await;
        // IMPORTANT: the request is not cancelled, because its response contains the next pop receipt.
        if let Some(keep) = keeps {
            let _ = keep.await;
        }
        done
    }
}
