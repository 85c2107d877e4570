//! The writer's side of an outbox: records intents in transactions, and notifies workers.

use std::fmt;
use std::sync::Arc;

use table_core::key::PartitionKey;
use table_core::name::TableName;
use table_core::operation::Operation;
use table_core::queue::{PutMessage, QueueName, QueueStore, TimeToLive};
use table_core::runtime::Runtime;
use table_core::store::{Committed, TableStore};
use table_core::transaction::Transaction;
use table_core::{ErrorCode, Result};
use uuid::Uuid;

use crate::outbox::intent::Intent;
use crate::outbox::registry::{self, Registered};
use crate::outbox::rows;
use crate::outbox::seal::Seals;
use crate::outbox::work::Work;
use crate::timestamp_order;

/// An outbox. It records intents in the same transactions as the changes, and notifies workers through a queue. Clones share one outbox.
///
/// ```
/// # use table_patterns::{Engine, Entity, EntityKey, PartitionKey, QueueName, RowKey, TableName, TableStore, Transaction};
/// # use table_patterns::{Operation, OperationKind, row::RowWriter};
/// use table_patterns::outbox::{Intent, Outbox, Step};
/// use table_patterns::work::Worker;
///
/// # pollster::block_on(async {
/// let store = Engine::in_memory();
/// let (employees, directory) = (TableName::new("Employee")?, TableName::new("Directory")?);
/// store.create_table(&employees).await?;
/// store.create_table(&directory).await?;
/// let outbox = Outbox::new(store.clone(), store.clone(), QueueName::new("work")?);
/// outbox.create_queues().await?;
///
/// # let row = RowWriter::new().finish();
/// let ada = EntityKey::new("Sales", "000223")?;
/// let copy = EntityKey::new("email", "ada@contoso.com")?;
/// let mut sales = Transaction::new(PartitionKey::new("Sales")?, store.capabilities().limits)?;
/// sales.push(Operation { row_key: ada.row_key.clone(), kind: OperationKind::Insert(row.clone()) })?;
/// let intent = Intent::of(ada.row_key).step(Step::insert_or_replace(directory.clone(), copy.clone(), row));
/// outbox.record(&mut sales, &intent)?; // in the same transaction: never one without the other (PAT-EC-8)
/// outbox.submit(&employees, sales).await?;
///
/// Worker::new(outbox).run_until_idle().await?;
/// assert!(store.get(&directory, &copy, &Default::default()).await?.is_some());
/// # Ok::<(), table_patterns::Error>(())
/// # }).unwrap();
/// ```
pub struct Outbox<S, Q>(Arc<Inner<S, Q>>);

struct Inner<S, Q> {
    store: S,
    queues: Q,
    queue: QueueName,
    pace: Runtime,
    registered: Registered,
    seals: Seals,
}

impl<S: TableStore, Q: QueueStore> Outbox<S, Q> {
    /// Creates an outbox whose workers receive messages from `queue`, with the default [`Runtime`].
    #[must_use]
    pub fn new(store: S, queues: Q, queue: QueueName) -> Self {
        Self::with_runtime(store, queues, queue, Runtime::new())
    }

    /// Creates an outbox with the given clock and sleep function.
    #[must_use]
    pub fn with_runtime(store: S, queues: Q, queue: QueueName, pace: Runtime) -> Self {
        Self(Arc::new(Inner {
            store,
            queues,
            queue,
            pace,
            registered: Registered::default(),
            seals: Seals::default(),
        }))
    }

    /// Creates the work queue and the poison queue if they do not exist.
    ///
    /// # Errors
    /// `OutOfRangeInput` if the queue name is too long for the suffix `-poison` (QUE-20); any error from the queue store.
    pub async fn create_queues(&self) -> Result<()> {
        self.queues().create_queue(self.queue()).await?;
        self.queues().create_queue(&self.queue().poison()?).await?;
        Ok(())
    }

    /// Returns the operation that records an intent, for programs that build their own transactions. Add the operation to the transaction that makes the
    /// change, in the same partition. Before each attempt to commit the transaction, call this function again, because each attempt needs a new row.
    ///
    /// # Errors
    /// - `InvalidInput` if the intent has no steps, or if two guarded steps have the same target.
    /// - `EntityTooLarge` if the intent does not fit into one row.
    /// - `PropertyValueTooLarge` if a guarded target's RowKey is too long for its guard.
    /// - `Unsupported` if guarded steps have no [version](Intent::version) and the store's
    ///   [Timestamps](table_core::store::Capabilities::timestamp_step) do not order changes.
    pub fn operation(&self, intent: &Intent) -> Result<Operation> {
        if intent.is_guarded() && intent.given_version().is_none() {
            timestamp_order::require(self.store())?;
        }
        rows::insert(intent, Uuid::new_v4().as_u64_pair().1)
    }

    /// Records an intent in the transaction that makes the change.
    ///
    /// [`submit`](Self::submit) seals the record. If you submit the transaction directly to the store, [seal](Self::seal) it first. Workers do not perform the
    /// steps of an unsealed record.
    ///
    /// # Errors
    /// - `InvalidInput` if the transaction records another intent of the same source, and both intents have a guarded step with the same target. These steps
    ///   would have the same version, so workers would skip one of them.
    /// - Any error from [`operation`](Self::operation) or [`Transaction::push`].
    pub fn record(&self, transaction: &mut Transaction, intent: &Intent) -> Result<()> {
        for other in rows::intents(transaction)? {
            if other.source() == intent.source() {
                other.steps().iter().cloned().fold(intent.clone(), Intent::step).check()?;
            }
        }
        transaction.push(self.operation(intent)?)
    }

    /// Registers a partition for sweeps. Sends at most one upsert per partition per hour. Call this function before you submit a transaction that records an
    /// intent.
    ///
    /// # Errors
    /// Any error from the store.
    pub async fn register(&self, table: &TableName, partition_key: &PartitionKey) -> Result<()> {
        let Inner { store, registered, pace, .. } = &*self.0;
        registry::register(store, registered, table, partition_key, pace.now()).await
    }

    /// Treats a partition as registered for the lifetime of this outbox. The program that issued the [grant](crate::grant) has registered it.
    pub(crate) fn assume_registered_partition(&self, table: &TableName, partition_key: &PartitionKey) {
        self.0.registered.assume(table, partition_key);
        self.seals().grant();
    }

    /// Notifies workers that a partition contains intents. If the message is lost, the work is only delayed: sweeps find the rows.
    ///
    /// # Errors
    /// Any error from the queue store.
    pub async fn notify(&self, table: &TableName, partition_key: &PartitionKey) -> Result<()> {
        self.send_work(&Work::partition(table, partition_key)).await
    }

    /// Submits a transaction that records intents. Also registers the partition before, and notifies the workers afterwards.
    ///
    /// If only the notification fails, the call still succeeds: a sweep will find the rows.
    ///
    /// # Errors
    /// Any error from the store.
    pub async fn submit(&self, table: &TableName, transaction: Transaction) -> Result<Committed> {
        let partition_key = transaction.partition_key().clone();
        self.register(table, &partition_key).await?;
        let transaction = self.seal(table, transaction).await?;
        let committed = self.store().submit(table, transaction).await?;
        // The change and its record are stored. If the message is lost, a sweep finds the record.
        let _ = self.notify(table, &partition_key).await;
        Ok(committed)
    }

    /// Records an intent in a partition of an existing table, in a transaction of its own. Use this for work that is not triggered by a write (PAT-EC-1).
    ///
    /// Costs the same as a change with an intent: one transaction that inserts the row, and one message. [`archive`](crate::work::archive) has an example.
    ///
    /// # Errors
    /// Any error from [`record`](Self::record) or [`submit`](Self::submit).
    pub async fn enqueue(
        &self,
        table: &TableName,
        partition_key: &PartitionKey,
        intent: &Intent,
    ) -> Result<()> {
        let mut transaction = Transaction::new(partition_key.clone(), self.store().capabilities().limits)?;
        self.record(&mut transaction, intent)?;
        self.submit(table, transaction).await.map(drop)
    }

    pub(crate) async fn send_work(&self, work: &Work) -> Result<()> {
        let message = PutMessage::new(work.write()?).time_to_live(TimeToLive::Never);
        self.queues().put(self.queue(), message).await?;
        Ok(())
    }

    /// Returns the approximate numbers of messages in the work queue and in the poison queue. Hidden messages in the work queue are included.
    ///
    /// # Errors
    /// Any error from the queue store.
    pub async fn backlog(&self) -> Result<BacklogCounts> {
        let poison = match self.queues().approximate_count(&self.queue().poison()?).await {
            Err(error) if error.code() == ErrorCode::QueueNotFound => 0,
            count => count?,
        };
        Ok(BacklogCounts { waiting: self.queues().approximate_count(self.queue()).await?, poison })
    }
}

impl<S, Q> Outbox<S, Q> {
    /// Returns the outbox's table store.
    #[must_use]
    pub fn store(&self) -> &S {
        &self.0.store
    }

    /// Returns the outbox's queue store.
    #[must_use]
    pub fn queues(&self) -> &Q {
        &self.0.queues
    }

    /// Returns the name of the work queue.
    #[must_use]
    pub fn queue(&self) -> &QueueName {
        &self.0.queue
    }

    /// Returns the outbox's clock, sleep function and source of random numbers.
    #[must_use]
    pub fn runtime(&self) -> &Runtime {
        &self.0.pace
    }

    pub(crate) fn seals(&self) -> &Seals {
        &self.0.seals
    }
}

/// The approximate numbers of messages in the work queue and in the poison queue.
///
/// ```
/// use table_patterns::outbox::BacklogCounts;
///
/// /// Returns `true` if workers fall behind, or work was set aside.
/// fn is_alarming(backlog: BacklogCounts) -> bool {
///     backlog.waiting > 10_000 || backlog.poison > 0
/// }
/// assert!(is_alarming(BacklogCounts { waiting: 0, poison: 1 }));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BacklogCounts {
    /// The number of messages in the work queue, including hidden messages.
    pub waiting: u64,
    /// The number of messages in the poison queue.
    pub poison: u64,
}

impl<S, Q> Clone for Outbox<S, Q> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<S, Q> fmt::Debug for Outbox<S, Q> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outbox").field("queue", &self.0.queue).finish_non_exhaustive()
    }
}
