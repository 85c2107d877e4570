//! Renewal: a worker extends its lease while a step runs, so a slow request of a step does not let the lease expire (PAT-EC-3).

use std::future::poll_fn;
use std::pin::pin;
use std::task::{Poll, ready};
use std::time::Duration;

use futures_util::FutureExt;
use table_core::queue::QueueStore;
use table_core::runtime::ticks_of;
use table_core::store::TableStore;

use crate::work::handler::Keep;
use crate::work::worker::Worker;

/// The longest time for which a worker extends the lease of a running step. A step that never ends holds its message no longer.
const LONGEST: Duration = Duration::from_secs(60 * 60);

impl<S: TableStore, Q: QueueStore> Worker<S, Q> {
    /// Runs `work`, and extends the lease whenever half of it has passed. Ignores errors: the next call of [`keep`](Keep::keep) in `work` returns them.
    pub(super) async fn keeping<T: Send>(&self, lease: &dyn Keep, work: impl Future<Output = T> + Send) -> T {
        let next = || self.alarm.next(self.outbox.runtime(), self.options.lease / 4);
        let begun = lease.now();
        let (mut work, mut alarm, mut keeps) = (pin!(work), next(), None);
        let done = poll_fn(|context| {
            if let Poll::Ready(done) = work.as_mut().poll(context) {
                return Poll::Ready(done);
            }
            // An alarm that was set earlier may already have rung. IMPORTANT: the number of tries is limited, because a sleep function may return immediately.
            // The lease is then extended when the work makes progress.
            for _ in 0..3 {
                if keeps.is_none() {
                    ready!(alarm.poll_unpin(context));
                    alarm = next();
                    let is_short = lease.now().saturating_sub(begun) <= ticks_of(LONGEST);
                    keeps = is_short.then(|| lease.keep());
                }
                if let Some(keep) = &mut keeps {
                    let _ = ready!(keep.poll_unpin(context));
                }
                keeps = None;
            }
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
