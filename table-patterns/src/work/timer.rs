//! The timer that makes a worker extend the leases of its running steps.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use futures_util::FutureExt;
use table_core::runtime::{Runtime, ticks_of};

use crate::shared_sleep::SharedSleep;

/// The length of the first sleep. It is short because it only tests whether the sleep function returns immediately or blocks the thread.
const FIRST: Duration = Duration::from_millis(1);
/// The number of consecutive sleeps that must end on their first poll before the sleep function counts as unusable. A single sleep may do so because the
/// polling thread was suspended.
const ATTEMPTS: usize = 4;
/// The delay before an unusable sleep function is tried again.
const UNUSABLE: Duration = Duration::from_secs(60);

/// The timer that wakes a worker's running steps. All steps share one sleep.
#[derive(Default)]
pub(super) struct Timer(Mutex<State>);

#[derive(Default)]
enum State {
    #[default]
    Unset,
    Set(SharedSleep),
    /// The sleep function cannot wake a running step: it advances a simulated clock instead of sleeping, blocks the thread, or panics. Several consecutive
    /// sleeps ended on their first poll, the last of them at the given time in ticks.
    Unusable(u64),
}

impl Timer {
    /// Returns the running sleep, which may end in less than `length`. If none is running, starts one. Returns `None` if several consecutive sleeps have ended
    /// on their first poll. The sleep function is then not called again for a minute.
    pub(super) fn next(&self, pace: &Runtime, length: Duration) -> Option<SharedSleep> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut length = match &*state {
            State::Set(sleep) if !sleep.has_ended() => return Some(sleep.clone()),
            State::Set(_) => length,
            State::Unusable(since) if pace.now().abs_diff(*since) < ticks_of(UNUSABLE) => return None,
            State::Unset | State::Unusable(_) => FIRST,
        };
        for _ in 0..ATTEMPTS {
            let sleep = SharedSleep::start(pace, length);
            if sleep.clone().now_or_never().is_none() {
                *state = State::Set(sleep.clone());
                return Some(sleep);
            }
            length = FIRST;
        }
        *state = State::Unusable(pace.now());
        None
    }
}
