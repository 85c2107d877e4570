//! The options of a worker.

use std::time::Duration;

use table_core::runtime::Backoff;

use crate::requests::CONCURRENCY;

/// The options of a worker.
///
/// ```
/// use std::time::Duration;
/// use table_patterns::work::WorkerOptions;
///
/// let options = WorkerOptions { lease: Duration::from_secs(60), poison_after: 10, ..WorkerOptions::default() };
/// assert_eq!(options.poison_after, 10);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct WorkerOptions {
    /// The visibility timeout of a message, in whole seconds (QUE-21). It is set when the message is received, and again whenever the lease is extended. The
    /// lease is extended while the work runs.
    pub lease: Duration,
    /// The number of messages per receive request, 1 to 32.
    pub messages_per_receive: usize,
    /// The number of intents of one message that are processed concurrently. With a concurrency of 1, each intent starts after the previous one has ended. If
    /// several intents for one changed entity are claimed together, they run in change order. A retried intent always runs alone.
    pub concurrency: usize,
    /// The number of attempts to process an intent before it becomes poison (PAT-EC-4). Permanent failures count, and so do successive attempts that were
    /// started but whose outcome was never recorded, because the worker or the store failed during the attempt. As soon as a worker records an outcome, these
    /// attempts no longer count. Message deliveries and outages do not count. With a limit of 1, an intent can become poison before its first step: if the
    /// response to its claim is lost and the store remains unavailable until the delivery ends.
    pub poison_after: u32,
    /// The maximum number of times that a step is tried within one attempt. Only transient errors are retried within an attempt (PAT-EC-5).
    pub step_attempts: u32,
    /// The delays between tries of a step within one attempt.
    pub backoff: Backoff,
    /// The delays between attempts, and between deliveries of a message that could not be processed. They also apply after failed receive requests, but with a
    /// maximum of one minute.
    pub redelivery: Backoff,
    /// The delay between receive requests of [`Worker::run`](crate::work::Worker::run) when the queue is empty.
    pub poll_interval: Duration,
}

impl Default for WorkerOptions {
    fn default() -> Self {
        Self {
            lease: Duration::from_secs(30),
            messages_per_receive: 8,
            concurrency: CONCURRENCY,
            poison_after: 5,
            step_attempts: 4,
            backoff: Backoff { initial: Duration::from_millis(100), max: Duration::from_secs(2) },
            redelivery: Backoff { initial: Duration::from_secs(2), max: Duration::from_secs(10 * 60) },
            poll_interval: Duration::from_secs(1),
        }
    }
}
