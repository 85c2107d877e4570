//! Messages in queues, and their leases.

use std::fmt;
use std::time::Duration;

use chrono::{DateTime, Utc};

/// A message identifier assigned by the backend. The service uses a GUID string (QUE-5).
///
/// ```
/// use table_core::queue::MessageId;
///
/// let id = MessageId::new("5974b586-0df3-4e2d-ad0c-18e3892bfca2");
/// assert_eq!(id.as_str().len(), 36);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MessageId(String);

impl MessageId {
    /// Wraps an identifier assigned by a backend.
    #[must_use]
    pub fn new(id: impl Into<String>) -> Self {
        Self(id.into())
    }

    /// Returns the identifier as a string.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for MessageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The receipt for a received message. It is valid until the message is received again or updated (QUE-11). Its text is opaque.
///
/// ```
/// use table_core::queue::PopReceipt;
///
/// let receipt = PopReceipt::new("AgAAAAMAAAAAAAAA"); // from another process
/// assert_eq!(receipt.as_str(), "AgAAAAMAAAAAAAAA");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PopReceipt(String);

impl PopReceipt {
    /// Wraps a receipt returned by a backend.
    #[must_use]
    pub fn new(receipt: impl Into<String>) -> Self {
        Self(receipt.into())
    }

    /// Returns the receipt as a string, which may contain `+`, `/` and `=` (QUE-16).
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The lifetime of a message (QUE-7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeToLive {
    /// The message expires after this duration, which is a whole number of seconds and at least one second.
    For(Duration),
    /// The message lives until it is deleted.
    Never,
}

impl Default for TimeToLive {
    /// Returns a time to live of seven days.
    fn default() -> Self {
        Self::For(Duration::from_secs(7 * 24 * 60 * 60))
    }
}

/// A new message to add to a queue.
///
/// ```
/// use std::time::Duration;
/// use table_core::queue::{PutMessage, TimeToLive};
///
/// let message = PutMessage::new("work").hidden(Duration::from_secs(5)).time_to_live(TimeToLive::Never);
/// assert_eq!(message.text, "work");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PutMessage {
    /// The text of the message: at most 64 KiB of UTF-8 (QUE-6).
    pub text: String,
    /// The delay before the message becomes visible: 0 to 7 days, in whole seconds, and less than the time to live (QUE-8).
    pub hidden: Duration,
    /// The time after which the message is deleted.
    pub time_to_live: TimeToLive,
}

impl PutMessage {
    /// Creates a message that is visible immediately and has a time to live of seven days.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), hidden: Duration::ZERO, time_to_live: TimeToLive::default() }
    }

    /// Sets the delay before the message becomes visible.
    #[must_use]
    pub const fn hidden(mut self, time: Duration) -> Self {
        self.hidden = time;
        self
    }

    /// Sets the time to live.
    #[must_use]
    pub const fn time_to_live(mut self, time: TimeToLive) -> Self {
        self.time_to_live = time;
        self
    }
}

/// A message in a queue.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Message {
    /// The identifier of the message.
    pub id: MessageId,
    /// The text of the message.
    pub text: String,
    /// The time when the message was added.
    pub inserted: DateTime<Utc>,
    /// The time when the message expires, or `None` if it never expires (QUE-7).
    pub expires: Option<DateTime<Utc>>,
    /// The number of times the message has been received. It is 1 after the first receive (QUE-10).
    pub dequeue_count: u32,
}

impl Message {
    /// Creates a message. Backends call this function.
    #[must_use]
    pub const fn new(
        id: MessageId,
        text: String,
        inserted: DateTime<Utc>,
        expires: Option<DateTime<Utc>>,
        dequeue_count: u32,
    ) -> Self {
        Self { id, text, inserted, expires, dequeue_count }
    }
}

/// A received message and the receipt for deleting or updating it. The receipt remains valid after the message becomes visible, until the message is received
/// again (QUE-11).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Lease {
    /// The received message.
    pub message: Message,
    /// The receipt required to delete or update the message.
    pub receipt: PopReceipt,
    /// The time when the message becomes visible again.
    pub visible: DateTime<Utc>,
}

impl Lease {
    /// Creates a lease. Backends call this function.
    #[must_use]
    pub const fn new(message: Message, receipt: PopReceipt, visible: DateTime<Utc>) -> Self {
        Self { message, receipt, visible }
    }
}
