//! A worker's lease on a message. The worker extends the lease while it performs the work, and stops if the lease is lost (PAT-EC-3, QUE-21).
//!
//! Each response from the queue contains the queue's time, which is the same for all workers. Claims and delays are recorded in queue time. The process's own
//! clock only measures the time since the last response.

use std::panic::{AssertUnwindSafe, resume_unwind};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use futures_util::lock;
use table_core::queue::{Lease, QueueName, QueueStore};
use table_core::runtime::{Runtime, ticks_of};
use table_core::{Error, ErrorCode, Result, ticks};

use crate::work::handler::Keep;

/// A message received and leased by this worker.
pub(crate) struct Held<'a, Q> {
    pub(crate) queues: &'a Q,
    pub(crate) queue: &'a QueueName,
    pub(crate) pace: &'a Runtime,
    /// The visibility timeout set by each extension of the lease.
    pub(crate) hidden: Duration,
    answer: Mutex<Answer>,
    /// The lock for changing the lease. It contains the request in flight. Without the lock, two tasks could use the same pop receipt, and the second one would
    /// fail.
    ///
    /// The request is kept even if the task that sent it is dropped, because the response contains the next pop receipt. The next task completes the request.
    turn: lock::Mutex<Option<Request<'a>>>,
}

/// A request that changes the lease. The outer result is an error if the queue's client panicked.
type Request<'a> = BoxFuture<'a, thread::Result<Result<Answer>>>;

/// The queue's last response about the message.
#[derive(Clone)]
struct Answer {
    lease: Lease,
    /// The time of the response, according to the queue's clock.
    at: u64,
    /// The time of the request, according to this process's clock.
    asked: u64,
}

impl Answer {
    /// Creates an answer from the queue's response to a request that set the visibility timeout to `hidden`.
    fn new(lease: Lease, hidden: Duration, asked: u64) -> Self {
        let at = ticks::from_datetime(lease.visible).unwrap_or(asked).saturating_sub(ticks_of(hidden));
        Self { lease, at, asked }
    }
}

/// Returns `true` if an error from the queue means that the message was deleted or received again. This worker itself may have received it again. If the
/// response with the new pop receipt was lost (CON-11), the lease is lost too.
pub(crate) fn is_lost(error: &Error) -> bool {
    matches!(
        error.last_response().unwrap_or(error).code(),
        ErrorCode::MessageNotFound | ErrorCode::PopReceiptMismatch
    )
}

impl<'a, Q: QueueStore> Held<'a, Q> {
    /// Creates the lease on a message. `received` is the time of the request that received it.
    pub(crate) fn new(
        (queues, queue): (&'a Q, &'a QueueName),
        pace: &'a Runtime,
        hidden: Duration,
        (lease, received): (Lease, u64),
    ) -> Self {
        let answer = Mutex::new(Answer::new(lease, hidden, received));
        Self { queues, queue, pace, hidden, answer, turn: lock::Mutex::default() }
    }

    fn answer(&self) -> Answer {
        self.answer.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the time until which the message is hidden, in ticks of the queue's clock.
    pub(crate) fn until(&self) -> u64 {
        ticks::from_datetime(self.answer().lease.visible).unwrap_or(ticks::MAX)
    }

    /// Hides the message for `hidden`, rounded up to whole seconds. If a new text is given, also replaces the message's text.
    pub(crate) async fn hide(&self, hidden: Duration, text: Option<String>) -> Result<()> {
        let mut turn = self.turn.lock().await;
        self.complete(&mut turn).await;
        self.send(&mut turn, hidden, text).await
    }

    /// Extends the lease if half of its duration has passed, or if the process's clock was set back.
    pub(crate) async fn extend(&self) -> Result<()> {
        let mut turn = self.turn.lock().await;
        self.complete(&mut turn).await;
        // Even an expired lease can be renewed, as long as no other worker has received the message (QUE-11).
        let is_half_over = self.until().saturating_sub(self.now()).saturating_mul(2) <= ticks_of(self.hidden);
        let is_due = is_half_over || self.pace.now() < self.answer().asked;
        if is_due { self.send(&mut turn, self.hidden, None).await } else { Ok(()) }
    }

    /// Completes a request whose task was dropped. Errors can be ignored: the next request with the same pop receipt would also fail.
    async fn complete(&self, turn: &mut Option<Request<'a>>) {
        if turn.is_some() {
            let _ = self.response(turn).await;
        }
    }

    /// Sends a request that hides the message, and waits for the response.
    async fn send(
        &self,
        turn: &mut Option<Request<'a>>,
        hidden: Duration,
        text: Option<String>,
    ) -> Result<()> {
        let hidden =
            Duration::from_secs(hidden.as_secs().saturating_add(u64::from(hidden.subsec_nanos() > 0)));
        let (queues, queue, lease, asked) = (self.queues, self.queue, self.answer().lease, self.pace.now());
        let request = async move {
            let lease = queues.update(queue, &lease, hidden, text).await?;
            Ok(Answer::new(lease, hidden, asked))
        };
        *turn = Some(AssertUnwindSafe(request).catch_unwind().boxed());
        self.response(turn).await
    }

    /// Waits for the response to the request.
    async fn response(&self, turn: &mut Option<Request<'a>>) -> Result<()> {
        let Some(request) = turn else { return Ok(()) };
        let answer = request.await;
        *turn = None;
        let answer = answer.unwrap_or_else(|panic| resume_unwind(panic))?;
        *self.answer.lock().unwrap_or_else(PoisonError::into_inner) = answer;
        Ok(())
    }

    /// Deletes the message. Succeeds even if the message no longer exists or belongs to another worker (QUE-22).
    pub(crate) async fn finish(&self) -> Result<()> {
        let mut turn = self.turn.lock().await;
        self.complete(&mut turn).await;
        let lease = self.answer().lease;
        match self.queues.delete(self.queue, &lease.message.id, &lease.receipt).await {
            Err(error) if !is_lost(&error) => Err(error),
            _ => Ok(()),
        }
    }
}

impl<Q: QueueStore> Keep for Held<'_, Q> {
    fn keep(&self) -> BoxFuture<'_, Result<()>> {
        Box::pin(self.extend())
    }

    fn now(&self) -> u64 {
        let Answer { at, asked, .. } = self.answer();
        at.saturating_add(self.pace.now().saturating_sub(asked))
    }
}
