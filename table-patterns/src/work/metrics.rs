//! A worker's metrics: its counters, and the lag between changes and completed work.

use std::time::Duration;

/// The counters of one worker since its creation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WorkMetrics {
    /// The number of messages that the worker has received.
    pub received: u64,
    /// The number of intents whose steps were all performed.
    pub done: u64,
    /// The number of steps that the worker has performed.
    pub steps: u64,
    /// The number of guarded steps that were skipped, because the same change or a newer one had already been applied.
    pub stale: u64,
    /// The number of retries within attempts, caused by transient errors (PAT-EC-5).
    pub retries: u64,
    /// The number of failed attempts, plus the number of messages that could not be processed. Both are retried later.
    pub failures: u64,
    /// The number of attempts that failed because a store or the target of a handler was unavailable. The [error that a handler
    /// returns](crate::work::Handler#failures-and-outages) determines whether a failure is an outage. Outages do not count towards the poison limit: if a
    /// handler always reports an outage for a message, the message is retried forever. While a target is down, the attempts that the worker postpones
    /// without trying the target are counted too, so the number can grow much faster than the number of calls. Set an alert on this number too.
    pub outages: u64,
    /// The number of times that [`Worker::run`](crate::work::Worker::run) failed to receive messages.
    pub receive_failures: u64,
    /// The number of intents that were left for a newer version of the program. Their attempts do not count towards the poison limit.
    pub left: u64,
    /// The number of intents and messages that were moved to the poison queue.
    pub poisoned: u64,
    /// The number of messages and intents that this worker abandoned because another worker had received or claimed them.
    pub lost: u64,
    /// The time from the change to the completion of the intent that was completed last.
    pub lag: Duration,
    /// The longest time from a change to the completion of its intent.
    pub longest_lag: Duration,
}

impl WorkMetrics {
    /// Counts a completed intent. If the lag is known, also records it.
    pub(crate) fn finish(&mut self, lag: Option<Duration>) {
        self.done += 1;
        if let Some(lag) = lag {
            self.lag = lag;
            self.longest_lag = self.longest_lag.max(lag);
        }
    }
}
