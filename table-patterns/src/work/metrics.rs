//! Metrics of a worker.

use std::time::Duration;

/// The counters of one worker since its creation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WorkMetrics {
    /// Messages received.
    pub received: u64,
    /// Intents done.
    pub done: u64,
    /// Steps performed.
    pub steps: u64,
    /// Guarded steps that were skipped, because the same or a newer change had been applied.
    pub stale: u64,
    /// Retries within an attempt, after a transient error (PAT-EC-5).
    pub retries: u64,
    /// Attempts that failed, and messages that could not be processed; both are repeated later.
    pub failures: u64,
    /// Attempts that failed because of an outage of a store or a handler. They do not count for poison.
    pub outages: u64,
    /// Failures of [`Worker::run`](crate::work::Worker::run) to receive messages.
    pub receive_failures: u64,
    /// Intents that are left to a program with a newer schema. Their attempts do not count for poison.
    pub left: u64,
    /// Intents and messages set aside as poison.
    pub poisoned: u64,
    /// Messages and intents abandoned because another worker had received or claimed them.
    pub lost: u64,
    /// The time from a change to the completion of its intent, for the last completed intent.
    pub lag: Duration,
    /// The longest such time.
    pub longest_lag: Duration,
}

impl WorkMetrics {
    /// Counts a completed intent with the time since its change.
    pub(crate) fn finish(&mut self, lag: Option<Duration>) {
        self.done += 1;
        if let Some(lag) = lag {
            self.lag = lag;
            self.longest_lag = self.longest_lag.max(lag);
        }
    }
}
