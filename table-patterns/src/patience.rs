//! Bounded waits for a turn within one process: the task that holds the turn may never be polled again.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Either, Shared, select};
use table_core::runtime::Runtime;

/// The turns that a queue has given, and the common time-out of all waiting tasks.
#[derive(Debug, Default)]
pub(crate) struct Patience {
    given: AtomicU64,
    /// The time-out, and the number of turns given before.
    alarm: Mutex<Option<(Shared<BoxFuture<'static, ()>>, u64)>>,
}

impl Patience {
    /// Counts a turn.
    pub(crate) fn count(&self) {
        self.given.fetch_add(1, Ordering::Relaxed);
    }

    /// Waits for a turn; `None` if no task got one for this time.
    pub(crate) async fn wait<T>(
        &self,
        turn: impl Future<Output = T> + Unpin,
        (pace, most): (&Runtime, Duration),
    ) -> Option<T> {
        let mut turn = turn;
        loop {
            let (alarm, before) = self.alarm(pace, most);
            match select(turn, alarm).await {
                Either::Left((turn, _)) => return Some(turn),
                Either::Right(_) if self.given.load(Ordering::Relaxed) == before => return None,
                Either::Right(((), waiting)) => turn = waiting,
            }
        }
    }

    /// Returns the common time-out. A single one is used because the default sleep function needs a thread.
    fn alarm(&self, pace: &Runtime, most: Duration) -> (Shared<BoxFuture<'static, ()>>, u64) {
        let mut alarm = self.alarm.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(set) = alarm.as_ref().filter(|(alarm, _)| alarm.peek().is_none()) {
            return set.clone();
        }
        let pace = pace.clone();
        let sleep = async move { pace.sleep(most).await };
        let set = (sleep.boxed().shared(), self.given.load(Ordering::Relaxed));
        *alarm = Some(set.clone());
        set
    }
}
