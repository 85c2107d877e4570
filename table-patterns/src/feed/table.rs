//! A table whose changes are recorded: each in the transaction of its entity.

use std::fmt;

use table_core::Table;
use table_core::entity::{PlainEntity, Versioned};
use table_core::error::{Error, ErrorCode, Result};
use table_core::etag::{ETag, IfMatch};
use table_core::key::EntityKey;
use table_core::operation::{Operation, OperationKind};
use table_core::query::{EntityRef, Select};
use table_core::retry::Retry;
use table_core::row::rewrite;
use table_core::selection::{Point, Selection};
use table_core::store::{TableStore, written};
use table_core::transaction::Transaction;

use crate::feed::{Feed, FeedChange};

/// A table that records each change in the [feed](crate::feed) of its partition: `inserted`, `updated`, `deleted`, with no payload.
///
/// A write is one transaction of two operations.
///
/// ```
/// # use table_patterns::{Engine, Entity, IfMatch, PartitionKey, TableStoreExt};
/// use table_patterns::feed::{Cursor, FeedTable};
///
/// #[derive(Entity, Clone, Debug, PartialEq)]
/// #[entity(table = "Company")]
/// #[partition_key(department)]
/// #[row_key(id)]
/// struct Employee { department: String, #[digits(6)] id: u32, age: i32 }
///
/// # pollster::block_on(async {
/// let employees = FeedTable::new(Engine::in_memory().table::<Employee>().create_if_missing().await?);
/// employees.insert(&Employee { department: "Sales".into(), id: 223, age: 36 }).await?;
/// employees.update(Employee::key("Sales", 223), |employee| employee.age += 1).await?;
/// employees.delete(Employee::key("Sales", 223), IfMatch::Any).await?;
///
/// let (feed, table) = (employees.feed(), employees.table().name()?);
/// let sales = &feed.partitions(table).await?[0];
/// let entries = feed.read(table, sales, &Cursor::default(), 100).await?;
/// let kinds: Vec<_> = entries.iter().map(|entry| entry.kind.as_str()).collect();
/// assert_eq!(kinds, ["inserted", "updated", "deleted"]);
/// # Ok::<(), table_patterns::Error>(())
/// # }).unwrap();
/// ```
pub struct FeedTable<E, S> {
    table: Table<E, S>,
    feed: Feed<S>,
    retry: Retry,
}

impl<E: PlainEntity, S: TableStore + Clone> FeedTable<E, S> {
    /// The entities that a table holds, and the feeds of its partitions.
    #[must_use]
    pub fn new(table: Table<E, S>) -> Self {
        let feed = Feed::new(table.store().clone());
        Self { table, feed, retry: Retry::default() }
    }

    /// The same with other feeds: with another clock, for example.
    #[must_use]
    pub fn with_feed(self, feed: Feed<S>) -> Self {
        Self { feed, ..self }
    }

    /// The same with another back-off for updates that lose races.
    #[must_use]
    pub fn with_retry(self, retry: Retry) -> Self {
        Self { retry, ..self }
    }
}

impl<E: PlainEntity, S: TableStore> FeedTable<E, S> {
    /// The table, for reads.
    #[must_use]
    pub const fn table(&self) -> &Table<E, S> {
        &self.table
    }

    /// The feeds of its partitions.
    #[must_use]
    pub const fn feed(&self) -> &Feed<S> {
        &self.feed
    }

    /// Inserts an entity and records that.
    ///
    /// # Errors
    /// `EntityAlreadyExists`; every limit of an entity.
    pub async fn insert(&self, entity: &E) -> Result<ETag> {
        let kind = OperationKind::Insert(entity.to_row()?);
        let etag = self.write(entity.key_of()?, kind, "inserted").await?;
        written(self.table.name()?, etag)
    }

    /// Inserts an entity or replaces it, and records that.
    ///
    /// # Errors
    /// Every limit of an entity.
    pub async fn insert_or_replace(&self, entity: &E) -> Result<ETag> {
        let kind = OperationKind::InsertOrReplace(entity.to_row()?);
        let etag = self.write(entity.key_of()?, kind, "updated").await?;
        written(self.table.name()?, etag)
    }

    /// Changes an entity and records that. Read and tried again where another was faster.
    ///
    /// # Errors
    /// `ResourceNotFound` if it is not there; `InvalidInput` if `change` altered the key (UPD-6);
    /// `UpdateConditionNotSatisfied` if all attempts lost their race.
    pub async fn update(
        &self,
        key: Selection<E, Point>,
        mut change: impl FnMut(&mut E),
    ) -> Result<Versioned<E>> {
        let (key, table) = (key.into_key()?, self.table.name()?);
        let mut race = self.retry.race("the entity");
        loop {
            let Some(stored) = self.table.store().get(table, &key, &Select::All).await? else {
                let error = Error::new(ErrorCode::ResourceNotFound, "the entity to update is not there");
                return Err(self.in_place(error.with_rule("UPD-2"), &key));
            };
            let read = EntityRef::new(key.partition_key.as_str(), key.row_key.as_str(), stored.row.view());
            let mut entity = E::from_entity(read).map_err(|error| error.with_table(table.as_str()))?;
            let before = entity.to_row()?;
            change(&mut entity);
            if entity.key_of()? != key {
                let message = "the change altered the key: insert under the new key, delete the old";
                return Err(
                    self.in_place(Error::new(ErrorCode::InvalidInput, message).with_rule("UPD-6"), &key)
                );
            }
            let row = rewrite(stored.row.view(), before.view(), entity.to_row()?.view())?;
            let kind = OperationKind::Replace(row, IfMatch::ETag(stored.etag));
            match self.write(key.clone(), kind, "updated").await {
                Ok(etag) => {
                    let etag = written(table, etag)?;
                    let ticks = etag.ticks().unwrap_or_else(|| stored.row.view().timestamp());
                    return Ok(Versioned::new(entity, etag, ticks));
                }
                Err(error) if error.is_precondition_failed() => {
                    race.lost(self.in_place(error, &key)).await?;
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Deletes an entity and records that.
    ///
    /// # Errors
    /// `ResourceNotFound` if it is not there, `UpdateConditionNotSatisfied` if it has another version.
    pub async fn delete(&self, key: Selection<E, Point>, if_match: impl Into<IfMatch>) -> Result<()> {
        self.write(key.into_key()?, OperationKind::Delete(if_match.into()), "deleted").await.map(drop)
    }

    async fn write(&self, key: EntityKey, kind: OperationKind, what: &str) -> Result<Option<ETag>> {
        let (store, table) = (self.table.store(), self.table.name()?);
        let in_table = |error: Error| error.with_table(table.as_str());
        // IMPORTANT: before the change. A partition without a feed in the registry would be followed by nobody.
        self.feed.register(table, &key.partition_key).await?;
        let limits = store.capabilities().limits;
        let mut transaction = Transaction::new(key.partition_key.clone(), limits).map_err(in_table)?;
        transaction.push(Operation { row_key: key.row_key.clone(), kind }).map_err(in_table)?;
        let change = FeedChange { source: &key.row_key, kind: what, payload: b"" };
        self.feed.record(&mut transaction, change).map_err(in_table)?;
        Ok(store.submit(table, transaction).await?.into_iter().next().flatten())
    }

    fn in_place(&self, error: Error, key: &EntityKey) -> Error {
        let error = error.with_key(key.partition_key.as_str(), key.row_key.as_str());
        match self.table.name() {
            Ok(name) => error.with_table(name.as_str()),
            Err(_) => error,
        }
    }
}

impl<E, S: Clone> Clone for FeedTable<E, S> {
    fn clone(&self) -> Self {
        Self { table: self.table.clone(), feed: self.feed.clone(), retry: self.retry.clone() }
    }
}

impl<E, S: fmt::Debug> fmt::Debug for FeedTable<E, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FeedTable").field("table", &self.table).finish_non_exhaustive()
    }
}
