//! The timer at which a worker extends the leases of its running steps.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared};
use table_core::runtime::Runtime;

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
    pub(super) fn next(&self, pace: &Runtime, length: Duration) -> Option<Shared<BoxFuture<'static, ()>>> {
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
