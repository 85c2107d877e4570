//! Partitions that sweeps read until a given day, even if no writer registers them again. This is needed for [grants](crate::grant): the bearer of a grant may
//! write to the partition, but its credential does not permit it to register the partition.
//!
//! Each such partition has a second row in the registry table, in the partition `kept-{table}-{day}`. The day is the first one on which no bearer may write,
//! counted from the year 1. Grants that expire on the same day share a row. A shorter grant does not change the row of an earlier grant.

use std::collections::BTreeMap;
use std::time::Duration;

use table_core::Result;
use table_core::etag::{ETag, IfMatch};
use table_core::key::{EntityKey, PartitionKey};
use table_core::name::TableName;
use table_core::operation::OperationKind;
use table_core::query::{EntityRef, KeyRange, TextRange};
use table_core::runtime::ticks_of;
use table_core::store::TableStore;

use crate::outbox::registry::{ACTIVE, Entry, REGISTRY, change_row, each, entry, entry_row, put};

const PREFIX: &str = "kept-";
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// A row that keeps a partition active.
#[derive(Clone, Debug)]
pub(super) struct KeptRow {
    key: EntityKey,
    etag: ETag,
    /// The time, in ticks, at which all its grants have expired.
    until: u64,
}

/// Ensures that sweeps read a partition at least until the given time, in ticks, even if the partition is marked as quiet.
pub(crate) async fn keep<S: TableStore>(
    store: &S,
    table: &TableName,
    partition_key: &PartitionKey,
    until: u64,
) -> Result<()> {
    let days = until.div_ceil(ticks_of(DAY));
    let key = EntityKey::new(format!("{PREFIX}{}-{days}", table.folded()), partition_key.as_str())?;
    put(store, REGISTRY, &key, OperationKind::InsertOrReplace(entry_row(table, None))).await
}

/// Returns the key range of the rows that keep one table's partitions active.
pub(crate) fn kept_rows(table: &TableName) -> KeyRange {
    let partition_key = TextRange::prefix(&format!("{PREFIX}{}-", table.folded()));
    KeyRange { partition_key, row_key: TextRange::ALL }
}

/// Returns the time until which a row keeps its partition active. Returns `None` if the row is an ordinary registration.
pub(super) fn active_until(row: EntityRef<'_>) -> Option<u64> {
    let (_, days) = row.partition_key.strip_prefix(PREFIX)?.rsplit_once('-')?;
    days.parse::<u64>().ok()?.checked_mul(ticks_of(DAY))
}

/// The table, in lower case, and the partition of a registry row.
pub(super) type Partition = (String, PartitionKey);

/// Returns the partition of a registry row.
pub(super) fn partition_of(entry: &Entry) -> Partition {
    (entry.table.folded().to_owned(), entry.partition_key.clone())
}

/// Returns the rows that keep partitions active, grouped by partition, with one of the rows of each partition as an [`Entry`]. Skips invalid rows.
pub(super) async fn by_partition<S: TableStore>(
    store: &S,
    registry: &TableName,
) -> Result<BTreeMap<Partition, (Entry, Vec<KeptRow>)>> {
    let range = KeyRange { partition_key: TextRange::prefix(PREFIX), row_key: TextRange::ALL };
    let mut kept: BTreeMap<_, (Entry, Vec<_>)> = BTreeMap::new();
    each(store, registry, range, |row| {
        let Some((until, entry)) = active_until(row).zip(entry(row).ok()) else { return };
        let row = KeptRow { key: entry.key.clone(), etag: entry.etag.clone(), until };
        kept.entry(partition_of(&entry)).or_insert_with(|| (entry, Vec::new())).1.push(row);
    })
    .await?;
    Ok(kept)
}

impl Entry {
    /// Returns `true` if the registry contains a row that keeps the partition active because of a grant. The grant may have expired recently.
    pub(crate) const fn is_kept(&self) -> bool {
        !self.kept.is_empty()
    }

    /// Returns `true` if at least one of the rows that keep the partition active has expired at the given time. A row expires two hours after the last grant
    /// that it records.
    pub(crate) fn has_expired(&self, now: u64) -> bool {
        self.kept.iter().any(|row| row.has_expired(now))
    }
}

impl KeptRow {
    fn has_expired(&self, now: u64) -> bool {
        now.saturating_sub(self.until) >= ticks_of(ACTIVE)
    }
}

/// Deletes the rows of expired grants for a partition without pending rows. `now` is the store's time.
pub(crate) async fn remove_expired<S: TableStore>(store: &S, entry: &Entry, now: u64) -> Result<()> {
    for KeptRow { key, etag, .. } in entry.kept.iter().filter(|row| row.has_expired(now)) {
        change_row(store, key, OperationKind::Delete(IfMatch::ETag(etag.clone()))).await?;
    }
    Ok(())
}
