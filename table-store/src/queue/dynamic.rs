//! `DynQueueStore`: a type-erased queue store.

use std::fmt::{self, Debug, Display};
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;

use crate::error::Result;
use crate::queue::{Lease, Message, MessageId, PopReceipt, PutMessage, QueueName, QueueStore};

/// Any [`QueueStore`], chosen at run time. Clones share the store. Each call costs one extra allocation, for the boxed future.
///
/// ```
/// use table_core::Engine;
/// use table_core::queue::{DynQueueStore, QueueName, QueueStore};
///
/// let queues = DynQueueStore::new(Engine::in_memory());
/// assert!(pollster::block_on(queues.create_queue(&QueueName::new("work")?))?);
/// # Ok::<(), table_core::Error>(())
/// ```
#[derive(Clone)]
pub struct DynQueueStore(pub(super) Arc<dyn ErasedQueues>);

impl DynQueueStore {
    /// Wraps a store of any type.
    #[must_use]
    pub fn new(store: impl QueueStore + 'static) -> Self {
        Self(Arc::new(store))
    }
}

impl Debug for DynQueueStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt_debug(f)
    }
}

impl Display for DynQueueStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt_display(f)
    }
}

/// Defines the dyn-compatible version of [`QueueStore`] with boxed futures, and conversions in both directions.
macro_rules! erased {
    ($($verb:ident($($name:ident: $type:ty),*) -> $answer:ty;)*) => {
        pub(super) trait ErasedQueues: Send + Sync {
            fn fmt_debug(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result;
            fn fmt_display(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result;
            $(fn $verb<'a>(&'a self, queue: &'a QueueName, $($name: $type),*) -> BoxFuture<'a, Result<$answer>>;)*
        }

        impl<Q: QueueStore> ErasedQueues for Q {
            fn fmt_debug(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                Debug::fmt(self, f)
            }

            fn fmt_display(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                Display::fmt(self, f)
            }

            $(fn $verb<'a>(&'a self, queue: &'a QueueName, $($name: $type),*) -> BoxFuture<'a, Result<$answer>> {
                Box::pin(QueueStore::$verb(self, queue, $($name),*))
            })*
        }
    };
}

erased! {
    create_queue() -> bool;
    delete_queue() -> ();
    approximate_count() -> u64;
    put(message: PutMessage) -> Lease;
    receive(count: usize, hidden: Duration) -> Vec<Lease>;
    peek(count: usize) -> Vec<Message>;
    update(lease: &'a Lease, hidden: Duration, text: Option<String>) -> Lease;
    delete(id: &'a MessageId, receipt: &'a PopReceipt) -> ();
    clear() -> ();
}
