//! Bulk writes of any number of entities, in as many transactions as needed. A bulk write is not atomic (design promise 5).

mod input;
mod plain;
mod refused;
mod target;
mod window;
mod written;

use std::borrow::Borrow;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use futures_core::Stream;
use futures_util::future::BoxFuture;
use futures_util::{FutureExt, StreamExt, stream};

use table_store::{Error, ErrorCode, Result};

pub use input::{IntoDeletions, IntoEntities};
pub use target::{BulkTarget, BulkVerb};
pub use written::{BulkError, BulkProgress, WrittenPositions};

use crate::table::bulk::input::{ReportedDeletions, ReportedEntities};
use crate::table::bulk::window::{Link, Window};

/// The default number of partitions written concurrently (IMP-5).
const CONCURRENCY: usize = 8;

/// A builder for a bulk write on a [`Table`](crate::Table) or an `Entities` handle of `table-patterns`. Each transaction is atomic, but the bulk write as a
/// whole is not.
///
/// - Entities are processed in windows of up to 4,000 entities or 64 MiB. Each window is grouped by partition, split at the limits of a transaction (EGT-2,
///   EGT-3), and written to up to 8 partitions concurrently. Within a partition, the order of entities is preserved.
/// - Before each transaction, the handle checks that the program may still write. If a newer release stores a schema that forbids the program's writes, no
///   further transaction is started.
/// - After an error, no further transaction in the same partition and no further window is started. There is one exception. If an index refuses an entity
///   (`UniqueViolation`, `IndexListFull`), the entities before it in its transaction are still written. [`BulkError::written`] contains the positions of the
///   written entities, and [`resume`](Self::resume) skips them.
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
#[must_use = "a bulk write does nothing until it is given entities; write `.insert_all(entities).await?`"]
pub struct Bulk<'a, T> {
    target: &'a T,
    concurrency: usize,
    done: WrittenPositions,
    progress: Option<Box<dyn FnMut(BulkProgress) + Send + 'a>>,
}

impl<'a, T: BulkTarget> Bulk<'a, T> {
    /// Creates a bulk write on a handle.
    pub fn new(target: &'a T) -> Self {
        Self { target, concurrency: CONCURRENCY, done: WrittenPositions::default(), progress: None }
    }

    /// Sets the number of partitions written concurrently. The default is 8, and the minimum is 1.
    pub fn concurrency(self, partitions: usize) -> Self {
        Self { concurrency: partitions.max(1), ..self }
    }

    /// Sets a function called for every committed transaction.
    pub fn on_progress(self, progress: impl FnMut(BulkProgress) + Send + 'a) -> Self {
        Self { progress: Some(Box::new(progress)), ..self }
    }

    /// Skips the entities written by an earlier run with the same input.
    pub fn resume(self, written: WrittenPositions) -> Self {
        Self { done: written, ..self }
    }

    /// Inserts each entity.
    ///
    /// # Errors
    /// The first error in input order, such as `EntityAlreadyExists`, and the positions of the written entities.
    pub fn insert_all<I: ReportedEntities<T::Entity>>(
        self,
        entities: I,
    ) -> I::Then<impl Future<Output = Result<WrittenPositions, BulkError>>> {
        I::then(self.put_all(BulkVerb::Insert, entities.into_entities()))
    }

    /// Inserts or replaces each entity. It is safe to repeat the call.
    ///
    /// # Errors
    /// The first error in input order, and the positions of the written entities.
    pub fn insert_or_replace_all<I: ReportedEntities<T::Entity>>(
        self,
        entities: I,
    ) -> I::Then<impl Future<Output = Result<WrittenPositions, BulkError>>> {
        I::then(self.put_all(BulkVerb::InsertOrReplace, entities.into_entities()))
    }

    /// Inserts or merges each entity. It is safe to repeat the call.
    ///
    /// # Errors
    /// The first error in input order, and the positions of the written entities.
    pub fn insert_or_merge_all<I: ReportedEntities<T::Entity>>(
        self,
        entities: I,
    ) -> I::Then<impl Future<Output = Result<WrittenPositions, BulkError>>> {
        I::then(self.put_all(BulkVerb::InsertOrMerge, entities.into_entities()))
    }

    /// Inserts the entities from a stream. An error in the stream stops the bulk write, just like an error from the store.
    ///
    /// # Errors
    /// The first error in input order, and the positions of the written entities.
    pub async fn insert_stream(
        self,
        entities: impl Stream<Item = Result<T::Entity>>,
    ) -> Result<WrittenPositions, BulkError> {
        let target = self.target;
        self.run(entities.map(|entity| target.item(BulkVerb::Insert, &entity?))).await
    }

    /// Deletes the entities with these keys, regardless of their versions.
    ///
    /// # Errors
    /// The first error in input order, such as `ResourceNotFound`, and the positions of the deleted entities.
    pub fn delete_all<K: ReportedDeletions<T::Entity>>(
        self,
        keys: K,
    ) -> K::Then<impl Future<Output = Result<WrittenPositions, BulkError>>> {
        let target = self.target;
        let deletes = keys.into_deletions().map(|key| target.deletion(key.into_key()?));
        K::then(self.run(stream::iter(deletes)))
    }

    async fn put_all<E: Borrow<T::Entity>>(
        self,
        verb: BulkVerb,
        entities: impl Iterator<Item = E>,
    ) -> Result<WrittenPositions, BulkError> {
        let target = self.target;
        self.run(stream::iter(entities.map(|entity| target.item(verb, entity.borrow())))).await
    }

    async fn run(
        mut self,
        items: impl Stream<Item = Result<T::Item>>,
    ) -> Result<WrittenPositions, BulkError> {
        let target = self.target;
        let mut items = std::pin::pin!(items.enumerate());
        loop {
            let mut window = Window::new(target);
            let mut failure = None;
            let mut ended = false;
            while failure.is_none() && !ended && !window.is_full() {
                match items.next().await {
                    None => ended = true,
                    Some((position, _)) if self.done.contains(position) => {}
                    Some((position, item)) => {
                        let added = item.and_then(|item| window.add(position, item));
                        failure = added.err().map(|error| (position, target.in_table(error)));
                    }
                }
            }
            // The entities before the invalid one are written first, and then the error is returned.
            self.write(window.into_chains(), failure).await?;
            if ended {
                return Ok(self.done);
            }
        }
    }

    /// Writes a window, which is a sequence of consecutive input entities. Returns the first error in input order. `failure` is an error that occurred before
    /// the window was sent.
    async fn write(
        &mut self,
        chains: Vec<Vec<Link<T::Batch>>>,
        failure: Option<(usize, Error)>,
    ) -> Result<(), BulkError> {
        let target = self.target;
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
        let is_refused = AtomicBool::new(false);
        let write = |chain| write_chain(target, chain, &committed, &is_refused).boxed();
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

/// Commits the transactions to one partition in order and stops at the first one that fails. Returns the error, and the positions of that transaction's
/// entities.
///
/// Sets `is_refused` if a newer schema forbids the program's writes. Such a schema forbids writes to every partition, so the writes to the other partitions
/// stop too.
async fn write_chain<T: BulkTarget>(
    target: &T,
    mut chain: Vec<Link<T::Batch>>,
    committed: &(dyn Fn(&[usize]) + Sync),
    is_refused: &AtomicBool,
) -> Option<(Vec<usize>, Error)> {
    chain.reverse();
    while let Some(Link { mut positions, batch }) = chain.pop() {
        if is_refused.load(Ordering::Relaxed) {
            return None;
        }
        match target.commit(&batch).await {
            Ok(()) => committed(&positions),
            // Some row sizes are known only after the stored rows have been read. A batch that turns out to be too large is split in half. A batch that may
            // already have been applied is not written again.
            Err(error) if positions.len() > 1 && !error.is_ambiguous() && target.is_too_large(&error) => {
                let middle = positions.len() / 2;
                match target.split(batch, middle) {
                    Ok((front, back)) => {
                        let behind = positions.split_off(middle);
                        chain.push(Link { positions: behind, batch: back });
                        chain.push(Link { positions, batch: front });
                    }
                    Err(error) => return Some((positions, error)),
                }
            }
            Err(error) => {
                let failed = fail(target, Link { positions, batch }, error, committed).await;
                is_refused.fetch_or(failed.1.code() == ErrorCode::SchemaMismatch, Ordering::Relaxed);
                return Some(failed);
            }
        }
    }
    None
}

/// Returns the positions and the error of a failed batch. If an index has refused one of the batch's entities, first commits the entities before it.
///
/// IMPORTANT: if an index also refuses one of these earlier entities, nothing is committed and the original error is returned. The earlier entity may need a
/// unique value that a later entity in the batch releases.
async fn fail<T: BulkTarget>(
    target: &T,
    Link { mut positions, batch }: Link<T::Batch>,
    error: Error,
    committed: &(dyn Fn(&[usize]) + Sync),
) -> (Vec<usize>, Error) {
    let of_refused = error.operation().filter(|at| is_of_index(&error) && (1..positions.len()).contains(at));
    let Some(at) = of_refused else { return (positions, error) };
    let Ok((front, _)) = target.split(batch, at) else { return (positions, error) };
    match target.commit(&front).await {
        Ok(()) => committed(positions.get(..at).unwrap_or_default()),
        Err(earlier) if is_of_index(&earlier) => {}
        Err(earlier) => {
            positions.truncate(at);
            return (positions, earlier);
        }
    }
    (positions, error)
}

/// Returns `true` if an index has refused an entity. Either another entity has its unique value, or the list for its value is full.
fn is_of_index(error: &Error) -> bool {
    matches!(error.code(), ErrorCode::UniqueViolation | ErrorCode::IndexListFull)
}

impl<T: fmt::Debug> fmt::Debug for Bulk<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bulk")
            .field("target", &self.target)
            .field("concurrency", &self.concurrency)
            .field("done", &self.done)
            .finish_non_exhaustive()
    }
}
