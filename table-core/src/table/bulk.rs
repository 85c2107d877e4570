//! Bulk writes: any number of entities in as many transactions as needed, explicitly not atomic (design promise 5).

mod plan;
mod written;

use std::borrow::Borrow;
use std::fmt;
use std::sync::{Mutex, PoisonError};

use futures_core::Stream;
use futures_util::future::BoxFuture;
use futures_util::{FutureExt, StreamExt, stream};

pub use written::{BulkError, BulkProgress, WrittenPositions};

use crate::entity::ToEntity;
use crate::error::{Error, Result};
use crate::etag::IfMatch;
use crate::key::EntityKey;
use crate::name::TableName;
use crate::operation::OperationKind;
use crate::row::Row;
use crate::selection::{Point, Selection};
use crate::store::TableStore;
use crate::table::bulk::plan::{Chain, Window};
use crate::table::{Table, request};

/// Number of partitions that are written concurrently (IMP-5).
const CONCURRENCY: usize = 8;

/// A bulk write under construction. Each transaction is atomic, the whole is not.
///
/// - Entities are processed in windows of 4,000 (or 64 MiB), grouped by partition, split at the limits of a transaction (EGT-2, EGT-3), and written
///   with up to 8 partitions concurrently. The order within a partition is kept.
/// - After an error, no further transaction of its partition and no further window starts. [`BulkError::written`] then contains the exact positions
///   of the written entities, which [`resume`](Self::resume) skips.
///
/// ```
/// # use table_core::{Entity, Table, TableStoreExt, embedded::Engine};
/// # #[derive(Entity, Clone, Debug, PartialEq)]
/// # #[partition_key(department)]
/// # #[row_key(id)]
/// # struct Employee { department: String, #[digits(6)] id: u32, age: i32 }
/// # let ada = Employee { department: "Sales".into(), id: 223, age: 36 };
/// # pollster::block_on(async {
/// # let employees = Engine::in_memory().table::<Employee>().create_if_missing().await?;
/// let all = (0..250).map(|id| Employee { id, ..ada.clone() });
/// let mut transactions = 0;
/// let written = employees.bulk().on_progress(|_| transactions += 1).insert_all(all).await;
/// assert_eq!((written.map(|written| written.len()).ok(), transactions), (Some(250), 3));
/// # Ok::<(), table_core::Error>(())
/// # }).unwrap();
/// ```
#[must_use = "a bulk write has no effect until it receives entities"]
pub struct Bulk<'a, E, S> {
    table: &'a Table<E, S>,
    concurrency: usize,
    done: WrittenPositions,
    progress: Option<Box<dyn FnMut(BulkProgress) + Send + 'a>>,
}

impl<E, S: TableStore> Table<E, S> {
    /// Starts a bulk write, which is not atomic.
    pub fn bulk(&self) -> Bulk<'_, E, S>
    where
        E: ToEntity,
    {
        Bulk { table: self, concurrency: CONCURRENCY, done: WrittenPositions::default(), progress: None }
    }
}

impl<'a, E: ToEntity, S: TableStore> Bulk<'a, E, S> {
    /// Sets the number of partitions that are written concurrently; 8 by default, at least 1.
    pub fn concurrency(self, partitions: usize) -> Self {
        Self { concurrency: partitions.max(1), ..self }
    }

    /// Sets a callback for every committed transaction.
    pub fn on_progress(self, progress: impl FnMut(BulkProgress) + Send + 'a) -> Self {
        Self { progress: Some(Box::new(progress)), ..self }
    }

    /// Skips the entities that an earlier run with the same input has written.
    pub fn resume(self, written: WrittenPositions) -> Self {
        Self { done: written, ..self }
    }

    /// Inserts all entities.
    ///
    /// # Errors
    /// The first error by position, such as `EntityAlreadyExists`, with the positions written so far.
    pub async fn insert_all<T: Borrow<E>>(
        self,
        entities: impl IntoIterator<Item = T>,
    ) -> Result<WrittenPositions, BulkError> {
        self.put_all(entities, OperationKind::Insert).await
    }

    /// Inserts or replaces all entities. Can be repeated safely as a whole.
    ///
    /// # Errors
    /// The first error by position, with the positions written so far.
    pub async fn insert_or_replace_all<T: Borrow<E>>(
        self,
        entities: impl IntoIterator<Item = T>,
    ) -> Result<WrittenPositions, BulkError> {
        let table = self.table;
        table.admit(table.now()).await.and_then(|()| table.admit_whole()).map_err(BulkError::before_any)?;
        self.put_all(entities, OperationKind::InsertOrReplace).await
    }

    /// Inserts or merges all entities. Can be repeated safely as a whole.
    ///
    /// # Errors
    /// The first error by position, with the positions written so far.
    pub async fn insert_or_merge_all<T: Borrow<E>>(
        self,
        entities: impl IntoIterator<Item = T>,
    ) -> Result<WrittenPositions, BulkError> {
        let merge = |entity: T| {
            let entity = entity.borrow();
            Ok((entity.entity_key()?, OperationKind::InsertOrMerge(entity.merge_row()?)))
        };
        self.run(stream::iter(entities.into_iter().map(merge))).await
    }

    /// Inserts the entities of a stream. An error of the stream stops the write like an error of the store.
    ///
    /// # Errors
    /// The first error by position, with the positions written so far.
    pub async fn insert_stream(
        self,
        entities: impl Stream<Item = Result<E>>,
    ) -> Result<WrittenPositions, BulkError> {
        self.run(entities.map(|entity| item(&entity?, OperationKind::Insert))).await
    }

    /// Deletes all entities with these keys, in any version.
    ///
    /// # Errors
    /// The first error by position, such as `ResourceNotFound`, with the positions deleted so far.
    pub async fn delete_all(
        self,
        keys: impl IntoIterator<Item = Selection<E, Point>>,
    ) -> Result<WrittenPositions, BulkError> {
        let deletes = keys.into_iter().map(|key| Ok((key.into_key()?, OperationKind::Delete(IfMatch::Any))));
        self.run(stream::iter(deletes)).await
    }

    async fn put_all<T: Borrow<E>>(
        self,
        entities: impl IntoIterator<Item = T>,
        kind: fn(Row) -> OperationKind,
    ) -> Result<WrittenPositions, BulkError> {
        self.run(stream::iter(entities.into_iter().map(|entity| item(entity.borrow(), kind)))).await
    }

    async fn run(
        mut self,
        items: impl Stream<Item = Result<(EntityKey, OperationKind)>>,
    ) -> Result<WrittenPositions, BulkError> {
        let table = self.table.name().map_err(BulkError::before_any)?;
        let limits = self.table.store().capabilities().limits;
        let mut items = std::pin::pin!(items.enumerate());
        loop {
            let mut window = Window::new(limits);
            let mut failure = None;
            let mut ended = false;
            while failure.is_none() && !ended && !window.is_full() {
                match items.next().await {
                    None => ended = true,
                    Some((position, _)) if self.done.contains(position) => {}
                    Some((position, item)) => {
                        let added = item.and_then(|(key, kind)| window.add(position, key, kind));
                        failure = added.err().map(|error| (position, error.with_table(table.as_str())));
                    }
                }
            }
            let admitted = self.table.admit(self.table.now()).await;
            if let Err(source) = admitted {
                let written = std::mem::take(&mut self.done);
                return Err(BulkError { written, ..BulkError::before_any(source) });
            }
            // Entities before an invalid one are written before its error is returned.
            self.write(table, window.into_chains(), failure).await?;
            if ended {
                return Ok(self.done);
            }
        }
    }

    /// Writes a window and returns the first failure by position; `failure` occurred before anything was sent.
    async fn write(
        &mut self,
        table: &TableName,
        chains: Vec<Chain>,
        failure: Option<(usize, Error)>,
    ) -> Result<(), BulkError> {
        let store = self.table.store();
        let mut unknown = WrittenPositions::default();
        let mut failures: Vec<_> = failure.into_iter().collect();
        let record = Mutex::new((&mut self.done, &mut self.progress));
        let committed = |positions: &[usize]| {
            let (done, progress) = &mut *record.lock().unwrap_or_else(PoisonError::into_inner);
            done.extend(positions);
            if let Some(progress) = progress {
                progress(BulkProgress { written: done.len(), transaction: positions.len() });
            }
        };
        let write = |chain| write_chain(store, table, chain, &committed).boxed();
        let writes: Vec<BoxFuture<'_, _>> = chains.into_iter().map(write).collect();
        let outcomes: Vec<_> = stream::iter(writes).buffer_unordered(self.concurrency).collect().await;
        for (positions, error) in outcomes.into_iter().flatten() {
            if error.is_ambiguous() {
                unknown.extend(&positions);
            }
            let at = error.operation().and_then(|index| positions.get(index)).or(positions.first());
            failures.extend(at.map(|at| (*at, error)));
        }
        match failures.into_iter().min_by_key(|(position, _)| *position) {
            None => Ok(()),
            Some((at, source)) => {
                Err(BulkError { source, at: Some(at), written: std::mem::take(&mut self.done), unknown })
            }
        }
    }
}

/// Encodes the write of one typed entity.
fn item<E: ToEntity>(entity: &E, kind: fn(Row) -> OperationKind) -> Result<(EntityKey, OperationKind)> {
    Ok((entity.entity_key()?, kind(entity.entity_row()?)))
}

/// Commits the transactions of one partition in order. After a failure it returns the positions and the error.
async fn write_chain<S: TableStore>(
    store: &S,
    table: &TableName,
    chain: Chain,
    committed: &(dyn Fn(&[usize]) + Sync),
) -> Option<(Vec<usize>, Error)> {
    for (positions, transaction) in chain {
        if let Err(error) = request::submit(store, table, transaction).await {
            return Some((positions, error));
        }
        committed(&positions);
    }
    None
}

impl<E, S: fmt::Debug> fmt::Debug for Bulk<'_, E, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bulk")
            .field("table", &self.table)
            .field("concurrency", &self.concurrency)
            .field("done", &self.done)
            .finish_non_exhaustive()
    }
}
