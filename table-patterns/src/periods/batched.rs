//! Batched deletes of rows that cannot be dropped with their table. A transaction deletes 100 entities, and the delete can be resumed (PAT-HVD-6).

use std::fmt;
use std::ops::Bound;

use table_core::column::Condition;
use table_core::entity::PlainEntity;
use table_core::etag::{ETag, IfMatch};
use table_core::filter::Filter;
use table_core::key::{EntityKey, PartitionKey, RowKey, order};
use table_core::mixed::{RowOwner, classify_row};
use table_core::name::TableName;
use table_core::operation::{Operation, OperationKind};
use table_core::query::{KeyRange, Query};
use table_core::selection::{Class, IntoSelection};
use table_core::store::TableStore;
use table_core::{Error, ErrorCode, Result, Table, Transaction};

use crate::omitted::identity;
use crate::paging::Pages;

/// The progress of a batched delete.
///
/// ```
/// use table_patterns::EntityKey;
/// use table_patterns::periods::DeleteProgress;
///
/// /// Formats the progress as a log line.
/// fn line(progress: &DeleteProgress) -> String {
///     let place = progress.position.as_ref().map_or_else(|| "the start".to_owned(), EntityKey::to_string);
///     format!("{} deleted, {} left to check again; up to {place}", progress.deleted, progress.changed)
/// }
/// assert_eq!(line(&DeleteProgress::default()), "0 deleted, 0 left to check again; up to the start");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeleteProgress {
    /// The number of deleted entities.
    pub deleted: u64,
    /// The number of entities that matched the condition but were kept, because another writer changed them after they were found. To check them again, repeat
    /// the delete.
    pub changed: u64,
    /// The number of rows that were kept because pages [omit](table_core::query::Page::skipped) them, such as items that other programs have written to Cosmos
    /// DB. An entity with an invalid property is still deleted if its keys and its type can be read.
    pub skipped: u64,
    /// The key of the last processed entity, for [`BatchedDelete::resume`]. It can be stored. It is always `None` on a store whose pages are not in key order
    /// (`Capabilities::ordered`).
    pub position: Option<EntityKey>,
}

/// The error that stopped a batched delete, and the progress up to that point.
///
/// ```
/// use table_patterns::periods::BatchedDeleteError;
///
/// /// Returns `true` if another run should resume from the position of the error.
/// fn goes_on(stopped: &BatchedDeleteError) -> bool {
///     stopped.error.is_throttled() && stopped.progress.position.is_some()
/// }
/// ```
#[derive(Clone, Debug)]
pub struct BatchedDeleteError {
    /// The error that stopped the delete.
    pub error: Error,
    /// The progress before the error.
    pub progress: DeleteProgress,
}

impl fmt::Display for BatchedDeleteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} entities were deleted, then: {}", self.progress.deleted, self.error)
    }
}

impl std::error::Error for BatchedDeleteError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.error)
    }
}

/// A function that receives progress reports.
type Told<'a> = Box<dyn FnMut(&DeleteProgress) + Send + 'a>;

/// A builder for a batched delete. Each transaction of up to 100 deletes is atomic, but the delete as a whole is not.
///
/// ```
/// use table_patterns::periods::{BatchedDelete, DeleteProgress};
/// use table_patterns::{EntityKey, PlainEntity, TableStore};
///
/// /// Resumes an earlier run. If this run stops early, logs the error and returns the position.
/// async fn go_on<E: PlainEntity, S: TableStore>(delete: BatchedDelete<'_, E, S>, from: Option<EntityKey>) -> DeleteProgress {
///     let delete = match from {
///         Some(position) => delete.resume(position),
///         None => delete,
///     };
///     delete.run().await.unwrap_or_else(|stopped| {
///         eprintln!("{stopped}");
///         stopped.progress
///     })
/// }
/// ```
#[must_use = "a delete does nothing until it is run"]
pub struct BatchedDelete<'a, E, S> {
    table: &'a Table<E, S>,
    ranges: Result<Vec<KeyRange>>,
    condition: Option<Condition<E>>,
    position: Option<EntityKey>,
    progress: Option<Told<'a>>,
}

/// Creates a delete of all entities in a selection. Use it for entities that are not stored in one table per period. Rows of other declared types in the same
/// partition are kept. A row that matches no declared type stops the delete, with an error that contains the row's key (PAT-HET-6).
///
/// ```
/// use table_patterns::periods::delete_in_batches;
/// use table_patterns::{Entity, TableStoreExt, embedded::Engine};
///
/// #[derive(Entity)]
/// #[partition_key(user)]
/// #[row_key(number)]
/// struct Attempt { #[digits(6)] user: u32, #[digits(9)] number: u32 }
///
/// # pollster::block_on(async {
/// let attempts = Engine::in_memory().table::<Attempt>().create_if_missing().await?;
/// # for number in 0..150 { attempts.insert(&Attempt { user: 123, number }).await?; }
/// let mut batches = 0;
/// let old = Attempt::rows(123).number(..140);
/// let done = delete_in_batches(&attempts, old).on_progress(|_| batches += 1).run().await;
/// assert_eq!((done.map(|done| done.deleted).ok(), batches), (Some(140), 2));
/// # Ok::<(), table_patterns::Error>(())
/// # }).unwrap();
/// ```
pub fn delete_in_batches<E: PlainEntity, S: TableStore, C: Class>(
    table: &Table<E, S>,
    selection: impl IntoSelection<E, C>,
) -> BatchedDelete<'_, E, S> {
    let ranges = selection.into_selection().into_ranges();
    BatchedDelete { table, ranges, condition: None, position: None, progress: None }
}

impl<'a, E: PlainEntity, S: TableStore> BatchedDelete<'a, E, S> {
    /// Restricts the delete to entities that satisfy the condition and have not changed since they were found.
    pub fn filter(mut self, condition: Condition<E>) -> Self {
        self.condition = Some(match self.condition.take() {
            Some(earlier) => earlier.and(condition),
            None => condition,
        });
        self
    }

    /// Starts after the key that an earlier run with the same selection reached. Without this call, the result is the same, but the run searches the processed
    /// rows again.
    pub fn resume(self, position: EntityKey) -> Self {
        Self { position: Some(position), ..self }
    }

    /// Sets a function that is called with the current progress after each transaction.
    pub fn on_progress(self, progress: impl FnMut(&DeleteProgress) + Send + 'a) -> Self {
        Self { progress: Some(Box::new(progress)), ..self }
    }

    /// Runs the delete. It sends one request per 100 entities to find them, and one request per partition with such entities to delete them.
    ///
    /// Other writers may delete the same entities at the same time. An entity that no longer exists is not counted, and is not an error.
    ///
    /// # Errors
    /// `SchemaMismatch` if a program with a newer schema does not allow this program to write; otherwise, the first error from the store. Both include the
    /// progress before the error.
    pub async fn run(mut self) -> Result<DeleteProgress, BatchedDeleteError> {
        let mut progress = DeleteProgress { position: self.position.take(), ..DeleteProgress::default() };
        match self.delete(&mut progress).await {
            Ok(()) => Ok(progress),
            Err(error) => Err(BatchedDeleteError { error, progress }),
        }
    }

    async fn delete(&mut self, progress: &mut DeleteProgress) -> Result<()> {
        let (store, table) = (self.table.store(), self.table.name()?);
        let most = store.capabilities().limits.operations.min(store.capabilities().top).max(1);
        let filter = self.condition.take().map(Condition::into_filter);
        for range in self.ranges.clone()? {
            let Some(keys) = after(range, progress.position.as_ref()) else { continue };
            let query = query(keys, filter.clone(), most);
            let mut pages = Pages::new(store, table, &query);
            while let Some(page) = pages.next().await? {
                progress.skipped += page.skipped;
                let mut batch: Vec<(RowKey, ETag)> = Vec::new();
                let mut partition: Option<PartitionKey> = None;
                for entity in page.rows.iter() {
                    if classify_row::<E>(entity)? == RowOwner::Other {
                        continue;
                    }
                    if let Some(before) = partition.take_if(|before| before.as_str() != entity.partition_key)
                    {
                        self.commit(table, before, std::mem::take(&mut batch), filter.is_some(), progress)
                            .await?;
                    }
                    if partition.is_none() {
                        partition = Some(PartitionKey::new(entity.partition_key)?);
                    }
                    batch.push((RowKey::new(entity.row_key)?, entity.etag()));
                }
                if let Some(last) = partition {
                    self.commit(table, last, batch, filter.is_some(), progress).await?;
                }
            }
        }
        Ok(())
    }

    /// Deletes rows of one partition. If a row no longer exists or has changed, repeats the transaction without that row.
    async fn commit(
        &mut self,
        table: &TableName,
        partition: PartitionKey,
        mut batch: Vec<(RowKey, ETag)>,
        conditional: bool,
        progress: &mut DeleteProgress,
    ) -> Result<()> {
        let store = self.table.store();
        let last = batch.last().map(|(row_key, _)| row_key.clone());
        while !batch.is_empty() {
            let mut transaction = Transaction::new(partition.clone(), store.capabilities().limits)?;
            for (row_key, etag) in &batch {
                let if_match = if conditional { IfMatch::ETag(etag.clone()) } else { IfMatch::Any };
                let kind = OperationKind::Delete(if_match);
                transaction.push(Operation { row_key: row_key.clone(), kind })?;
            }
            self.table.admit(&self.table.runtime()).await?;
            let Err(error) = store.submit(table, transaction).await else {
                progress.deleted += u64::try_from(batch.len()).unwrap_or(u64::MAX);
                break;
            };
            let at = error.operation().unwrap_or_default();
            match error.code() {
                ErrorCode::ResourceNotFound if at < batch.len() => {}
                ErrorCode::UpdateConditionNotSatisfied if at < batch.len() => progress.changed += 1,
                _ => return Err(error),
            }
            batch.remove(at);
        }
        // If pages are not in key order, entities with smaller keys than the last processed one may remain.
        if store.capabilities().ordered {
            progress.position = last.map(|row_key| EntityKey { partition_key: partition, row_key });
        }
        if let Some(told) = &mut self.progress {
            told(progress);
        }
        Ok(())
    }
}

/// Returns the query that finds the entities. It selects only their keys and the property with the entity type.
fn query(keys: KeyRange, filter: Option<Filter>, top: usize) -> Query {
    Query { filter, select: identity(), top: Some(top), ..Query::new(keys) }
}

/// Returns the part of a key range after `position`, the last processed key. Returns `None` if that part is empty.
fn after(mut range: KeyRange, position: Option<&EntityKey>) -> Option<KeyRange> {
    let Some(position) = position else { return Some(range) };
    let reached = position.partition_key.as_str();
    match range.partition_key.single().map(|single| order::compare(single, reached)) {
        Some(std::cmp::Ordering::Less) => return None,
        Some(std::cmp::Ordering::Equal) => {
            let row_key = position.row_key.as_str();
            let is_before = match &range.row_key.lower {
                Bound::Included(lower) | Bound::Excluded(lower) => order::compare(lower, row_key).is_le(),
                Bound::Unbounded => true,
            };
            if is_before {
                range.row_key.lower = Bound::Excluded(row_key.to_owned());
            }
        }
        // In a range of partitions, the range of rows is a condition on each row. It cannot exclude the processed rows, so the run searches the whole current
        // partition again.
        None if range.partition_key.contains(reached) => {
            range.partition_key.lower = Bound::Included(reached.to_owned());
        }
        Some(std::cmp::Ordering::Greater) | None => {}
    }
    (!range.is_empty()).then_some(range)
}

debug_fields!([E, S: fmt::Debug] BatchedDelete['_, E, S] { table, ranges, condition, position, .. });
