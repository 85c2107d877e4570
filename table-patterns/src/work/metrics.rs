//! Metrics of a worker.

use std::time::Duration;

/// Counts of one worker since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WorkMetrics {
    /// Messages received.
    pub received: u64,
    /// Intents done.
    pub done: u64,
    /// Steps taken.
    pub steps: u64,
    /// Guarded steps passed over, because a newer change, or the same, had been there.
    pub stale: u64,
    /// Attempts made again inside the worker, after a transient fault (PAT-EC-5).
    pub retries: u64,
    /// Attempts that ended with an error, and messages that could not be worked on; both come again.
    pub failures: u64,
    /// Attempts that an outage of a store or a handler ended. They do not count for poison.
    pub outages: u64,
    /// Failures of [`Worker::run`](crate::work::Worker::run) to receive messages.
    pub receive_failures: u64,
    /// Intents that are left to a program of a newer design, as a handler's `LayoutMismatch` says. Their attempts do not count for poison.
    pub left: u64,
    /// Intents and messages put to the poison.
    pub poisoned: u64,
    /// Messages and intents given up because another worker had them by then.
    pub lost: u64,
    /// From a change to the end of its intent, the last one done.
    pub lag: Duration,
    /// The longest of these.
    pub longest_lag: Duration,
}

impl WorkMetrics {
    /// Counts an intent that is done so long after its change.
    pub(crate) fn finish(&mut self, lag: Option<Duration>) {
        self.done += 1;
        if let Some(lag) = lag {
            self.lag = lag;
            self.longest_lag = self.longest_lag.max(lag);
        }
    }
}
