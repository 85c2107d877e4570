//! Convergence: the one place where rows that are derived from a source, and lie elsewhere, come to agree with it.
//!
//! What is derived differs: the entries of an index in another partition ([`index`](crate::index)), copied properties in entities that hold
//! them ([`denormal`](crate::denormal)), rows and sums of a view ([`view`](crate::view)). How it comes to agree with its source does not, and is decided in
//! [`settle`] alone:
//!
//! 1. What is stored is read, with the version of its *guard*: a row that every write of the derived rows changes. A look-up elsewhere has one of its own
//!    beside it; of copies it is their holder; of a view, the record of what the source has there.
//! 2. Then the source is read, once for all that is derived from it, and what is to be there follows from it.
//! 3. Both are written, the guard also where nothing else changes, under the versions of step 1, in transactions that many sources share.
//! 4. What lost a race, because another writer changed a guard, begins again with step 1, alone, after a growing wait.
//!
//! So the source that a write follows from was read after the write before it was there, and a worker that slept writes nothing over what is newer. The
//! proof, with what an answer from before a change does, is `docs/convergence.md`.

mod packs;

use table_core::error::{Error, Result};
use table_core::etag::{ETag, IfMatch};
use table_core::key::{PartitionKey, RowKey};
use table_core::limits::Limits;
use table_core::name::TableName;
use table_core::operation::{Operation, OperationKind};
use table_core::retry::Retry;
use table_core::row::Row;
use table_core::store::{Committed, TableStore};
use table_core::transaction::Transaction;

use crate::failure::Failure;
use crate::requests::{self, CONCURRENCY};

/// Items that are settled together, and held in memory.
const TOGETHER: usize = 256;

/// A partition that derived rows lie in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) table: TableName,
    pub(crate) partition_key: PartitionKey,
}

/// What is to be written for one item in one partition.
#[derive(Debug)]
pub(crate) struct Part<W> {
    /// The place of the item among those that were given.
    pub(crate) item: usize,
    pub(crate) place: Place,
    /// Operations of its own.
    pub(crate) own: usize,
    /// Rows that it writes together with others: one operation each.
    pub(crate) shared: Vec<String>,
    pub(crate) what: W,
}

/// The writes that follow from the sources of some items.
#[derive(Debug)]
pub(crate) struct Wanted<I, W> {
    pub(crate) parts: Vec<Part<W>>,
    /// Items to settle next in the place of given items, about which more is known now.
    pub(crate) again: Vec<(usize, I)>,
    /// Given items that another writer changed meanwhile.
    pub(crate) lost: Vec<usize>,
    /// Given items that cannot be settled.
    pub(crate) failed: Vec<(usize, Error)>,
}

impl<I, W> Default for Wanted<I, W> {
    fn default() -> Self {
        Self { parts: Vec::new(), again: Vec::new(), lost: Vec::new(), failed: Vec::new() }
    }
}

/// The result of a settling.
#[derive(Debug)]
pub(crate) struct Settled<I> {
    /// Rows that were changed.
    pub(crate) written: usize,
    /// Items that cannot be settled, whatever the store does. The others are.
    pub(crate) failed: Vec<(I, Error)>,
}

impl<I> Settled<I> {
    /// Returns the number of changed rows if all items are settled.
    ///
    /// # Errors
    /// The error of the first item that is not.
    pub(crate) fn all(self) -> Result<usize> {
        self.failed.into_iter().next().map_or(Ok(self.written), |(_, error)| Err(error))
    }
}

/// What a look at the sources of some items came to.
pub(crate) type WantedOf<D> = Wanted<<D as Derive>::Item, <D as Derive>::What>;

/// Rows of one kind that are derived from sources: what is stored of them, and what is to be.
pub(crate) trait Derive: Sized + Sync {
    /// A source, or a row that is derived from one.
    type Item: Clone + Send + Sync;
    /// What is stored of some items.
    type Stored: Send;
    /// What is to be written for one of them.
    type What: Send + Sync;

    /// What others may change while something is tried, in words.
    const RACE: &'static str;

    /// Reads what is stored of items: each guard with or before what it guards. At most so many are recorded in one transaction.
    fn stored(
        &self,
        items: &[Self::Item],
        together: usize,
    ) -> impl Future<Output = Result<Self::Stored>> + Send;

    /// Reads the sources, and says what is to be written.
    fn wanted(&self, stored: Self::Stored) -> impl Future<Output = Result<WantedOf<Self>>> + Send;

    /// Writes parts of one partition in one transaction; how many derived rows that changed, or `None` if another writer got between.
    fn write(
        &self,
        place: &Place,
        parts: &[Part<Self::What>],
    ) -> impl Future<Output = Result<Option<usize>>> + Send;

    /// Says in an error what it is about.
    fn named(&self, error: Error, item: &Self::Item) -> Error;
}

/// Makes derived rows agree with their sources as they are now. Idempotent, in any order, beside others that do the same. An item that cannot be settled
/// stops no other.
///
/// # Errors
/// An outage of the store, after all other parts were written; `UpdateConditionNotSatisfied` if others changed the same rows during all attempts.
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
        let (mut race, mut together) = (retry.race(D::RACE), usize::MAX);
        while !left.is_empty() {
            let stored = of.stored(&left, together).await?;
            // IMPORTANT: after what is stored. What is written over it is then never older than what it was derived from.
            let Wanted { parts, again, mut lost, mut failed } = of.wanted(stored).await?;
            settled.written += write(of, parts, (limits.operations, together), &mut lost, &mut failed).await;
            let is_outage = |(_, error): &(usize, Error)| Failure::of(error) != Failure::Lasting;
            if let Some(at) = failed.iter().position(is_outage) {
                return Err(failed.swap_remove(at).1);
            }
            failed.sort_by_key(|(at, _)| *at);
            failed.dedup_by_key(|(at, _)| *at);
            let has_failed = |at: &usize| failed.binary_search_by_key(at, |(at, _)| *at).is_ok();
            lost.retain(|at| !has_failed(at));
            lost.sort_unstable();
            lost.dedup();
            if let Some(first) = lost.first().and_then(|at| left.get(*at)) {
                race.lost(None).await.map_err(|error| of.named(error, first))?;
                // Another process is at work on the same rows: those of one item at a time, so that not all are lost with one.
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

/// Writes parts, those of one partition one after the other, in as few transactions as hold them; returns how many rows changed.
async fn write<D: Derive>(
    of: &D,
    mut parts: Vec<Part<D::What>>,
    limits: (usize, usize),
    lost: &mut Vec<usize>,
    failed: &mut Vec<(usize, Error)>,
) -> usize {
    fn place<W>(part: &Part<W>) -> (&str, &PartitionKey) {
        (part.place.table.folded(), &part.place.partition_key)
    }
    parts.sort_by(|one, next| place(one).cmp(&place(next)));
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

/// Writes the parts of one partition; returns how many rows changed, the parts that lost a race, and those that failed.
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
            // One of them may be too large, or wrong: the error is to name that one, and no other.
            Err(error) if pack.len() > 1 && !error.is_ambiguous() && !error.is_throttled() => {
                packs.extend(pack.chunks(1).rev());
            }
            Err(error) => failed.push((first.item, error)),
        }
    }
    (written, lost, failed)
}

/// Submits operations of one partition.
///
/// # Errors
/// Those of the store, and of a transaction that is too large.
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

/// Whether a write was made; `false` if another writer got between.
pub(crate) fn is_won<T>(outcome: Result<T>) -> Result<bool> {
    match outcome {
        Ok(_) => Ok(true),
        Err(error) if error.is_conflict() => Ok(false),
        Err(error) => Err(error),
    }
}

/// The write of a row that was read at this version, or was not there.
pub(crate) fn upsert(row: Row, etag: Option<ETag>) -> OperationKind {
    match etag {
        Some(etag) => OperationKind::Replace(row, IfMatch::ETag(etag)),
        None => OperationKind::Insert(row),
    }
}
