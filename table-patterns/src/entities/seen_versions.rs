//! The row versions that this process's transactions last saw. If the stored version of a row differs, another process has written the row.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use table_core::Error;
use table_core::etag::{ETag, IfMatch};
use table_core::key::{PartitionKey, RowKey};
use table_core::name::TableName;
use table_core::operation::{Operation, OperationKind};

/// The maximum number of partitions per cache generation. A handle keeps two generations, so it remembers up to twice as many partitions.
const PARTITIONS: usize = 256;
/// The maximum number of rows per cache generation. Each partition has two generations. The limit is greater than 100, the maximum number of rows that a
/// transaction reads.
const ROWS: usize = 128;

/// The partitions recently used by a handle's transactions. Clones of the handle share them.
#[derive(Clone)]
pub(crate) struct SeenPartitions(Arc<Mutex<Partitions>>);

/// Partitions by table name and `PartitionKey`.
type Partitions = Recent<(String, PartitionKey), Arc<SeenRows>>;

/// A row of a submitted transaction.
pub(crate) struct SentRow {
    pub(crate) row_key: RowKey,
    is_written: bool,
    /// The version that the write requires, if any.
    replaced: Option<ETag>,
}

/// The rows in one partition that this process's transactions have recently read.
pub(crate) struct SeenRows(Mutex<State>);

struct State {
    /// The last known version of each row, or `None` if the row did not exist.
    versions: Recent<RowKey, Option<ETag>>,
    /// `true` if the last transaction found a row written by another process.
    is_shared: bool,
    /// `true` if another process has recorded changes, for example in a feed, since this process last recorded any.
    is_recorded_by_others: bool,
    /// The [reservations](crate::unit::reservation) for which this process no longer waits because their hold time has ended, and the version of each. If a
    /// reservation is renewed, its version changes.
    passed: HashMap<RowKey, ETag>,
    /// The number of consecutive reservations that expired while this process waited for them. Reset to zero when the process finds no reservation.
    expired: usize,
    /// The store's error, if the process's credential does not permit it to write reservations.
    refusal: Option<Error>,
    /// `true` if the credential does not even permit the process to read reservations.
    is_unreadable: bool,
}

/// A bounded map that approximates least-recently-used eviction with two generations.
struct Recent<K, V> {
    young: HashMap<K, V>,
    old: HashMap<K, V>,
    most: usize,
}

impl<K: Hash + Eq + Clone, V> Recent<K, V> {
    fn of(most: usize) -> Self {
        Self { young: HashMap::new(), old: HashMap::new(), most }
    }

    fn is_empty(&self) -> bool {
        self.young.is_empty() && self.old.is_empty()
    }

    fn get(&mut self, key: &K) -> Option<&V> {
        if let Some((key, value)) = self.old.remove_entry(key) {
            self.insert(key, value);
        }
        self.young.get(key)
    }

    fn insert(&mut self, key: K, value: V) {
        if self.young.len() >= self.most && !self.young.contains_key(&key) {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(key, value);
    }
}

impl Default for SeenPartitions {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(Recent::of(PARTITIONS))))
    }
}

impl Default for SeenRows {
    fn default() -> Self {
        let (versions, passed) = (Recent::of(ROWS), HashMap::new());
        Self(Mutex::new(State {
            versions,
            is_shared: false,
            is_recorded_by_others: false,
            passed,
            expired: 0,
            refusal: None,
            is_unreadable: false,
        }))
    }
}

impl SeenPartitions {
    /// Returns the remembered rows in a partition.
    pub(crate) fn partition(&self, table: &TableName, partition_key: &PartitionKey) -> Arc<SeenRows> {
        let mut partitions = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let place = (table.folded().to_owned(), partition_key.clone());
        if let Some(known) = partitions.get(&place) {
            return Arc::clone(known);
        }
        let rows = Arc::<SeenRows>::default();
        partitions.insert(place, Arc::clone(&rows));
        rows
    }

    /// Records the row versions that this process has written to a partition. Does nothing if its transactions have not used the partition recently.
    pub(crate) fn committed(
        &self,
        (table, partition_key): (&TableName, &PartitionKey),
        rows: &[SentRow],
        versions: &[Option<ETag>],
    ) {
        if let Some(known) = self.known(table, partition_key) {
            known.committed(rows, versions);
        }
    }

    /// Records whether another process has recorded changes in a partition since this process last recorded any. Does nothing if this process's transactions
    /// have not used the partition recently.
    pub(crate) fn recorded(&self, (table, partition_key): (&TableName, &PartitionKey), is_shared: bool) {
        if let Some(known) = self.known(table, partition_key) {
            known.lock().is_recorded_by_others = is_shared;
        }
    }

    fn known(&self, table: &TableName, partition_key: &PartitionKey) -> Option<Arc<SeenRows>> {
        let mut partitions = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if partitions.is_empty() {
            return None;
        }
        partitions.get(&(table.folded().to_owned(), partition_key.clone())).cloned()
    }
}

impl SeenRows {
    /// Records the version of a row that has just been read. Returns `true` if another process has written the row since this process last saw it.
    pub(crate) fn is_foreign(&self, row_key: &RowKey, version: Option<&ETag>) -> bool {
        let mut state = self.lock();
        let is_foreign = state.versions.get(row_key).is_some_and(|known| known.as_ref() != version);
        state.versions.insert(row_key.clone(), version.cloned());
        is_foreign
    }

    /// Returns the rows that a transaction writes or checks, in operation order.
    pub(crate) fn rows(operations: &[Operation]) -> Vec<SentRow> {
        let sent = |Operation { row_key, kind }: &Operation| SentRow {
            row_key: row_key.clone(),
            is_written: !matches!(kind, OperationKind::Check(_)),
            replaced: match kind {
                OperationKind::Replace(_, IfMatch::ETag(etag))
                | OperationKind::Merge(_, IfMatch::ETag(etag))
                | OperationKind::Delete(IfMatch::ETag(etag)) => Some(etag.clone()),
                _ => None,
            },
        };
        operations.iter().map(sent).collect()
    }

    /// Records the versions written by this process.
    pub(crate) fn committed(&self, rows: &[SentRow], versions: &[Option<ETag>]) {
        let written = rows.iter().zip(versions).filter(|(row, _)| row.is_written);
        written.for_each(|(row, version)| self.wrote(row, version.as_ref()));
    }

    /// Records the version that this process has written to a remembered row. If the write replaced a version other than the remembered one, another process
    /// has also written the row. In that case, nothing is recorded, and the next transaction that reads the row detects the foreign write.
    fn wrote(&self, SentRow { row_key, replaced, .. }: &SentRow, version: Option<&ETag>) {
        let mut state = self.lock();
        let is_known = |known: &Option<ETag>| replaced.is_none() || *known == *replaced;
        if state.versions.get(row_key).is_some_and(is_known) {
            state.versions.insert(row_key.clone(), version.cloned());
        }
    }

    /// Returns `true` if another process has recently written rows or recorded changes in the partition.
    pub(crate) fn is_shared(&self) -> bool {
        let state = self.lock();
        state.is_shared || state.is_recorded_by_others
    }

    /// Sets whether another process has recently written rows that this process's transactions read.
    pub(crate) fn set_shared(&self, is_shared: bool) {
        self.lock().is_shared = is_shared;
    }

    /// Returns `true` if a reservation's hold time has ended and the reservation has not been renewed.
    pub(crate) fn is_passed(&self, reservation: &RowKey, version: &ETag) -> bool {
        self.lock().passed.get(reservation) == Some(version)
    }

    /// Records that a reservation's hold time has ended.
    pub(crate) fn pass(&self, reservation: &RowKey, version: &ETag) {
        self.lock().passed.insert(reservation.clone(), version.clone());
    }

    /// Adds to the number of consecutive reservations that have expired while this process waited for them.
    pub(crate) fn expire(&self, number: usize) {
        self.lock().expired += number;
    }

    /// Returns the number of consecutive reservations that have expired while this process waited for them.
    pub(crate) fn expired(&self) -> usize {
        self.lock().expired
    }

    /// Forgets all reservations except the given ones, which still exist. If none exist, resets the count of expired reservations.
    pub(crate) fn found(&self, reservations: &HashSet<RowKey>) {
        let mut state = self.lock();
        state.passed.retain(|reservation, _| reservations.contains(reservation));
        if reservations.is_empty() {
            state.expired = 0;
        }
    }

    /// Returns the store's error, if the process's credential does not permit it to write reservations.
    pub(crate) fn refusal(&self) -> Option<Error> {
        self.lock().refusal.clone()
    }

    /// Records that the process's credential does not permit it to write reservations. The process still waits for the reservations of other processes.
    pub(crate) fn refuse(&self, refusal: Error) {
        self.lock().refusal = Some(refusal);
    }

    /// Returns `true` if the process's credential does not permit it to read reservations.
    pub(crate) fn is_unreadable(&self) -> bool {
        self.lock().is_unreadable
    }

    /// Records that the process's credential does not permit it to read reservations.
    pub(crate) fn refuse_reads(&self, refusal: Error) {
        let mut state = self.lock();
        (state.refusal, state.is_unreadable) = (Some(refusal), true);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for SeenRows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SeenRows").field("is_shared", &self.is_shared()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
