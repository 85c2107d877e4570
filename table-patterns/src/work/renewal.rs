//! Renewal: a worker extends its lease while a step runs, so a slow request of a step does not let the lease expire (PAT-EC-3).

use std::future::poll_fn;
use std::sync::{Mutex, PoisonError};
use std::task::{Poll, ready};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared};
use table_core::queue::QueueStore;
use table_core::runtime::{Runtime, ticks_of};
use table_core::store::TableStore;

use crate::work::handler::Keep;
use crate::work::worker::Worker;

/// The longest time for which a worker extends the lease of a running step. A step that never ends holds its message no longer.
const LONGEST: Duration = Duration::from_secs(60 * 60);

/// The timer that wakes the running steps of a worker. They share one sleep, because the default sleep function needs a thread.
#[derive(Default)]
pub(super) struct Timer(Mutex<State>);

#[derive(Default)]
enum State {
    #[default]
    Unset,
    Set(Shared<BoxFuture<'static, ()>>),
    /// The sleep function returns immediately, so it measures no time. Simulations have such functions, which advance their clock instead of waiting.
    Immediate,
}

impl Timer {
    /// Returns the end of the current sleep. Starts a sleep if none is running. Returns `None` if the sleep function returns immediately; it is then not
    /// called again.
    fn next(&self, pace: &Runtime, length: Duration) -> Option<Shared<BoxFuture<'static, ()>>> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &*state {
            State::Set(sleep) if sleep.peek().is_none() => return Some(sleep.clone()),
            State::Immediate => return None,
            State::Set(_) | State::Unset => {}
        }
        let pace = pace.clone();
        let sleep = async move { pace.sleep(length).await }.boxed().shared();
        let is_immediate = sleep.clone().now_or_never().is_some();
        *state = if is_immediate { State::Immediate } else { State::Set(sleep.clone()) };
        (!is_immediate).then_some(sleep)
    }
}

impl<S: TableStore, Q: QueueStore> Worker<S, Q> {
    /// Runs `work`, which is a step or a request, and extends the lease whenever half of it has passed. Ignores errors: the next call of
    /// [`keep`](Keep::keep) in `work` returns them.
    pub(super) async fn keeping<T: Send>(&self, lease: &dyn Keep, work: impl Future<Output = T> + Send) -> T {
        let begun = lease.now();
        let (mut work, mut sleep, mut keeps) = (Box::pin(work), None, None);
        let done = poll_fn(|context| {
            if let Poll::Ready(done) = work.as_mut().poll(context) {
                return Poll::Ready(done);
            }
            loop {
                if let Some(keep) = &mut keeps {
                    let _ = ready!(BoxFuture::poll_unpin(keep, context));
                    keeps = None;
                }
                // The sleep is shorter than half of the lease, because another step may have started it long ago, or the lease may be half over soon.
                let next = || self.timer.next(self.outbox.runtime(), self.options.lease / 4);
                let Some(running) = sleep.take().or_else(next) else { return Poll::Pending };
                ready!(sleep.insert(running).poll_unpin(context));
                sleep = None;
                let is_short = lease.now().saturating_sub(begun) <= ticks_of(LONGEST);
                keeps = is_short.then(|| lease.keep());
            }
        })
        .await;
        // IMPORTANT: the request is not cancelled, because its response contains the next receipt.
        if let Some(keep) = keeps {
            let _ = keep.await;
        }
        done
    }
}
