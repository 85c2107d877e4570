//! Implements `QueueStore` for references and shared pointers to a queue store, and for `DynQueueStore`.

use std::sync::Arc;
use std::time::Duration;

use crate::error::Result;
use crate::queue::dynamic::DynQueueStore;
use crate::queue::{Lease, Message, MessageId, PopReceipt, PutMessage, QueueName, QueueStore};

/// Implements [`QueueStore`] by delegating to `$inner`.
macro_rules! forward {
    ([$($generics:tt)*] $type:ty, $this:ident => $inner:expr) => {
        impl<$($generics)*> QueueStore for $type {
            async fn create_queue(&self, queue: &QueueName) -> Result<bool> {
                let $this = self;
                $inner.create_queue(queue).await
            }

            async fn delete_queue(&self, queue: &QueueName) -> Result<()> {
                let $this = self;
                $inner.delete_queue(queue).await
            }

            async fn approximate_count(&self, queue: &QueueName) -> Result<u64> {
                let $this = self;
                $inner.approximate_count(queue).await
            }

            async fn put(&self, queue: &QueueName, message: PutMessage) -> Result<Lease> {
                let $this = self;
                $inner.put(queue, message).await
            }

            async fn receive(&self, queue: &QueueName, count: usize, hidden: Duration) -> Result<Vec<Lease>> {
                let $this = self;
                $inner.receive(queue, count, hidden).await
            }

            async fn peek(&self, queue: &QueueName, count: usize) -> Result<Vec<Message>> {
                let $this = self;
                $inner.peek(queue, count).await
            }

            async fn update(
                &self,
                queue: &QueueName,
                lease: &Lease,
                hidden: Duration,
                text: Option<String>,
            ) -> Result<Lease> {
                let $this = self;
                $inner.update(queue, lease, hidden, text).await
            }

            async fn delete(&self, queue: &QueueName, id: &MessageId, receipt: &PopReceipt) -> Result<()> {
                let $this = self;
                $inner.delete(queue, id, receipt).await
            }

            async fn clear(&self, queue: &QueueName) -> Result<()> {
                let $this = self;
                $inner.clear(queue).await
            }
        }
    };
}

forward!([] DynQueueStore, this => this.0);
forward!([Q: QueueStore] &Q, this => (**this));
forward!([Q: QueueStore] Arc<Q>, this => (**this));
