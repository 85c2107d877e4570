//! The trait of queue backends (QUE rules).

pub mod check;
mod dynamic;
mod fault;
mod forward;
mod message;
mod name;

use std::fmt::{Debug, Display};
use std::time::Duration;

pub use dynamic::DynQueueStore;
pub use message::{Lease, Message, MessageId, PopReceipt, PutMessage, TimeToLive};
pub use name::QueueName;

use crate::error::Result;

/// A backend for queues of short texts: delivered at least once, in about the order they were put (QUE-14).
///
/// # Contract
/// - A message that was put stays until it is deleted, cleared, or its time to live is over; a receive only hides it.
/// - What is acknowledged is durable, as a table's writes are.
/// - Errors carry the service's codes and name the queue.
///
/// ```
/// use std::time::Duration;
/// use table_core::queue::{PutMessage, QueueName, QueueStore};
/// use table_core::{Engine, ErrorCode};
///
/// # pollster::block_on(async {
/// let (store, queue) = (Engine::in_memory(), QueueName::new("work")?);
/// assert!(store.create_queue(&queue).await?);
/// store.put(&queue, PutMessage::new("archive 456")).await?;
///
/// let taken = store.receive(&queue, 1, Duration::from_secs(30)).await?;
/// assert_eq!((taken[0].message.text.as_str(), taken[0].message.dequeue_count), ("archive 456", 1));
/// assert!(store.receive(&queue, 1, Duration::from_secs(30)).await?.is_empty()); // hidden, not gone
/// let longer = store.update(&queue, &taken[0], Duration::from_secs(60), None).await?; // QUE-21
/// let stale = store.delete(&queue, &taken[0].message.id, &taken[0].receipt).await.unwrap_err();
/// assert_eq!(stale.code(), ErrorCode::PopReceiptMismatch); // QUE-12
/// store.delete(&queue, &longer.message.id, &longer.receipt).await?;
/// # Ok::<(), table_core::Error>(())
/// # }).unwrap();
/// ```
///
/// Delivery more than once is in the contract, so consumers are idempotent (QUE-22). What a consumer needs beyond this, such as
/// extension of leases, back-off and a queue for poison, is built above, once for all backends.
pub trait QueueStore: Debug + Display + Send + Sync {
    /// Creates a queue; `false` if it was there already, which is not an error (QUE-3).
    ///
    /// # Errors
    /// `QueueBeingDeleted` while the service still clears a queue of this name (QUE-15).
    fn create_queue(&self, queue: &QueueName) -> impl Future<Output = Result<bool>> + Send;

    /// Deletes a queue and all its messages.
    ///
    /// # Errors
    /// `QueueNotFound`.
    fn delete_queue(&self, queue: &QueueName) -> impl Future<Output = Result<()>> + Send;

    /// How many messages there are, hidden ones included, about: they come and go meanwhile.
    ///
    /// # Errors
    /// `QueueNotFound`.
    fn approximate_count(&self, queue: &QueueName) -> impl Future<Output = Result<u64>> + Send;

    /// Puts a message. The lease given back has the receipt that deletes or updates it (QUE-11).
    ///
    /// # Errors
    /// `QueueNotFound`; `OutOfRangeQueryParameterValue` for times out of range (QUE-7, QUE-8); `RequestBodyTooLarge` for a text
    /// over 64 KiB (QUE-6).
    fn put(&self, queue: &QueueName, message: PutMessage) -> impl Future<Output = Result<Lease>> + Send;

    /// Takes at most `count` visible messages, 1 to 32, and hides them for a time of 1 second to 7 days (QUE-8..10). An empty
    /// list says that none was visible.
    ///
    /// # Errors
    /// `QueueNotFound`; `OutOfRangeQueryParameterValue` for a count or time out of range.
    fn receive(
        &self,
        queue: &QueueName,
        count: usize,
        hidden: Duration,
    ) -> impl Future<Output = Result<Vec<Lease>>> + Send;

    /// Shows at most `count` visible messages, 1 to 32, and changes nothing (QUE-10).
    ///
    /// # Errors
    /// `QueueNotFound`; `OutOfRangeQueryParameterValue` for a count out of range (QUE-9).
    fn peek(&self, queue: &QueueName, count: usize) -> impl Future<Output = Result<Vec<Message>>> + Send;

    /// Hides a message for a time from now, 0 to 7 days, and gives it another text if there is one. The receipt given is dead
    /// afterwards: the lease that comes back has the next (QUE-12).
    ///
    /// # Errors
    /// `MessageNotFound` if the message is gone, `PopReceiptMismatch` if another receiver has it by now (QUE-13);
    /// `OutOfRangeQueryParameterValue`, `RequestBodyTooLarge`.
    fn update(
        &self,
        queue: &QueueName,
        lease: &Lease,
        hidden: Duration,
        text: Option<String>,
    ) -> impl Future<Output = Result<Lease>> + Send;

    /// Deletes a message.
    ///
    /// # Errors
    /// `MessageNotFound` if it is gone, `PopReceiptMismatch` if another receiver has it by now (QUE-13).
    fn delete(
        &self,
        queue: &QueueName,
        id: &MessageId,
        receipt: &PopReceipt,
    ) -> impl Future<Output = Result<()>> + Send;

    /// Deletes every message, hidden ones included.
    ///
    /// # Errors
    /// `QueueNotFound`.
    fn clear(&self, queue: &QueueName) -> impl Future<Output = Result<()>> + Send;
}
