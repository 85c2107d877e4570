//! Implements [`QueueStore`] for the client.

use std::time::Duration;

use table_core::Result;
use table_core::queue::{Lease, Message, MessageId, PopReceipt, PutMessage, QueueName, QueueStore};

use super::client::AzureQueues;

impl QueueStore for AzureQueues {
    async fn create_queue(&self, queue: &QueueName) -> Result<bool> {
        let queue = queue.clone();
        self.run(|client| async move { client.create(&queue).await }).await
    }

    async fn delete_queue(&self, queue: &QueueName) -> Result<()> {
        let queue = queue.clone();
        self.run(|client| async move { client.remove(&queue).await }).await
    }

    async fn approximate_count(&self, queue: &QueueName) -> Result<u64> {
        let queue = queue.clone();
        self.run(|client| async move { client.count(&queue).await }).await
    }

    async fn put(&self, queue: &QueueName, message: PutMessage) -> Result<Lease> {
        let queue = queue.clone();
        self.run(|client| async move { client.put_message(&queue, message).await }).await
    }

    async fn receive(&self, queue: &QueueName, count: usize, hidden: Duration) -> Result<Vec<Lease>> {
        let queue = queue.clone();
        self.run(|client| async move { client.receive_messages(&queue, count, hidden).await }).await
    }

    async fn peek(&self, queue: &QueueName, count: usize) -> Result<Vec<Message>> {
        let queue = queue.clone();
        self.run(|client| async move { client.peek_messages(&queue, count).await }).await
    }

    async fn update(
        &self,
        queue: &QueueName,
        lease: &Lease,
        hidden: Duration,
        text: Option<String>,
    ) -> Result<Lease> {
        let (queue, lease) = (queue.clone(), lease.clone());
        self.run(|client| async move { client.update_message(&queue, lease, hidden, text).await }).await
    }

    async fn delete(&self, queue: &QueueName, id: &MessageId, receipt: &PopReceipt) -> Result<()> {
        let (queue, id, receipt) = (queue.clone(), id.clone(), receipt.clone());
        self.run(|client| async move { client.delete_message(&queue, &id, &receipt).await }).await
    }

    async fn clear(&self, queue: &QueueName) -> Result<()> {
        let queue = queue.clone();
        self.run(|client| async move { client.clear_messages(&queue).await }).await
    }
}
