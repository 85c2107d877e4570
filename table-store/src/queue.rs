//! Queues: the `QueueStore` backend trait and its data types (QUE rules).

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

/// A backend for queues of short text messages. Messages are delivered at least once and approximately in order (QUE-14).
///
/// # Contract
/// - A message is stored until it is deleted, the queue is cleared, or its time to live expires. Receiving a message only hides it.
/// - Acknowledged operations are durable, like writes to a table.
/// - Errors have the service's codes and contain the name of the queue.
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
/// let longer = store.update(&queue, &taken[0], Duration::from_secs(60), None).await?; // extends the lease (QUE-21)
/// let stale = store.delete(&queue, &taken[0].message.id, &taken[0].receipt).await.unwrap_err();
/// assert_eq!(stale.code(), ErrorCode::PopReceiptMismatch); // the update has replaced the receipt (QUE-12)
/// store.delete(&queue, &longer.message.id, &longer.receipt).await?;
/// # Ok::<(), table_core::Error>(())
/// # }).unwrap();
/// ```
///
/// Messages can be delivered more than once, so consumers must be idempotent (QUE-22). Lease extension, backoff and poison queues are not part of this trait.
/// Higher layers implement them.
pub trait QueueStore: Debug + Display + Send + Sync {
    /// Creates a queue. Returns `true` if it was created, `false` if it already existed (QUE-3).
    ///
    /// # Errors
    /// `QueueBeingDeleted` if the service is still deleting a queue with this name (QUE-15).
    fn create_queue(&self, queue: &QueueName) -> impl Future<Output = Result<bool>> + Send;

    /// Deletes a queue and all its messages.
    ///
    /// # Errors
    /// `QueueNotFound` if the queue does not exist.
    fn delete_queue(&self, queue: &QueueName) -> impl Future<Output = Result<()>> + Send;

    /// Returns the approximate number of messages, including hidden ones.
    ///
    /// # Errors
    /// `QueueNotFound` if the queue does not exist.
    fn approximate_count(&self, queue: &QueueName) -> impl Future<Output = Result<u64>> + Send;

    /// Adds a message. The returned lease has a receipt for deleting or updating the message (QUE-11).
    ///
    /// # Errors
    /// - `QueueNotFound` if the queue does not exist.
    /// - `OutOfRangeQueryParameterValue` if a time is out of range (QUE-7, QUE-8).
    /// - `RequestBodyTooLarge` if the message text is larger than 64 KiB (QUE-6).
    fn put(&self, queue: &QueueName, message: PutMessage) -> impl Future<Output = Result<Lease>> + Send;

    /// Receives up to `count` visible messages (1 to 32), and hides them for the visibility timeout. The timeout is 1 second to 7 days (QUE-8..10). Returns an
    /// empty list if no message is visible.
    ///
    /// # Errors
    /// - `QueueNotFound` if the queue does not exist.
    /// - `OutOfRangeQueryParameterValue` if the count or the timeout is out of range.
    fn receive(
        &self,
        queue: &QueueName,
        count: usize,
        hidden: Duration,
    ) -> impl Future<Output = Result<Vec<Lease>>> + Send;

    /// Returns up to `count` visible messages (1 to 32) without changing them (QUE-10).
    ///
    /// # Errors
    /// - `QueueNotFound` if the queue does not exist.
    /// - `OutOfRangeQueryParameterValue` if the count is out of range (QUE-9).
    fn peek(&self, queue: &QueueName, count: usize) -> impl Future<Output = Result<Vec<Message>>> + Send;

    /// Hides a message for 0 to 7 days from now, and optionally replaces its text. The given receipt becomes invalid. The returned lease contains a new receipt
    /// (QUE-12).
    ///
    /// # Errors
    /// - `MessageNotFound` if the message does not exist.
    /// - `PopReceiptMismatch` if it has since been received or updated again (QUE-13).
    /// - `OutOfRangeQueryParameterValue` if the time is out of range.
    /// - `RequestBodyTooLarge` if the message text is too large.
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
    /// - `MessageNotFound` if the message does not exist.
    /// - `PopReceiptMismatch` if it has since been received or updated again (QUE-13).
    fn delete(
        &self,
        queue: &QueueName,
        id: &MessageId,
        receipt: &PopReceipt,
    ) -> impl Future<Output = Result<()>> + Send;

    /// Deletes all messages, including hidden ones.
    ///
    /// # Errors
    /// `QueueNotFound` if the queue does not exist.
    fn clear(&self, queue: &QueueName) -> impl Future<Output = Result<()>> + Send;
}
