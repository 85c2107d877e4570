//! The timer at which a worker extends the leases of its running steps.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared};
use table_core::runtime::Runtime;

/// The length of the first sleep. It shows whether the sleep function returns immediately or blocks the thread, so it is short.
const FIRST: Duration = Duration::from_millis(1);

/// The timer that wakes the running steps of a worker. They share one sleep, because the default sleep function needs a thread.
#[derive(Default)]
pub(super) struct Timer(Mutex<State>);

#[derive(Default)]
enum State {
    #[default]
    Unset,
    Set(Shared<BoxFuture<'static, ()>>),
    /// A sleep has ended with its first poll. Either the sleep function advances a simulated clock instead of waiting, or it blocks the thread. It cannot wake
    /// a running step.
    Unusable,
}

impl Timer {
    /// Returns the end of the current sleep, which may be earlier than `length` from now. Starts a sleep if none is running. Returns `None` if a sleep has ended
    /// with its first poll; the sleep function is then not called again.
    pub(super) fn next(&self, pace: &Runtime, length: Duration) -> Option<Shared<BoxFuture<'static, ()>>> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &*state {
            State::Set(sleep) if sleep.peek().is_none() => return Some(sleep.clone()),
            State::Unusable => return None,
            State::Set(_) | State::Unset => {}
        }
        let length = if matches!(*state, State::Unset) { FIRST } else { length };
        let pace = pace.clone();
        let sleep = async move { pace.sleep(length).await }.boxed().shared();
        let has_ended = sleep.clone().now_or_never().is_some();
        *state = if has_ended { State::Unusable } else { State::Set(sleep.clone()) };
        (!has_ended).then_some(sleep)
    }
}
