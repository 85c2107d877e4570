//! Records steps in other partitions and tables, in the transaction that writes the entities (PAT-EC-8).

use std::fmt::Debug;

use table_core::key::PartitionKey;
use table_core::name::TableName;
use table_core::operation::Operation;
use table_core::{Error, Result};

use crate::entities::fault::EntityFault;
use crate::outbox::Intent;

/// Records a write's steps in other partitions and tables. Each step is recorded in a row in the written partition.
///
/// The rows are written in the same transaction as the entities, so no step is lost (PAT-EC-8). Workers perform each recorded step at least once.
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

    /// Marks a partition as already registered by another program. [`prepare`](Self::prepare) then sends no request for it. The default implementation does
    /// nothing.
    fn assume_registered(&self, _: &TableName, _: &PartitionKey) {}

    /// Returns the operations that write intents (rows that record steps). Called once per attempt, because each transaction needs new rows.
    ///
    /// # Errors
    /// Any error from encoding an intent as a row.
    fn intents(&self, intents: &[Intent]) -> Result<Vec<Operation>>;

    /// Seals the operations that write intents. A seal distinguishes the intents from rows written by other programs. Called once per attempt.
    ///
    /// # Errors
    /// Any error from reading the sealing key.
    fn seal(
        &self,
        _: &TableName,
        _: &PartitionKey,
        operations: Vec<Operation>,
    ) -> impl Future<Output = Result<Vec<Operation>>> + Send {
        async { Ok(operations) }
    }

    /// Returns `true` if a program with the sealing key sealed the operation that wrote an intent. A recorder without seals accepts every intent.
    ///
    /// # Errors
    /// Any error from reading the sealing key.
    fn is_sealed(
        &self,
        _: &TableName,
        _: &PartitionKey,
        _: &Operation,
    ) -> impl Future<Output = Result<bool>> + Send {
        async { Ok(true) }
    }

    /// Notifies workers that steps have been recorded. If a notification is lost, the steps are performed after the next sweep.
    fn recorded(&self, table: &TableName, partition_key: &PartitionKey) -> impl Future<Output = ()> + Send;
}

/// No outbox. Use it if all of the entity's indexes are in its own partition, and the entity neither holds copies nor is copied.
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
