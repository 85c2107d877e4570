//! The line between a write and what it changes elsewhere: the recorder of that, in the same transaction (PAT-EC-8).

use std::fmt::Debug;

use table_core::error::{Error, Result};
use table_core::key::PartitionKey;
use table_core::name::TableName;
use table_core::operation::Operation;
use table_core::schema::EntitySchema;

use crate::index::fault::IndexFault;
use crate::index::remote::RemoteChange;
use crate::outbox::Intent;

/// Records what a write changes in indexes of other partitions and tables, as rows of the partition that is written.
///
/// The rows are written in the transaction of the entities, so that no change is lost between the two (PAT-EC-8). Workers
/// relay them: each [`RemoteChange`] ends, at least once, at [`Entities::settle`](crate::index::Entities::settle).
///
/// ```
/// use table_patterns::index::{IndexOutbox, NoOutbox};
/// use table_patterns::outbox::Outbox;
/// use table_patterns::Engine;
///
/// /// Whether a handle with this outbox can keep indexes in other partitions.
/// fn keeps_remote<O: IndexOutbox>() -> bool {
///     O::RECORDS
/// }
/// assert!(keeps_remote::<Outbox<Engine, Engine>>());
/// assert!(!keeps_remote::<NoOutbox>());
/// ```
pub trait IndexOutbox: Clone + Debug + Send + Sync {
    /// Whether anything remote can be recorded.
    const RECORDS: bool = true;

    /// Receives a partition before anything is recorded there, so that a search for records looks there.
    ///
    /// # Errors
    /// Those of the store.
    fn prepare(
        &self,
        table: &TableName,
        partition_key: &PartitionKey,
    ) -> impl Future<Output = Result<()>> + Send;

    /// The operations that record these changes of entities of one type: one for each entity that changed. Asked once an attempt: each transaction has
    /// rows of its own.
    ///
    /// # Errors
    /// Those of making a row.
    fn record(&self, entity: &EntitySchema, changes: &[RemoteChange]) -> Result<Vec<Operation>>;

    /// The operations that record what participants intend elsewhere.
    ///
    /// # Errors
    /// Those of making a row.
    fn intents(&self, intents: &[Intent]) -> Result<Vec<Operation>>;

    /// Seals the operations that record changes, so that workers know them from rows of foreign writers. Asked once an attempt.
    ///
    /// # Errors
    /// Those of reading the key.
    fn seal(
        &self,
        _: &TableName,
        _: &PartitionKey,
        operations: Vec<Operation>,
    ) -> impl Future<Output = Result<Vec<Operation>>> + Send {
        async { Ok(operations) }
    }

    /// Receives that changes have been recorded, to make their relay prompt. That it is lost costs time, not changes.
    fn recorded(&self, table: &TableName, partition_key: &PartitionKey) -> impl Future<Output = ()> + Send;
}

/// No outbox: enough for indexes in the partition of their entities.
///
/// ```
/// use table_patterns::index::{Entities, NoOutbox};
/// use table_patterns::Engine;
///
/// /// A handle whose indexes are all in the partition of their entities.
/// type Local<E> = Entities<E, Engine, NoOutbox>;
/// # fn handle<E>(_: Local<E>) {}
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct NoOutbox;

impl IndexOutbox for NoOutbox {
    const RECORDS: bool = false;

    async fn prepare(&self, _: &TableName, _: &PartitionKey) -> Result<()> {
        Ok(())
    }

    fn record(&self, _: &EntitySchema, changes: &[RemoteChange]) -> Result<Vec<Operation>> {
        match changes.first() {
            None => Ok(Vec::new()),
            Some(change) => Err(Error::of(IndexFault::NoOutbox(change.of.name().to_owned()))),
        }
    }

    fn intents(&self, intents: &[Intent]) -> Result<Vec<Operation>> {
        if intents.is_empty() {
            return Ok(Vec::new());
        }
        Err(Error::of(IndexFault::NoOutboxForSteps))
    }

    async fn recorded(&self, _: &TableName, _: &PartitionKey) {}
}
