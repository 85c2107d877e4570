//! A delivery of a message, and the claims of the rows that it names.

use table_core::error::Result;
use table_core::key::PartitionKey;
use table_core::name::TableName;
use table_core::operation::Operation;
use table_core::queue::QueueStore;
use table_core::store::{Committed, TableStore};

use crate::outbox::rows::{Note, Pending, together};
use crate::work::lease::Held;
use crate::work::worker::Worker;

/// The rows of one message, as they are worked off.
pub(super) struct Delivery<'a, 'q, S, Q> {
    pub(super) worker: &'a Worker<S, Q>,
    pub(super) held: &'a Held<'q, Q>,
    /// The partition that the rows lie in.
    pub(super) table: &'a TableName,
    pub(super) partition_key: &'a PartitionKey,
    /// Tells the claims of this delivery from those of others, also where the answer to one was lost (CON-11).
    pub(super) id: String,
    /// Whether the message was delivered before: its receiver may have claimed rows, and died.
    pub(super) is_repeated: bool,
    /// When the first of the rows is due that were left for later.
    pub(super) later: Option<u64>,
}

impl<S: TableStore, Q: QueueStore> Delivery<'_, '_, S, Q> {
    /// The claim of a row.
    pub(super) fn claimed(&self, pending: &Pending) -> Operation {
        pending.note(Note::Claimed { by: &self.id, attempts: pending.attempts, until: self.held.until() })
    }

    /// Writes rows; `None` if one of them is not as it was.
    pub(super) async fn submit(&self, operations: Vec<Operation>) -> Result<Option<Committed>> {
        if operations.is_empty() {
            return Ok(Some(Committed::default()));
        }
        let store = self.worker.outbox.store();
        let transaction = together(self.partition_key, operations, store.capabilities().limits)?;
        match self.worker.retry(self.held, || store.submit(self.table, transaction.clone())).await {
            Err(error) if error.is_conflict() || error.is_table_not_found() => Ok(None),
            committed => committed.map(Some),
        }
    }
}
