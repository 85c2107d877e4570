//! Creation times. They distinguish tables and queues from earlier ones with the same name.

use table_store::Result;
use table_store::name::TableName;
use table_store::queue::QueueName;

use crate::engine::Engine;
use crate::queue;

impl Engine {
    /// Returns the creation time of a table, in ticks. Timestamps are unique, so no other table in the engine has this time.
    ///
    /// A program that stores data about a table elsewhere can store the creation time with the data. When the table has been recreated, the program can tell
    /// that the data is outdated.
    ///
    /// # Errors
    /// - `TableNotFound` if the table does not exist (OPT-6).
    /// - `TableBeingDeleted` while its deletion is in progress (OPT-4).
    /// - `EngineClosed` if the engine is closed.
    /// - `EnginePoisoned` if a panic has interrupted a write to an in-memory engine.
    #[doc(hidden)]
    pub fn incarnation(&self, table: &TableName) -> Result<u64> {
        let state = self.inner.state()?;
        Ok(state.catalog.find(table, || self.inner.steady.now())?.created)
    }

    /// Returns the creation time of a queue, like [`incarnation`](Self::incarnation). Clearing the queue does not change it.
    ///
    /// # Errors
    /// - `QueueNotFound` if the queue does not exist.
    /// - `QueueBeingDeleted` while its deletion is in progress.
    /// - `EngineClosed` if the engine is closed.
    /// - `EnginePoisoned` if a panic has interrupted a write to an in-memory engine.
    #[doc(hidden)]
    pub fn queue_incarnation(&self, queue: &QueueName) -> Result<u64> {
        self.incarnation(&queue::table_of(queue)).map_err(|error| queue::in_queue(queue, error))
    }
}
