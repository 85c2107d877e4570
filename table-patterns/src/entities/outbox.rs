//! Recording of steps in other partitions and tables, in the transaction that writes the entities (PAT-EC-8).

use std::fmt::Debug;

use table_core::key::PartitionKey;
use table_core::name::TableName;
use table_core::operation::Operation;
use table_core::{Error, Result};

use crate::entities::fault::EntityFault;
use crate::outbox::Intent;

/// Records the steps that a write needs in other partitions and tables, each as a row in the written partition.
///
/// The rows are written in the transaction of the entities, so no step is lost (PAT-EC-8). Workers perform each recorded step at least once.
///
/// ```
/// use table_patterns::entities::{NoOutbox, StepRecorder};
/// use table_patterns::outbox::Outbox;
/// use table_patterns::Engine;
///
/// /// Returns `true` if a handle with this outbox can keep indexes in other partitions.
/// fn keeps_remote<O: StepRecorder>() -> bool {
///     O::RECORDS
/// }
/// assert!(keeps_remote::<Outbox<Engine, Engine>>());
/// assert!(!keeps_remote::<NoOutbox>());
/// ```
pub trait StepRecorder: Clone + Debug + Send + Sync + 'static {
    /// `true` if steps can be recorded.
    const RECORDS: bool = true;

    /// Registers a partition before steps are recorded in it. Sweeps search the registered partitions for recorded steps.
    ///
    /// # Errors
    /// Any error from the store.
    fn prepare(
        &self,
        table: &TableName,
        partition_key: &PartitionKey,
    ) -> impl Future<Output = Result<()>> + Send;

    /// Assumes that another program has registered a partition.
    /// [`prepare`](Self::prepare) then sends no request for it. Does nothing for a recorder without registrations.
    fn assume_registered(&self, _: &TableName, _: &PartitionKey) {}

    /// Returns the operations that record intents. Called once per attempt, because each transaction has separate rows.
    ///
    /// # Errors
    /// Any error from encoding a row.
    fn intents(&self, intents: &[Intent]) -> Result<Vec<Operation>>;

    /// Seals the operations that record intents. The seal distinguishes them from rows of foreign writers. Called once per attempt.
    ///
    /// # Errors
    /// Any error from reading the key.
    fn seal(
        &self,
        _: &TableName,
        _: &PartitionKey,
        operations: Vec<Operation>,
    ) -> impl Future<Output = Result<Vec<Operation>>> + Send {
        async { Ok(operations) }
    }

    /// Returns `true` if a program with the key sealed the operation that records an intent. A recorder without seals accepts every record.
    ///
    /// # Errors
    /// Any error from reading the key.
    fn is_sealed(
        &self,
        _: &TableName,
        _: &PartitionKey,
        _: &Operation,
    ) -> impl Future<Output = Result<bool>> + Send {
        async { Ok(true) }
    }

    /// Notifies workers of recorded steps. A lost notification delays the steps until the next sweep.
    fn recorded(&self, table: &TableName, partition_key: &PartitionKey) -> impl Future<Output = ()> + Send;
}

/// No outbox. Sufficient for entities whose indexes are all in their own partition, if they neither hold copies of other entities nor are copied.
///
/// ```
/// use table_patterns::entities::{Entities, NoOutbox};
/// use table_patterns::Engine;
///
/// /// A handle whose indexes all lie in the partition of their entities.
/// type Local<E> = Entities<E, Engine, NoOutbox>;
/// # fn handle<E>(_: Local<E>) {}
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct NoOutbox;

impl StepRecorder for NoOutbox {
    const RECORDS: bool = false;

    async fn prepare(&self, _: &TableName, _: &PartitionKey) -> Result<()> {
        Ok(())
    }

    fn intents(&self, intents: &[Intent]) -> Result<Vec<Operation>> {
        if intents.is_empty() { Ok(Vec::new()) } else { Err(Error::of(EntityFault::NoOutbox)) }
    }

    async fn recorded(&self, _: &TableName, _: &PartitionKey) {}
}
