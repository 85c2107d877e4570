//! A sleep that several tasks share. A waiting task then needs no timer of its own.
//!
//! A sleep may outlive the task and the async runtime that started it. The runtime's timer then panics, or never fires.

use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared};
use table_core::runtime::{Runtime, ticks_of};

/// The minimum time after its scheduled end at which an overdue sleep counts as ended.
const GRACE: Duration = Duration::from_secs(1);

/// The reason for the end of a sleep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SleepEnd {
    /// The time has passed, according to the sleep function or the clock.
    Passed,
    /// The sleep function has panicked.
    Panicked,
}

/// A sleep that its clones share. They all end together. It ends early if the sleep function panics. The sleep function may also never wake it, for example
/// because its async runtime is suspended. The sleep then ends at the first poll after twice its length, but no earlier than [`GRACE`] after its scheduled end.
#[derive(Clone, Debug)]
pub(crate) struct SharedSleep {
    end: Shared<BoxFuture<'static, SleepEnd>>,
    runtime: Runtime,
    /// The time in ticks at which the sleep was started.
    begun: u64,
    length: Duration,
}

impl SharedSleep {
    pub(crate) fn start(runtime: &Runtime, length: Duration) -> Self {
        let sleeping = runtime.clone();
        let sleep = AssertUnwindSafe(async move { sleeping.sleep(length).await }).catch_unwind();
        let end = sleep.map(|slept| if slept.is_ok() { SleepEnd::Passed } else { SleepEnd::Panicked });
        Self { end: end.boxed().shared(), runtime: runtime.clone(), begun: runtime.now(), length }
    }

    /// Returns `true` if the sleep is known to have ended.
    pub(crate) fn has_ended(&self) -> bool {
        self.end.peek().is_some() || self.is_overdue()
    }

    /// Returns `true` if the sleep is overdue, or if the clock was set back to a time before its start.
    fn is_overdue(&self) -> bool {
        let most = ticks_of(self.length.saturating_add(self.length.max(GRACE)));
        self.runtime.now().checked_sub(self.begun).is_none_or(|passed| passed > most)
    }
}

impl Future for SharedSleep {
    type Output = SleepEnd;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<SleepEnd> {
        match self.end.poll_unpin(context) {
            Poll::Pending if self.is_overdue() => Poll::Ready(SleepEnd::Passed),
            polled => polled,
        }
    }
}

#[cfg(test)]
mod tests;
