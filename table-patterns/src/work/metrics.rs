//! The metrics of a worker: counters since its creation, and the lag between changes and completed work.

use std::time::Duration;

/// The counters of one worker since its creation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WorkMetrics {
    /// The number of messages received by the worker.
    pub received: u64,
    /// The number of intents whose steps were all performed.
    pub done: u64,
    /// The number of steps performed by the worker.
    pub steps: u64,
    /// The number of guarded steps skipped because the same change or a newer one had already been applied.
    pub stale: u64,
    /// The number of retries within attempts, caused by transient errors (PAT-EC-5).
    pub retries: u64,
    /// The number of failed attempts, plus the number of messages that could not be processed. Failed attempts and unprocessed messages are retried later.
    pub failures: u64,
    /// The number of attempts that failed because a store or a handler's target was unavailable. Outages do not count towards the limit after which a
    /// message is set aside as poison, so set an alert on this number too. The [error that a handler returns](crate::work::Handler#failures-and-outages)
    /// determines whether a failure is an outage, and a message for which a handler always reports an outage is retried forever.
    pub outages: u64,
    /// The number of times that [`Worker::run`](crate::work::Worker::run) failed to receive messages.
    pub receive_failures: u64,
    /// The number of intents left to a program with a newer schema. Their attempts do not count towards the limit after which an intent is set aside as
    /// poison.
    pub left: u64,
    /// The number of intents and messages set aside as poison.
    pub poisoned: u64,
    /// The number of messages and intents abandoned because another worker had received or claimed them.
    pub lost: u64,
    /// The time between a change and the completion of its intent, for the most recently completed intent.
    pub lag: Duration,
    /// The longest time between a change and the completion of its intent.
    pub longest_lag: Duration,
}

impl WorkMetrics {
    /// Counts a completed intent, and records the time since its change.
    pub(crate) fn finish(&mut self, lag: Option<Duration>) {
        self.done += 1;
        if let Some(lag) = lag {
            self.lag = lag;
            self.longest_lag = self.longest_lag.max(lag);
        }
    }
}
