//! Maintains remote indexes through this crate's outbox. Each write records its changes as intents. Workers settle the changes, which corrects the index
//! entries (PAT-EC-8).

use futures_util::future::BoxFuture;
use table_core::entity::Entity;
use table_core::key::{EntityKey, PartitionKey};
use table_core::name::TableName;
use table_core::operation::Operation;
use table_core::query::Query;
use table_core::queue::QueueStore;
use table_core::schema::EntitySchema;
use table_core::store::TableStore;
use table_core::{Error, Result};

use crate::entities::{Entities, StepRecorder};
use crate::index::fault::IndexFault;
use crate::index::remote::RemoteChange;
use crate::outbox::intent::{Intent, Step};
use crate::outbox::record::Outbox;
use crate::outbox::rows::{self, Pending};
use crate::paging::each_row;
use crate::work::handler::{Delivery, Take};
use crate::work::worker::Worker;

/// Returns the name of the steps that settle remote changes to entities of one type.
fn step_name(entity: &EntitySchema) -> String {
    format!("elsewhere of {}", entity.entity)
}

/// Returns the step that settles a remote change to an entity.
pub(crate) fn step_of(entity: &EntitySchema, change: &RemoteChange) -> Step {
    Step::of_pattern(step_name(entity), change.recorded(entity))
}

/// Returns the remote change that a step of `E` settles. Returns `None` for any other step.
pub(crate) fn change_of<E: Entity>(step: &Step) -> Option<RemoteChange> {
    match step {
        Step::Call { name, payload, .. } if *name == step_name(E::SCHEMA) => {
            RemoteChange::parse::<E>(payload).ok()
        }
        _ => None,
    }
}

impl<S: TableStore + 'static, Q: QueueStore + 'static> StepRecorder for Outbox<S, Q> {
    async fn prepare(&self, table: &TableName, partition_key: &PartitionKey) -> Result<()> {
        self.register(table, partition_key).await
    }

    fn assume_registered(&self, table: &TableName, partition_key: &PartitionKey) {
        self.assume_registered_partition(table, partition_key);
    }

    fn intents(&self, intents: &[Intent]) -> Result<Vec<Operation>> {
        intents.iter().map(|intent| self.operation(intent)).collect()
    }

    async fn seal(
        &self,
        table: &TableName,
        partition_key: &PartitionKey,
        operations: Vec<Operation>,
    ) -> Result<Vec<Operation>> {
        self.sealed(table, partition_key, operations).await
    }

    async fn is_sealed(
        &self,
        table: &TableName,
        partition_key: &PartitionKey,
        record: &Operation,
    ) -> Result<bool> {
        self.is_sealed_record(table, partition_key, record).await
    }

    async fn recorded(&self, table: &TableName, partition_key: &PartitionKey) {
        // If the message is lost, a sweep finds the intent.
        let _ = self.notify(table, partition_key).await;
    }
}

impl<E: Entity, S: TableStore, O: StepRecorder> Entities<E, S, O> {
    /// Returns `true` if the outbox contains a later change to the entity that also affects `key`.
    pub(crate) async fn is_recorded_later(
        &self,
        change: &RemoteChange,
        key: &EntityKey,
        version: u64,
    ) -> Result<bool> {
        let table = self.table.name()?;
        let name = step_name(E::SCHEMA);
        let names_it = |step: &Step| match step {
            Step::Call { name: called, payload, .. } if *called == name => RemoteChange::parse::<E>(payload)
                .is_ok_and(|later| {
                    (&later.of, &later.owner) == (&change.of, &change.owner) && later.keys.contains(key)
                }),
            _ => false,
        };
        for range in rows::ranges_of(&change.owner) {
            let mut is_named = false;
            each_row(self.table.store(), table, &Query::new(range), |row| {
                let pending = Pending::read(table, row)?;
                // An unreadable row is ignored, because it records no change.
                let intent = pending.intent().ok().filter(|_| pending.version > version);
                is_named |= intent.is_some_and(|intent| intent.steps().iter().any(names_it));
                Ok(())
            })
            .await?;
            if is_named {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl<E: Entity, S: TableStore, O: StepRecorder> Entities<E, S, O> {
    /// Returns an error if a recorded change refers to an entity in a different partition or table than the record. Otherwise, a writer that can access only
    /// one partition could cause writes in other places.
    fn check_source(&self, change: &RemoteChange, call: &Delivery<'_>) -> Result<()> {
        let is_here = change.owner.partition_key == *call.partition_key
            && self.table.name()?.folded() == call.table.folded();
        if is_here {
            return Ok(());
        }
        Err(self.here(Error::of(IndexFault::OtherSource), &change.owner))
    }

    /// Returns `true` if this program must settle a recorded change. Returns `false` if the index or relation of the change no longer exists. This program must
    /// neither settle nor finish a change that was recorded under a newer schema.
    ///
    /// # Errors
    /// `SchemaMismatch` if the change must be left for another program.
    async fn can_settle(&self, recorded: &str) -> Result<bool> {
        self.table.admit(self.retry.runtime()).await?;
        match RemoteChange::is_of_design::<E>(recorded, Self::declares_copies) {
            Some(true) => Ok(true),
            Some(false) => self.table.is_current().await.map(|_| true),
            // An invalid change is detected later, when it is parsed.
            None if !recorded.starts_with("[\"") => Ok(true),
            None if self.table.is_current().await? == Some(true) => Ok(false),
            None => {
                let unknown = Error::of(IndexFault::Unknown(E::SCHEMA.entity));
                Err(unknown.with_table(self.table.name()?.as_str()))
            }
        }
    }
}

struct Settler<E, S, O>(Entities<E, S, O>);

impl<E: Entity + Send + Sync, S: TableStore + 'static, O: StepRecorder> Take for Settler<E, S, O> {
    fn take<'a>(&'a self, call: Delivery<'a>) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            if self.0.can_settle(call.payload).await? {
                let change = RemoteChange::parse::<E>(call.payload)?;
                self.0.check_source(&change, &call)?;
                self.0.settle_recorded(&change, Some(call)).await?;
            }
            Ok(())
        })
    }
}

impl<S: TableStore, Q: QueueStore> Worker<S, Q> {
    /// Registers a handler that applies the changes recorded in a table's outbox to rows in other partitions. It updates index entries and
    /// [copies](crate::copies): both the copies that the table's entities hold, and the copies of these entities that other entities hold. Call this function
    /// once for each entity type, even if its entities are copied and also hold copies.
    ///
    /// ```
    /// # use table_patterns::{Engine, Entity, QueueName};
    /// use table_patterns::EntityStore;
    /// use table_patterns::outbox::Outbox;
    /// use table_patterns::work::Worker;
    ///
    /// #[derive(Entity, Clone, Debug, PartialEq)]
    /// #[entity(table = "Company")]
    /// #[partition_key(department)]
    /// #[row_key("empid_", id)]
    /// #[index(Directory, unique, table = "Directory", row_key(email))]
    /// struct Employee { department: String, #[digits(6)] id: u32, email: String }
    ///
    /// # pollster::block_on(async {
    /// let store = Engine::in_memory();
    /// let outbox = Outbox::new(store.clone(), store.clone(), QueueName::new("indexes")?);
    /// outbox.create_queues().await?;
    /// let employees = store.entities_with_outbox::<Employee, _>(outbox.clone()).create_if_missing().await?;
    /// let ada = Employee { department: "Sales".into(), id: 223, email: "ada@contoso.com".into() };
    /// employees.insert(&ada).await?; // also records the pending index change, in the same transaction
    ///
    /// let key = || Employee::directory("Sales", "ada@contoso.com");
    /// assert!(employees.get_eventual(key()).await?.is_none());
    /// Worker::new(outbox).with_index_handler(&employees).run_until_idle().await?;
    /// let found = employees.get_eventual(key()).await?.expect("settled");
    /// assert_eq!(found.verify(&employees).await?.as_deref(), Some(&ada));
    /// # Ok::<(), table_patterns::Error>(())
    /// # }).unwrap();
    /// ```
    #[must_use]
    pub fn with_index_handler<E, T, O>(self, table: &Entities<E, T, O>) -> Self
    where
        E: Entity + Send + Sync,
        T: TableStore + Clone + 'static,
        O: StepRecorder + 'static,
    {
        self.takes(step_name(E::SCHEMA), Settler(table.clone()))
    }
}
