//! Archiving: a step that moves an entity to another table. The pattern catalogue uses it as its example of queue-driven work (PAT-EC).
//!
//! # Context
//! Employees who have left are moved from the `Current` table to the `Archive` table. No transaction spans two tables.
//!
//! # Key layout
//! The entity keeps its key and its properties. The step carries an [`ArchiveStep`] as JSON: `{"From":…,"To":…, "PartitionKey":…,"RowKey":…}`.
//!
//! # Guarantee
//! The copy is written before the original is deleted, and the original is deleted only if it still has the copied version. The entity is therefore always in
//! at least one table, even if processes die or the original changes in the meantime. For a while, readers can find it in both tables (PAT-EC-6). In the end,
//! it is only in the archive, with its latest content.
//!
//! # Cost
//! Moving an entity costs two reads, two writes, and a message.
//!
//! # Bounds
//! If the entity changes after it was copied, it is copied again. If this happens repeatedly, the delivery fails and is retried later.
//!
//! The step moves a single row. It does not know the entity type or the stored schema. Do not archive an entity whose type declares indexes, a feed, copies,
//! parts, chunks or blobs:
//! - The index rows remain, so a unique value cannot be used again. The copies in other entities remain, and the feed has no entry for the deletion.
//! - The parts and chunks remain in the source table.
//! - The content of a blob is lost. The archived row refers to the blob, but [`collect_orphans`](crate::large::LargeTable::collect_orphans) deletes the blob,
//!   because no row in the source table refers to it.
//!
//! To move such an entity, write a [handler](Handler) that inserts it through the target's handle, and then deletes it through the source's handle.
//!
//! # When not to
//! If all entities in a table must be moved, delete the table instead (PAT-HVD). If the move must be atomic, keep both entities in one partition.

use serde::{Deserialize, Serialize};
use table_core::etag::IfMatch;
use table_core::key::EntityKey;
use table_core::name::TableName;
use table_core::operation::OperationKind;
use table_core::query::Select;
use table_core::retry::Retry;
use table_core::store::TableStore;
use table_core::{Error, Result};

use crate::outbox::rows::{alone, fresh};
use crate::outbox::{Message, Step};
use crate::work::fault::WorkFault;
use crate::work::handler::{Delivery, Handler};

/// The message of a step that moves an entity. Created by [`archive`], and handled by [`Archive`].
///
/// ```
/// use table_patterns::outbox::Message;
/// use table_patterns::work::{ArchiveStep, archive};
/// # use table_patterns::{EntityKey, TableName};
///
/// let step = archive(&TableName::new("Current")?, &EntityKey::new("Sales", "000456")?, &TableName::new("Archive")?)?;
/// assert_eq!(ArchiveStep::NAME, "archive"); // the name that identifies its handler
/// # let _ = step;
/// # Ok::<(), table_patterns::Error>(())
/// ```
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct ArchiveStep {
    from: String,
    to: String,
    partition_key: String,
    row_key: String,
}

#[diagnostic::do_not_recommend]
impl Message for ArchiveStep {
    const NAME: &'static str = "archive";
    const VERSION: u32 = 1;
}

/// Creates the step that moves an entity to another table, under the same key. The entity must consist of a single row: the step does not move index rows,
/// parts or blobs, and does not write to a feed.
///
/// ```
/// use table_patterns::outbox::{Intent, Outbox};
/// use table_patterns::work::{Archive, Worker, archive};
/// # use table_patterns::{Engine, EntityKey, QueueName, Selection, TableEntity, TableName, TableStoreExt};
///
/// # pollster::block_on(async {
/// let store = Engine::in_memory();
/// let current = store.untyped("Current")?.create_if_missing().await?;
/// let archived = store.untyped("Archive")?.create_if_missing().await?;
/// current.insert(&TableEntity::new("Sales", "000456")?.with("Age", 65)).await?;
///
/// let outbox = Outbox::new(store.clone(), store.clone(), QueueName::new("archive-work")?);
/// outbox.create_queues().await?;
/// let key = EntityKey::new("Sales", "000456")?;
/// let step = archive(current.name()?, &key, archived.name()?)?;
/// let intent = Intent::of(key.row_key).step(step);
/// outbox.enqueue(current.name()?, &key.partition_key, &intent).await?; // records the work, and sends a message (PAT-EC-1)
///
/// Worker::new(outbox).handler(Archive::new(store)).run_until_idle().await?;
/// assert!(current.get(Selection::point("Sales", "000456")).await?.is_none());
/// assert!(archived.get(Selection::point("Sales", "000456")).await?.is_some());
/// # Ok::<(), table_patterns::Error>(())
/// # }).unwrap();
/// ```
///
/// # Errors
/// `InvalidInput` if both tables are the same.
pub fn archive(from: &TableName, key: &EntityKey, to: &TableName) -> Result<Step> {
    if from == to {
        return Err(Error::of(WorkFault::SameTable).with_table(from.as_str()));
    }
    let message = ArchiveStep {
        from: from.as_str().to_owned(),
        to: to.as_str().to_owned(),
        partition_key: key.partition_key.as_str().to_owned(),
        row_key: key.row_key.as_str().to_owned(),
    };
    Step::call(&message)
}

/// The handler of [`archive`] steps. It moves entities between the tables of one store.
#[derive(Clone, Debug)]
pub struct Archive<S> {
    store: S,
    retry: Retry,
}

impl<S: TableStore> Archive<S> {
    /// Creates a handler for the tables of `store`.
    pub fn new(store: S) -> Self {
        Self { store, retry: Retry::default() }
    }

    /// Sets the retry policy for entities that other writers change during the move.
    #[must_use]
    pub fn with_retry(self, retry: Retry) -> Self {
        Self { retry, ..self }
    }

    async fn move_entity(
        &self,
        from: &TableName,
        key: &EntityKey,
        to: &TableName,
        call: Delivery<'_>,
    ) -> Result<()> {
        let limits = self.store.capabilities().limits;
        let mut race = self.retry.start("the entity while it was archived");
        loop {
            call.keep().await?;
            // IMPORTANT: the copy is read before the source. In the meantime, another worker may copy a newer version and delete the source. The copy's version
            // then differs, the write below fails, and the next round finds that the source is gone.
            let copy = self.store.get(to, key, &Select::All).await?;
            let Some(source) = self.store.get(from, key, &Select::All).await? else {
                return Ok(()); // QUE-22: an earlier attempt has completed.
            };
            let row = fresh(&source.row);
            let write = match copy {
                None => Some(OperationKind::Insert(row)),
                // QUE-23: the content shows that an earlier attempt has made this copy.
                Some(copy) if fresh(&copy.row) == row => None,
                Some(copy) => Some(OperationKind::Replace(row, IfMatch::ETag(copy.etag))),
            };
            let copied = match write {
                Some(write) => self.store.submit(to, alone(key, write, limits)?).await.map(drop),
                None => Ok(()),
            };
            // IMPORTANT: the source is copied before it is deleted, so the entity is always in at least one of the tables. The source is deleted only if it
            // still has the copied version, so no change is lost.
            let delete = OperationKind::Delete(IfMatch::ETag(source.etag));
            let moved = match copied {
                Ok(()) => self.store.submit(from, alone(key, delete, limits)?).await.map(drop),
                failed => failed,
            };
            match moved {
                // If another worker has deleted the source, the next round does not find it.
                Err(error) if error.is_conflict() => race.retry(error.with_table(from.as_str())).await?,
                moved => return moved,
            }
        }
    }
}

#[diagnostic::do_not_recommend]
impl<S: TableStore> Handler<ArchiveStep> for Archive<S> {
    async fn handle(&self, message: &ArchiveStep, call: Delivery<'_>) -> Result<()> {
        let (from, to) = (TableName::new(&message.from)?, TableName::new(&message.to)?);
        let key = EntityKey::new(message.partition_key.as_str(), message.row_key.as_str())?;
        self.move_entity(&from, &key, &to, call).await
    }
}
