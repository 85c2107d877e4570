//! The registry of partitions with outbox rows. With it, sweeps find these partitions without scanning the tables. The registry of feeds,
//! [`FEEDS`](crate::feed::FEEDS), has the same format.
//!
//! A partition is registered before the first intent is recorded in it. It remains registered: a writer that is suspended, or whose clock is wrong, may rely on
//! the registration indefinitely. Writers repeat their registrations hourly, by their own clocks.
//!
//! If a partition has no pending rows and was last registered at least two hours ago, a sweep marks it as *quiet*. Later sweeps read only a random sample of
//! the quiet partitions. The mark is removed when a writer registers the partition again, or when a sweep finds a pending row.
//!
//! When a tenant is erased, the registrations of its partitions are marked as erased. They are not removed, because running writers still rely on them. Two
//! hours later, by the store's clock, a sweep removes the registrations. If a writer registers a partition again in the meantime, the mark is removed and the
//! registration stays.
//!
//! When a grant is issued, its partition is always registered, because the bearer relies on the registration without a time limit. The grant also [keeps](kept)
//! the partition active until it expires.

mod chosen;
mod entry;
pub(crate) mod kept;

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use table_core::Result;
use table_core::etag::IfMatch;
use table_core::key::{EntityKey, PartitionKey};
use table_core::name::TableName;
use table_core::operation::OperationKind;
use table_core::query::{EntityRef, KeyRange, Query, Select, TextRange};
use table_core::row::RowWriter;
use table_core::runtime::ticks_of;
use table_core::store::TableStore;
use table_core::table::TableStoreExt;

use crate::omitted::Unreadable;
use crate::outbox::rows::alone;
use crate::paging::{Pages, none_if_missing};

pub(crate) use chosen::chosen;
pub(crate) use entry::{Entry, is_erased};
use entry::{Mark, entry, marked, registration};

/// The partition of the registry table that contains the seal keys. Partitions of registrations have names in a different format, so their names cannot clash
/// with this one.
pub(crate) const KEYS: &str = "keys";

/// The registry table. Its `PartitionKey` consists of the registered table's name in lower case and one of 16 buckets; its `RowKey` is the partition. Listings
/// of the program's tables omit this table.
pub const REGISTRY: &str = table_core::table::OUTBOXES;

/// The period during which a writer relies on its registration of a partition. Afterwards, it registers the partition again.
const TRUSTED: Duration = Duration::from_secs(60 * 60);
/// The period for which a partition without pending rows counts as active after its last registration.
const ACTIVE: Duration = Duration::from_secs(2 * 60 * 60);
/// The partition of a row from whose Timestamp sweeps learn the store's time. They write the row for this purpose.
const SWEEPS: &str = "sweeps";
const BUCKETS: u32 = 16;
/// The maximum number of registered partitions that a writer remembers.
const REMEMBERED: usize = 100_000;

/// The partitions that this process has registered, with the registration times, and those that it assumes another program has registered.
#[derive(Debug, Default)]
pub(crate) struct Registered {
    own: Mutex<HashMap<(String, String), u64>>,
    assumed: Mutex<HashSet<(String, String)>>,
}

impl Registered {
    /// Treats a partition as registered by another program, without a check.
    pub(crate) fn assume(&self, table: &TableName, partition_key: &PartitionKey) {
        let id = (table.folded().to_owned(), partition_key.as_str().to_owned());
        self.assumed.lock().unwrap_or_else(PoisonError::into_inner).insert(id);
    }
}

pub(crate) fn key_of(table: &TableName, partition_key: &PartitionKey) -> Result<EntityKey> {
    let hash = partition_key
        .as_str()
        .bytes()
        .fold(0x811C_9DC5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    EntityKey::new(format!("{}_{:02}", table.folded(), hash % BUCKETS), partition_key.as_str())
}

/// Registers a partition, unless this process has done so within the last hour.
pub(crate) async fn register<S: TableStore>(
    store: &S,
    known: &Registered,
    table: &TableName,
    partition_key: &PartitionKey,
    now: u64,
) -> Result<()> {
    let id = (table.folded().to_owned(), partition_key.as_str().to_owned());
    let is_assumed = known.assumed.lock().unwrap_or_else(PoisonError::into_inner).contains(&id);
    let at = known.own.lock().unwrap_or_else(PoisonError::into_inner).get(&id).copied();
    let is_trusted = |at: u64| now.checked_sub(at).is_some_and(|age| age < ticks_of(TRUSTED));
    if is_assumed || at.is_some_and(is_trusted) {
        return Ok(());
    }
    renew(store, table, partition_key).await?;
    let mut known = known.own.lock().unwrap_or_else(PoisonError::into_inner);
    if known.len() >= REMEMBERED {
        known.clear();
    }
    known.insert(id, now);
    Ok(())
}

/// Registers a partition and removes its marks, even if this process has already registered it within the last hour. The expiry of its grants is unchanged.
pub(crate) async fn renew<S: TableStore>(
    store: &S,
    table: &TableName,
    partition_key: &PartitionKey,
) -> Result<()> {
    let kind = OperationKind::InsertOrMerge(registration(table, None));
    put(store, REGISTRY, &key_of(table, partition_key)?, kind).await
}

/// Writes a row to a registry table. Creates the table if it does not exist.
pub(crate) async fn put<S: TableStore>(
    store: &S,
    registry: &str,
    key: &EntityKey,
    kind: OperationKind,
) -> Result<()> {
    let registry = TableName::new(registry)?;
    let transaction = alone(key, kind, store.capabilities().limits)?;
    match store.submit(&registry, transaction.clone()).await {
        Err(error) if error.is_table_not_found() => {
            store.create_table_if_missing(&registry).await?;
            store.submit(&registry, transaction).await.map(drop)
        }
        outcome => outcome.map(drop),
    }
}

/// Writes a row and reads its Timestamp. Returns this Timestamp, the store's time, in ticks.
pub(crate) async fn store_time<S: TableStore>(store: &S) -> Result<u64> {
    let key = EntityKey::new(SWEEPS, "time")?;
    let kind = OperationKind::InsertOrReplace(RowWriter::with_capacity(0).finish());
    put(store, REGISTRY, &key, kind).await?;
    let found = store.get(&TableName::new(REGISTRY)?, &key, &Select::All).await?;
    Ok(found.map_or(0, |found| found.row.view().timestamp()))
}

/// Returns the key range of one table's registrations.
pub(crate) fn buckets(table: &TableName) -> KeyRange {
    let partition_key = TextRange::prefix(&format!("{}_", table.folded()));
    KeyRange { partition_key, row_key: TextRange::ALL }
}

/// Calls a function with each row of a registry. A row that the store cannot represent has no properties but its `EntityType`; its key identifies the partition.
/// A registry that does not exist has no rows. Returns the number of rows whose keys the store does not return.
pub(crate) async fn each<S: TableStore>(
    store: &S,
    registry: &TableName,
    range: KeyRange,
    mut take: impl FnMut(EntityRef<'_>) + Send,
) -> Result<u64> {
    let (query, mut skipped) = (Query::new(range), 0);
    let mut pages = Pages::new(store, registry, &query);
    while let Some(whole) = none_if_missing(pages.next_whole().await)? {
        whole.page.rows.iter().chain(whole.unreadable.iter().map(Unreadable::entity)).for_each(&mut take);
        skipped += whole.page.skipped;
    }
    Ok(skipped)
}

/// Returns `true` if a partition is not marked as quiet, was last registered at least two hours ago, and its grants expired at least two hours ago.
pub(crate) fn may_be_quiet(entry: &Entry, now: u64) -> bool {
    !entry.is_quiet && now.saturating_sub(entry.registered.max(entry.until)) >= ticks_of(ACTIVE)
}

/// Marks a partition without pending rows as quiet if it was last registered at least two hours ago and its grants expired at least two hours ago. Returns
/// `true` if it was marked. `now` must be the store's time. With a fast local clock, partitions are marked while writers still rely on their registrations.
///
/// The write is conditional on the registry row's `ETag`. A partition that is registered again at the same time is therefore not marked.
pub(crate) async fn mark_quiet<S: TableStore>(store: &S, entry: &Entry, now: u64) -> Result<bool> {
    if !may_be_quiet(entry, now) {
        return Ok(false);
    }
    let row = marked(&entry.table, Mark::Quiet);
    change(store, entry, |etag| OperationKind::Replace(row, etag)).await
}

/// Removes the mark from a quiet partition that contains a pending row.
///
/// The write is conditional on the registry row's `ETag`. It therefore does not overwrite the mark of a concurrent erasure.
pub(crate) async fn unmark<S: TableStore>(store: &S, entry: &Entry) -> Result<()> {
    if entry.is_quiet {
        let row = registration(&entry.table, None);
        change(store, entry, |etag| OperationKind::Merge(row, etag)).await?;
    }
    Ok(())
}

/// Writes or deletes a registry row, conditional on its `ETag`. Returns `false` if the row has changed since it was read.
async fn change<S: TableStore>(
    store: &S,
    entry: &Entry,
    kind: impl FnOnce(IfMatch) -> OperationKind,
) -> Result<bool> {
    change_row(store, &entry.key, kind(IfMatch::ETag(entry.etag.clone()))).await
}

async fn change_row<S: TableStore>(store: &S, key: &EntityKey, kind: OperationKind) -> Result<bool> {
    let transaction = alone(key, kind, store.capabilities().limits)?;
    match store.submit(&TableName::new(REGISTRY)?, transaction).await {
        Err(error) if error.is_precondition_failed() || error.is_not_found() => Ok(false),
        outcome => outcome.map(|_| true),
    }
}

/// Marks a registered partition as erased. Grants no longer keep it active. Returns `false` if it is not registered.
pub(crate) async fn mark_erased<S: TableStore>(
    store: &S,
    table: &TableName,
    partition_key: &PartitionKey,
) -> Result<bool> {
    let kind = OperationKind::Replace(marked(table, Mark::Erased), IfMatch::Any);
    let transaction = alone(&key_of(table, partition_key)?, kind, store.capabilities().limits)?;
    match store.submit(&TableName::new(REGISTRY)?, transaction).await {
        Err(error) if error.is_not_found() => Ok(false),
        outcome => outcome.map(|_| true),
    }
}

/// Removes the registration of an erased partition once no writer can rely on it any longer. `now` is the store's time.
///
/// The deletion is conditional on the registry row's `ETag`. A concurrent registration is therefore not removed.
pub(crate) async fn remove_erased<S: TableStore>(store: &S, entry: &Entry, now: u64) -> Result<()> {
    if now.saturating_sub(entry.registered) < ticks_of(ACTIVE) {
        return Ok(());
    }
    change(store, entry, OperationKind::Delete).await.map(drop)
}
