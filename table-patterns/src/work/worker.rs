//! Workers receive messages, perform the steps of the intents, and delete the messages (PAT-EC-1 to PAT-EC-5).

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use table_core::queue::{Lease, QueueStore};
use table_core::runtime::ticks_of;
use table_core::store::TableStore;
use table_core::{Error, ErrorCode, Result};

use crate::failure::Failure;
use crate::outbox::message::Message;
use crate::outbox::record::Outbox;
use crate::outbox::rows::Pending;
use crate::outbox::work::Work;
use crate::work::circuit::{Circuits, Times};
use crate::work::fault::kept;
use crate::work::handler::{Handler, Keep, OfMessage, Take};
use crate::work::lease::{Held, is_lost};
use crate::work::metrics::WorkMetrics;
use crate::work::options::WorkerOptions;
use crate::work::timer::Timer;

/// The maximum delay between failed receive requests, unless the poll interval is longer. It limits the time until the worker notices that a queue is available
/// again.
const LONGEST_RECEIVE_DELAY: Duration = Duration::from_secs(60);
/// The minimum time between two calls of [`Worker::run`]'s `stop` function during a delay.
const SHORTEST_SLICE: Duration = Duration::from_millis(100);

/// A worker that processes the queue of an [`Outbox`]. Any number of workers may share a queue, in any number of processes (PAT-EC-7).
///
/// A worker processes one message at a time, but several intents of this message concurrently. For more concurrency, use more workers. A worker's futures are
/// `Send` and need no particular runtime.
///
/// ```
/// use table_patterns::outbox::Outbox;
/// use table_patterns::work::Worker;
/// use table_patterns::{Engine, QueueName};
///
/// # pollster::block_on(async {
/// let store = Engine::in_memory();
/// let outbox = Outbox::new(store.clone(), store, QueueName::new("work")?);
/// outbox.create_queues().await?;
/// let worker = Worker::new(outbox); // normally with a handler for each message type: see `Handler`
/// worker.run_until_idle().await?;
/// assert_eq!(worker.metrics().received, 0);
/// # Ok::<(), table_patterns::Error>(())
/// # }).unwrap();
/// ```
pub struct Worker<S, Q> {
    pub(crate) outbox: Outbox<S, Q>,
    pub(crate) handlers: HashMap<String, Arc<dyn Take>>,
    pub(crate) options: WorkerOptions,
    pub(super) circuits: Circuits,
    /// The timer that makes the worker extend the leases of its running steps.
    pub(super) timer: Timer,
    receive_error: Mutex<Option<Error>>,
    metrics: Mutex<WorkMetrics>,
}

impl<S: TableStore, Q: QueueStore> Worker<S, Q> {
    /// Creates a worker with the default options and no handlers.
    #[must_use]
    pub fn new(outbox: Outbox<S, Q>) -> Self {
        Self::with_options(outbox, WorkerOptions::default())
    }

    /// Creates a worker with the given options.
    #[must_use]
    pub fn with_options(outbox: Outbox<S, Q>, options: WorkerOptions) -> Self {
        Self {
            outbox,
            handlers: HashMap::new(),
            options,
            circuits: Circuits::default(),
            timer: Timer::default(),
            receive_error: Mutex::default(),
            metrics: Mutex::default(),
        }
    }

    /// Registers the handler for a [message](Message) type. It replaces any earlier handler for this type. If a handler handles several message types, register
    /// it for each of them: `.handler::<Closed>(mail.clone())`.
    ///
    /// A message with a later version waits for a worker that supports this version. If this worker has no handler for a message, the message becomes poison
    /// once its attempts are used up. An unreadable message becomes poison immediately.
    #[must_use]
    pub fn handler<M: Message>(self, handler: impl Handler<M> + 'static) -> Self {
        self.takes(M::NAME.to_owned(), OfMessage::<M, _>::new(handler))
    }

    /// Registers the handler for the steps with the given name.
    pub(crate) fn takes(mut self, name: String, take: impl Take + 'static) -> Self {
        self.handlers.insert(name, Arc::new(take));
        self
    }

    /// Returns the counters of this worker.
    #[must_use]
    pub fn metrics(&self) -> WorkMetrics {
        *self.metrics.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the last error, such as `QueueNotFound`, that prevented [`run`](Self::run) from receiving messages. After such an error, `run` waits and
    /// retries.
    #[must_use]
    pub fn receive_error(&self) -> Option<Error> {
        self.receive_error.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn count(&self, count: impl FnOnce(&mut WorkMetrics)) {
        count(&mut self.metrics.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Receives messages once and processes them. Returns the number of received messages.
    ///
    /// If work fails, this call still succeeds. The failure is counted in the metrics, and the work is retried later.
    ///
    /// # Errors
    /// `InvalidInput` if `sealed_by` was given no keys or a key that is too short; any error from receiving messages, such as `QueueNotFound`.
    pub async fn run_once(&self) -> Result<usize> {
        // Without usable keys, all work would become poison.
        self.outbox.seals().check()?;
        // The clock is read before the call. The worker therefore never overestimates the remaining lease time.
        let now = self.outbox.runtime().now();
        let (queues, queue) = (self.outbox.queues(), self.outbox.queue());
        let leases = queues.receive(queue, self.options.messages_per_receive, self.options.lease).await?;
        let received = leases.len();
        for lease in leases {
            self.count(|metrics| metrics.received += 1);
            self.deliver(lease, now).await;
        }
        Ok(received)
    }

    /// Processes messages until none is visible.
    ///
    /// # Errors
    /// Any error from [`run_once`](Self::run_once).
    pub async fn run_until_idle(&self) -> Result<()> {
        while self.run_once().await? > 0 {}
        Ok(())
    }

    /// Processes messages until `stop` returns `true`, which is checked between receive requests. If the queue is empty, sleeps for `poll_interval`. If a
    /// receive request fails, sleeps for the increasing delays of [`redelivery`](WorkerOptions::redelivery), but no longer than a minute, or `poll_interval` if
    /// that is longer. During a sleep, `stop` is called about once per `poll_interval`, but at most ten times per second.
    pub async fn run(&self, stop: impl Fn() -> bool + Send) {
        let (mut failures, mut wait) = (0, None);
        while !stop() {
            if let Some(left) = wait.take() {
                let slice = self.options.poll_interval.max(SHORTEST_SLICE).min(left);
                self.outbox.runtime().sleep(slice).await;
                wait = Some(left.saturating_sub(slice)).filter(|left| !left.is_zero());
                continue;
            }
            match self.run_once().await {
                Ok(received) => {
                    failures = 0;
                    wait = (received == 0).then_some(self.options.poll_interval);
                }
                Err(error) => {
                    self.count(|metrics| metrics.receive_failures += 1);
                    *self.receive_error.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                    let delay = self.options.redelivery.delay(failures, self.outbox.runtime().random());
                    failures += 1;
                    wait = Some(delay.min(self.options.poll_interval.max(LONGEST_RECEIVE_DELAY)));
                }
            }
        }
    }

    async fn deliver(&self, lease: Lease, received: u64) {
        let message = lease.message.clone();
        let outbox = &self.outbox;
        let place = (outbox.queues(), outbox.queue());
        let held = Held::new(place, outbox.runtime(), self.options.lease, (lease, received));
        if held.extend().await.is_err() {
            // The message waited behind other messages for so long that another worker has received it.
            self.count(|metrics| metrics.lost += 1);
            return;
        }
        let outcome = match self.work(&held, &message).await {
            // An unreadable message will never become readable, so it is poisoned immediately.
            Err(error) if error.code() == ErrorCode::Corrupted => {
                let entry = self.poisoned(message.text.clone(), Some(kept(&error)), message.dequeue_count);
                self.put_aside(&held, &entry).await.map(|()| Outcome::Done)
            }
            outcome => outcome,
        };
        let outcome = match outcome {
            // IMPORTANT: the message is deleted last. If this worker crashes earlier, another worker repeats all the work (PAT-EC-1, PAT-EC-3).
            Ok(Outcome::Done) => held.finish().await,
            Ok(Outcome::Again { delay, text }) => {
                let delay = delay.min(self.longest_wait());
                held.hide(Duration::from_nanos(delay.saturating_mul(100)), text).await
            }
            Err(error) => Err(error),
        };
        match outcome {
            Ok(()) => {}
            Err(error) if is_lost(&error) => self.count(|metrics| metrics.lost += 1),
            Err(_) => {
                self.count(|metrics| metrics.failures += 1);
                let deliveries = Work::read(&message.text)
                    .map_or(message.dequeue_count, |work| work.deliveries(message.dequeue_count));
                let again = deliveries.saturating_sub(1);
                let delay = self.options.redelivery.delay(again, outbox.runtime().random());
                // If this request fails too, the message becomes visible again when its lease expires.
                let _ = held.hide(delay, None).await;
            }
        }
    }

    /// Returns `true` if a row is free at the time `now`. If the row would have to wait longer than any claim or retry delay lasts, its time is ignored: a
    /// worker whose clock was ahead has recorded it.
    pub(super) fn is_due(&self, pending: &Pending, now: u64) -> bool {
        let most = pending.wait.saturating_mul(2).max(self.longest_wait());
        let left = pending.not_before.saturating_sub(now);
        // Some queues report their time in whole seconds. One second of tolerance is therefore needed.
        left <= ticks_of(Duration::from_secs(1)) || left > most
    }

    /// Returns a duration, in ticks, that exceeds any claim or delay of a worker with these options.
    fn longest_wait(&self) -> u64 {
        ticks_of(self.options.lease.max(self.options.redelivery.max)).saturating_mul(2)
    }

    /// Returns the time `now` together with the circuit breakers' delays.
    pub(super) fn times(&self, now: u64) -> Times {
        Times { now, first: ticks_of(self.options.redelivery.initial), longest: self.longest_wait() }
    }

    /// Returns the delay, in ticks, before the next attempt to process an intent after `attempts` attempts.
    pub(super) fn delay_after(&self, attempts: u32) -> u64 {
        let random = self.outbox.runtime().random();
        ticks_of(self.options.redelivery.delay(attempts.saturating_sub(1), random))
    }

    /// Returns the delay, in ticks, before the next attempt to process a row that is left for a newer program. It is twice `wait`, which is the length of the
    /// row's last claim or delay, within the limits of `redelivery`.
    pub(super) fn longer(&self, wait: u64) -> u64 {
        let doubled = wait.saturating_mul(2).max(self.delay_after(1));
        doubled.min(ticks_of(self.options.redelivery.max))
    }

    /// Calls `attempt`, and retries it with backoff after transient errors while the lease is kept.
    pub(crate) async fn retry<T, F>(&self, lease: &dyn Keep, attempt: impl Fn() -> F + Send) -> Result<T>
    where
        F: Future<Output = Result<T>> + Send,
    {
        let mut made = 0;
        loop {
            let error = match attempt().await {
                Err(error) if Failure::is_transient(&error) => error,
                outcome => return outcome,
            };
            made += 1;
            if made >= self.options.step_attempts {
                return Err(error);
            }
            self.count(|metrics| metrics.retries += 1);
            let pace = self.outbox.runtime();
            pace.sleep(self.options.backoff.delay(made - 1, pace.random())).await;
            lease.keep().await?;
        }
    }
}

/// The outcome of processing a delivered message.
pub(crate) enum Outcome {
    /// All work has been done, so the message is deleted.
    Done,
    /// Some work is left. The message becomes visible again after a delay in ticks. If a new text is given, it replaces the message's text.
    Again { delay: u64, text: Option<String> },
}

impl<S, Q> fmt::Debug for Worker<S, Q> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Worker")
            .field("outbox", &self.outbox)
            .field("handlers", &self.handlers.keys())
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}
