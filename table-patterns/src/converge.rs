//! Convergence: the protocol that updates derived rows in other partitions until they match their source entity.
//!
//! Several patterns derive rows from entities: index entries in another partition ([`index`](crate::index)), copied properties in holders
//! ([`copies`](crate::copies)), and the rows and sums of a view ([`view`](crate::view)). All of them use one protocol, implemented by [`settle`], to become
//! consistent with their source:
//!
//! 1. Read the stored rows, and the version of their *guard*, a row that every write to the derived rows changes. A remote index entry has a separate guard
//!    row. The guard of a copy is its holder, the entity that contains the copy. The guard of a view's rows is the source entity's record in the view's
//!    partition.
//! 2. Read the source, once for all rows derived from it, and compute the desired rows.
//! 3. Write the desired rows and the guard, conditional on the versions from step 1. The guard is written even if nothing else changes. Rows from several
//!    sources share a transaction.
//! 4. If another writer has changed a guard, repeat from step 1 for the affected item only, with exponential backoff.
//!
//! Each write is therefore computed from a source that was read after the previous write, and a suspended worker cannot overwrite newer rows.
//! `docs/convergence.md` contains the proof, and explains how stale reads are handled.

mod packs;

use table_core::etag::{ETag, IfMatch};
use table_core::key::{PartitionKey, RowKey};
use table_core::limits::Limits;
use table_core::name::TableName;
use table_core::operation::{Operation, OperationKind};
use table_core::retry::Retry;
use table_core::row::Row;
use table_core::store::{Committed, TableStore};
use table_core::transaction::Transaction;
use table_core::{Error, Result};

use crate::failure::Failure;
use crate::requests::{self, CONCURRENCY};

/// The maximum number of items that are settled (made consistent with their sources) together and held in memory.
const TOGETHER: usize = 256;

/// A partition that contains derived rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) table: TableName,
    pub(crate) partition_key: PartitionKey,
}

/// The writes for one item in one partition.
#[derive(Debug)]
pub(crate) struct Part<W> {
    /// The item's index in the list of items to settle.
    pub(crate) item: usize,
    pub(crate) place: Place,
    /// The number of operations that only this item needs.
    pub(crate) own: usize,
    /// The names of the rows that this item shares with others. Each shared row counts as one operation in a transaction.
    pub(crate) shared: Vec<String>,
    pub(crate) what: W,
}

/// The writes computed from the sources of several items.
#[derive(Debug)]
pub(crate) struct Wanted<I, W> {
    pub(crate) parts: Vec<Part<W>>,
    /// The final writes. Each is executed after all `parts` of the same item have been written.
    pub(crate) last: Vec<Part<W>>,
    /// The items to settle in the next round, with the information found so far. Each comes with the index of the input item that it replaces.
    pub(crate) again: Vec<(usize, I)>,
    /// The indexes of input items whose rows have been changed by another writer in the meantime.
    pub(crate) lost: Vec<usize>,
    /// The indexes and errors of input items that cannot be made consistent with their sources.
    pub(crate) failed: Vec<(usize, Error)>,
}

impl<I, W> Default for Wanted<I, W> {
    fn default() -> Self {
        Self { parts: Vec::new(), last: Vec::new(), again: Vec::new(), lost: Vec::new(), failed: Vec::new() }
    }
}

/// The result of settling several items.
#[derive(Debug)]
pub(crate) struct Settled<I> {
    /// The number of changed rows.
    pub(crate) written: usize,
    /// The items that failed with a lasting error, and their errors. All other items are settled.
    pub(crate) failed: Vec<(I, Error)>,
}

impl<I> Settled<I> {
    /// Returns the number of changed rows.
    ///
    /// # Errors
    /// The error of the first item that cannot be settled, if any.
    pub(crate) fn all(self) -> Result<usize> {
        self.failed.into_iter().next().map_or(Ok(self.written), |(_, error)| Err(error))
    }
}

/// The writes that an implementation of [`Derive`] computes.
pub(crate) type WantedOf<D> = Wanted<<D as Derive>::Item, <D as Derive>::What>;

/// A kind of derived row, such as index entries. An implementation reads the stored rows and computes the desired rows.
pub(crate) trait Derive: Sized + Sync {
    /// A source entity, or a row derived from one.
    type Item: Clone + Send + Sync;
    /// The stored rows, read for a batch of items.
    type Stored: Send;
    /// The write for one item in one partition.
    type What: Send + Sync;

    /// The name of the derived rows in conflict errors.
    const RACE: &'static str;

    /// Reads the stored rows of `items`. Each guard is read together with its rows or before them. At most `together` items are written in one transaction.
    fn stored(
        &self,
        items: &[Self::Item],
        together: usize,
    ) -> impl Future<Output = Result<Self::Stored>> + Send;

    /// Reads the source entities and computes the writes.
    fn wanted(&self, stored: Self::Stored) -> impl Future<Output = Result<WantedOf<Self>>> + Send;

    /// Writes `parts`, which are all in the partition `place`, in one transaction. Returns the number of changed derived rows. Returns `None` if another writer
    /// committed first.
    fn write(
        &self,
        place: &Place,
        parts: &[Part<Self::What>],
    ) -> impl Future<Output = Result<Option<usize>>> + Send;

    /// Adds the item's key to an error.
    fn named(&self, error: Error, item: &Self::Item) -> Error;
}

/// Makes derived rows consistent with the current state of their sources. Calls may be repeated, made in any order, and run concurrently. If an item cannot be
/// settled, the other items still are.
///
/// # Errors
/// - Any error from reading the rows or the sources.
/// - `UpdateConditionNotSatisfied` if other writers changed the same rows during every attempt.
/// - The error of a write that failed because of an outage, or because only a newer program can make it. All other parts have then been written.
pub(crate) async fn settle<D: Derive>(
    of: &D,
    items: impl IntoIterator<Item = D::Item>,
    (retry, limits): (&Retry, Limits),
) -> Result<Settled<D::Item>> {
    let (mut items, mut settled) = (items.into_iter(), Settled { written: 0, failed: Vec::new() });
    loop {
        let mut left: Vec<_> = items.by_ref().take(TOGETHER).collect();
        if left.is_empty() {
            return Ok(settled);
        }
        let (mut race, mut together) = (retry.start(D::RACE), usize::MAX);
        while !left.is_empty() {
            let stored = of.stored(&left, together).await?;
            // IMPORTANT: the sources are read after the stored rows. A write is therefore never based on an older source than the rows that it overwrites.
            let Wanted { parts, mut last, again, mut lost, mut failed } = of.wanted(stored).await?;
            let limits = (limits.operations, together);
            settled.written += write(of, parts, limits, &mut lost, &mut failed).await;
            last.retain(|part| !lost.contains(&part.item) && failed.iter().all(|(at, _)| *at != part.item));
            settled.written += write(of, last, limits, &mut lost, &mut failed).await;
            let is_outage = |(_, error): &(usize, Error)| Failure::of(error) != Failure::Lasting;
            if let Some(at) = failed.iter().position(is_outage) {
                return Err(failed.swap_remove(at).1);
            }
            first_of_each(&mut failed);
            let has_failed = |at: &usize| failed.binary_search_by_key(at, |(at, _)| *at).is_ok();
            lost.retain(|at| !has_failed(at));
            distinct(&mut lost);
            if let Some(first) = lost.first().and_then(|at| left.get(*at)) {
                race.retry(None).await.map_err(|error| of.named(error, first))?;
                // Another process is changing the same rows. In separate transactions, a conflict on one item does not affect the others.
                together = 1;
            }
            let again =
                again.into_iter().filter(|(at, _)| lost.binary_search(at).is_err() && !has_failed(at));
            let again: Vec<_> = again.map(|(_, item)| item).collect();
            for (at, error) in &failed {
                if let Some(item) = left.get(*at) {
                    settled.failed.push((item.clone(), of.named(error.clone(), item)));
                }
            }
            left = lost.iter().filter_map(|at| left.get(*at).cloned()).chain(again).collect();
        }
    }
}

/// Writes parts in as few transactions as possible. The transactions of one partition run one after another. Returns the number of changed rows.
async fn write<D: Derive>(
    of: &D,
    parts: Vec<Part<D::What>>,
    limits: (usize, usize),
    lost: &mut Vec<usize>,
    failed: &mut Vec<(usize, Error)>,
) -> usize {
    let order = by_place(parts.iter().map(|part| &part.place).collect());
    let mut parts: Vec<_> = parts.into_iter().map(Some).collect();
    let parts: Vec<_> = order.into_iter().filter_map(|at| parts.get_mut(at)?.take()).collect();
    let writes = parts.chunk_by(|one, next| one.place == next.place).map(|run| write_run(of, run, limits));
    let done: Vec<_> = requests::all(writes, CONCURRENCY).await;
    let mut written = 0;
    for (rows, losers, errors) in done {
        written += rows;
        lost.extend(losers);
        failed.extend(errors);
    }
    written
}

/// Returns the indexes of `places`, sorted by table and partition.
///
/// Not generic: sorting code compiles slowly, and a generic function would be compiled again in every program.
fn by_place(places: Vec<&Place>) -> Vec<usize> {
    let mut order: Vec<_> = places.into_iter().enumerate().collect();
    order.sort_by(|(_, one), (_, next)| {
        (one.table.folded(), &one.partition_key).cmp(&(next.table.folded(), &next.partition_key))
    });
    order.into_iter().map(|(at, _)| at).collect()
}

/// Sorts errors by item, and keeps only each item's first error.
fn first_of_each(failed: &mut Vec<(usize, Error)>) {
    failed.sort_by_key(|(at, _)| *at);
    failed.dedup_by_key(|(at, _)| *at);
}

/// Sorts item indexes, and removes duplicates.
fn distinct(items: &mut Vec<usize>) {
    items.sort_unstable();
    items.dedup();
}

/// Writes the parts of one partition. Returns the number of changed rows, the items for which another writer committed first, and the failed items.
async fn write_run<D: Derive>(
    of: &D,
    run: &[Part<D::What>],
    (most, together): (usize, usize),
) -> (usize, Vec<usize>, Vec<(usize, Error)>) {
    let (mut written, mut lost, mut failed) = (0, Vec::new(), Vec::new());
    let mut packs = packs::of(run, most, together);
    packs.reverse();
    while let Some(pack) = packs.pop() {
        let Some(first) = pack.first() else { continue };
        match of.write(&first.place, pack).await {
            Ok(Some(rows)) => written += rows,
            Ok(None) => lost.extend(pack.iter().map(|part| part.item)),
            // Together, the parts may be too large for a transaction, or one of them may be invalid. Repeated halving isolates an invalid part.
            Err(error) if pack.len() > 1 && !error.is_ambiguous() && !error.is_throttled() => {
                packs.extend(pack.chunks(pack.len().div_ceil(2)).rev());
            }
            Err(error) => failed.push((first.item, error)),
        }
    }
    (written, lost, failed)
}

/// Submits operations on one partition as one transaction.
///
/// # Errors
/// Any error from the store; an error if the transaction is too large.
pub(crate) async fn submit<S: TableStore>(
    store: &S,
    table: &TableName,
    partition_key: &PartitionKey,
    operations: impl IntoIterator<Item = (RowKey, OperationKind)>,
) -> Result<Committed> {
    let in_table = |error: Error| error.with_table(table.as_str());
    let limits = store.capabilities().limits;
    let mut transaction = Transaction::new(partition_key.clone(), limits).map_err(in_table)?;
    for (row_key, kind) in operations {
        transaction.push(Operation { row_key, kind }).map_err(in_table)?;
    }
    store.submit(table, transaction).await
}

/// Returns `true` if a write succeeded, and `false` if another writer committed first.
pub(crate) fn is_won<T>(outcome: Result<T>) -> Result<bool> {
    match outcome {
        Ok(_) => Ok(true),
        Err(error) if error.is_conflict() => Ok(false),
        Err(error) => Err(error),
    }
}

/// Returns the operation that writes a row. It replaces the version `etag`. If `etag` is `None`, it inserts the row.
pub(crate) fn upsert(row: Row, etag: Option<ETag>) -> OperationKind {
    match etag {
        Some(etag) => OperationKind::Replace(row, IfMatch::ETag(etag)),
        None => OperationKind::Insert(row),
    }
}
