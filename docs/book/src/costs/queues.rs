//! Wraps a queue store to count the requests sent to it.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use table_patterns::queue::{Lease, Message, MessageId, PopReceipt, PutMessage};
use table_patterns::{Engine, QueueName, QueueStore, Result};

/// Wraps the queues of an engine and counts the requests sent to them. Clones share the count.
#[derive(Clone, Debug)]
pub(super) struct CountedQueues {
    engine: Engine,
    requests: Arc<AtomicU64>,
}

impl CountedQueues {
    pub(super) fn new(engine: Engine) -> Self {
        Self { engine, requests: Arc::default() }
    }

    /// Returns the count and resets it.
    pub(super) fn take(&self) -> u64 {
        self.requests.swap(0, Ordering::Relaxed)
    }

    fn count(&self) -> &Engine {
        self.requests.fetch_add(1, Ordering::Relaxed);
        &self.engine
    }
}

impl fmt::Display for CountedQueues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.engine)
    }
}

impl QueueStore for CountedQueues {
    async fn create_queue(&self, queue: &QueueName) -> Result<bool> {
        self.count().create_queue(queue).await
    }

    async fn delete_queue(&self, queue: &QueueName) -> Result<()> {
        self.count().delete_queue(queue).await
    }

    async fn approximate_count(&self, queue: &QueueName) -> Result<u64> {
        self.count().approximate_count(queue).await
    }

    async fn put(&self, queue: &QueueName, message: PutMessage) -> Result<Lease> {
        self.count().put(queue, message).await
    }

    async fn receive(&self, queue: &QueueName, count: usize, hidden: Duration) -> Result<Vec<Lease>> {
        self.count().receive(queue, count, hidden).await
    }

    async fn peek(&self, queue: &QueueName, count: usize) -> Result<Vec<Message>> {
        self.count().peek(queue, count).await
    }

    async fn update(
        &self,
        queue: &QueueName,
        lease: &Lease,
        hidden: Duration,
        text: Option<String>,
    ) -> Result<Lease> {
        self.count().update(queue, lease, hidden, text).await
    }

    async fn delete(&self, queue: &QueueName, id: &MessageId, receipt: &PopReceipt) -> Result<()> {
        self.count().delete(queue, id, receipt).await
    }

    async fn clear(&self, queue: &QueueName) -> Result<()> {
        self.count().clear(queue).await
    }
}
