//! The lease of a worker on a message. It is extended during the work, and abandoned when it is lost (PAT-EC-3, QUE-21).

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::BoxFuture;
use table_core::error::{Error, ErrorCode, Result};
use table_core::queue::{Lease, QueueName, QueueStore};
use table_core::runtime::{Runtime, ticks_of};
use table_core::ticks;

use crate::work::handler::Keep;

/// A received message.
pub(crate) struct Held<'a, Q> {
    pub(crate) queues: &'a Q,
    pub(crate) queue: &'a QueueName,
    pub(crate) pace: &'a Runtime,
    /// The time for which each extension hides the message.
    pub(crate) hidden: Duration,
    /// The lease, and the time until which the message is hidden by the clock of this process, which may differ from the clock of the queue.
    until: Mutex<(Lease, u64)>,
}

/// Returns `true` if an error of a queue means that the message was deleted or received by another worker. The receiver may also have been this
/// worker, if the response with the new receipt was lost (CON-11), which has the same effect.
pub(crate) fn is_lost(error: &Error) -> bool {
    matches!(
        error.last_answer().unwrap_or(error).code(),
        ErrorCode::MessageNotFound | ErrorCode::PopReceiptMismatch
    )
}

impl<'a, Q: QueueStore> Held<'a, Q> {
    /// Creates the lease on a message that was received at an instant.
    pub(crate) fn new(
        (queues, queue): (&'a Q, &'a QueueName),
        pace: &'a Runtime,
        hidden: Duration,
        (lease, received): (Lease, u64),
    ) -> Self {
        let until = received.saturating_add(ticks_of(hidden)).min(ticks::MAX);
        Self { queues, queue, pace, hidden, until: Mutex::new((lease, until)) }
    }

    fn lease(&self) -> Lease {
        self.until.lock().unwrap_or_else(PoisonError::into_inner).0.clone()
    }

    /// Returns the time until which the message is hidden, in ticks.
    pub(crate) fn until(&self) -> u64 {
        self.until.lock().unwrap_or_else(PoisonError::into_inner).1
    }

    /// Hides the message for a time, rounded up to whole seconds, and replaces its text if a new one is given.
    pub(crate) async fn hide(&self, hidden: Duration, text: Option<String>) -> Result<()> {
        let hidden = Duration::from_secs(hidden.as_secs() + u64::from(hidden.subsec_nanos() > 0));
        let now = self.pace.now();
        let lease = self.queues.update(self.queue, &self.lease(), hidden, text).await?;
        *self.until.lock().unwrap_or_else(PoisonError::into_inner) =
            (lease, now.saturating_add(ticks_of(hidden)));
        Ok(())
    }

    /// Extends the lease if half of it has passed. Returns `true` if it was extended.
    pub(crate) async fn extend(&self) -> Result<bool> {
        // An expired lease can still be renewed unless another worker has received the message (QUE-11).
        let is_due = self.until().saturating_sub(self.pace.now()) * 2 <= ticks_of(self.hidden);
        if is_due {
            self.hide(self.hidden, None).await?;
        }
        Ok(is_due)
    }

    /// Deletes the message. Succeeds if it no longer exists or belongs to another worker (QUE-22).
    pub(crate) async fn finish(&self) -> Result<()> {
        let lease = self.lease();
        match self.queues.delete(self.queue, &lease.message.id, &lease.receipt).await {
            Err(error) if !is_lost(&error) => Err(error),
            _ => Ok(()),
        }
    }
}

impl<Q: QueueStore> Keep for Held<'_, Q> {
    fn keep(&self) -> BoxFuture<'_, Result<()>> {
        Box::pin(async move { self.extend().await.map(drop) })
    }
}
