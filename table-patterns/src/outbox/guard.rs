//! Guards: rows that prevent an older step from undoing a newer one, no matter how often and in which order the steps are delivered.
//!
//! # Key layout
//! A guarded target `(partition, row)` has a guard row `U+FFFC guard_{row}` in the same partition:
//!
//! | property | content |
//! |---|---|
//! | `V` and 16 hexadecimal digits | Int64: the newest version applied from the source with this hash |
//! | `Owner` | the hash of the source that last wrote the entity; absent if the entity does not exist or is an index entry |
//!
//! # Guarantee
//! A *guarded* step writes an entity (its target) after a change to another entity (its source). The step's version is the version [given to its
//! intent](crate::outbox::Intent::version), or the Timestamp of the transaction that recorded it. A worker that performs the step first reads the guard. If the
//! guard contains this version of the step's source or a newer one, the worker skips the step. Otherwise, it writes the target and the guard in *one*
//! transaction, conditional on the guard's `ETag`.
//!
//! If later changes have larger versions, the following holds:
//! - If another step was applied in the meantime, the transaction fails and the worker reads the guard again. A suspended worker therefore never overwrites
//!   newer data.
//! - The versions in a guard never decrease. Regardless of the order and repetition of deliveries, no older step of a source takes effect after a newer one.
//!   Once all steps have been delivered, the newest one has taken effect.
//! - The guard remains after the target has been deleted. An older insert that arrives later is therefore recognised as older.
//! - If a worker dies before the transaction, nothing has changed. If it dies afterwards, the next delivery is skipped.
//!
//! If two sources write the same target, the newer version wins. In a unique index, two sources should never write the same target. If a source does not own
//! the entity, its delete step leaves the entity unchanged.
//!
//! Merges from several sources into one target do not replace each other, so each source must write different properties. None of these sources may delete the
//! target: depending on the order of the deliveries, a delete would remove either all properties or none.
//!
//! # Cost
//! A step costs a read and a transaction of two operations. A delete step costs a second read. A guard takes about 150 bytes and remains after the entity has
//! been deleted. [`collect_all_guards`] deletes the guards of deleted entities.
//!
//! # Bounds
//! The embedded engine assigns Timestamps in commit order (ENG-8). The service takes them from the clock of the machine that serves the partition. Successive
//! Timestamps of one entity differ (ETAG-6). Across entities, such as the rows of an outbox, the service guarantees no order (ETAG-7). The order is correct if
//! the machine's clock is not set back between two changes to one entity. If this is not sufficient, assign versions. On a store whose Timestamps have a lower
//! resolution than a tick, such as the whole seconds of Cosmos DB for NoSQL, recording a guarded step without a version fails.
//!
//! The RowKey of a guarded target has at most 505 UTF-16 code units. In the service, sources in different partitions get their Timestamps from the clocks of
//! different machines. This matters only if several sources write the same target. Otherwise, their versions are never compared.

use std::fmt::Write as _;
use std::iter;

use table_core::etag::IfMatch;
use table_core::key::{EntityKey, PartitionKey, RowKey};
use table_core::name::TableName;
use table_core::operation::OperationKind;
use table_core::query::{KeyRange, Query, Select, TextRange};
use table_core::retry::Retry;
use table_core::row::{Row, RowView, RowWriter};
use table_core::store::TableStore;
use table_core::{Result, ValueRef};

use crate::converge;
use crate::deletion::delete_rows;
use crate::outbox::intent::TargetWrite;
use crate::outbox::keys::{guard_key, hash};
use crate::outbox::rows::fresh;
use crate::paging::Pages;
use crate::read_many;

pub use crate::outbox::keys::GUARD_PREFIX;

const OWNER: &str = "Owner";
/// The maximum number of sources in one guard. It is far below the maximum number of properties of an entity (ENT-2).
const SOURCES: usize = 200;

/// The origin of a step: the changed entity (the source), and the version of the change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Origin {
    /// The name of the guard property for the source: `V` and the hash of the source's key.
    source: String,
    version: i64,
}

impl Origin {
    pub(crate) fn new(
        table: &TableName,
        partition_key: &PartitionKey,
        row_key: &RowKey,
        version: u64,
    ) -> Self {
        // No key contains U+0000. It can therefore separate the three strings.
        let texts = [table.folded(), "\0", partition_key.as_str(), "\0", row_key.as_str()];
        let hash = hash(texts.iter().flat_map(|text| text.bytes()));
        let mut source = String::with_capacity(17);
        let _ = write!(source, "V{hash:016x}");
        Self { source, version: i64::try_from(version).unwrap_or(i64::MAX) }
    }
}

/// The content of a guard row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Guard {
    owner: Option<String>,
    /// The newest version applied from each source, in any order.
    versions: Vec<(String, i64)>,
}

/// The effect of a step. It depends on the guard of the step's target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effect {
    /// The step is skipped, because the guard already contains its version or a newer one.
    Stale,
    /// Only the guard is updated, because another source takes precedence.
    Learn,
    /// Both the target and the guard are written.
    Write,
}

impl Guard {
    pub(crate) fn read(row: RowView<'_>) -> Result<Self> {
        let mut guard = Self::default();
        for property in row.properties() {
            let property = property?;
            match property.value {
                ValueRef::String(owner) if property.name == OWNER => guard.owner = Some(owner.to_owned()),
                ValueRef::Int64(version) => guard.versions.push((property.name.to_owned(), version)),
                _ => {}
            }
        }
        Ok(guard)
    }

    pub(crate) fn write(&self) -> Row {
        let mut writer = RowWriter::with_capacity(self.versions.len() + 1);
        if let Some(owner) = &self.owner {
            writer.property(OWNER, ValueRef::String(owner));
        }
        for (source, version) in &self.versions {
            writer.property(source, ValueRef::Int64(*version));
        }
        writer.finish()
    }

    fn version(&self, source: &str) -> Option<i64> {
        self.versions.iter().find(|(known, _)| known == source).map(|(_, version)| *version)
    }

    /// Returns `true` if the guard contains this version of the source, or a newer one.
    pub(crate) fn contains_version(&self, origin: &Origin) -> bool {
        self.version(&origin.source).is_some_and(|known| known >= origin.version)
    }

    /// Records that a change has been applied.
    pub(crate) fn learn(&mut self, origin: &Origin) {
        self.versions.retain(|(source, _)| *source != origin.source);
        self.versions.push((origin.source.clone(), origin.version));
        if self.versions.len() > SOURCES {
            // Removes the oldest version, but never the owner's version or the new one. The store may return properties in any order, so all versions are
            // compared.
            let is_kept = |source: &String| Some(source) == self.owner.as_ref() || *source == origin.source;
            let places = self.versions.iter().enumerate().filter(|(_, (source, _))| !is_kept(source));
            if let Some((at, _)) = places.min_by_key(|(_, (source, version))| (version, source)) {
                self.versions.remove(at);
            }
        }
    }

    /// Records a step in the guard, and returns the step's effect on its target.
    fn take(&mut self, origin: &Origin, write: &TargetWrite) -> Effect {
        let deletes = matches!(write, TargetWrite::DeleteIfExists);
        // Merges from several sources coexist. A merge does not take over another source's target, and other sources' steps do not replace the merge.
        let shares = matches!(write, TargetWrite::InsertOrMerge(_));
        if self.contains_version(origin) {
            return Effect::Stale;
        }
        let other = self.owner.as_deref().filter(|owner| *owner != origin.source);
        let newer =
            other.is_some_and(|other| self.version(other).is_some_and(|known| known > origin.version));
        let is_anothers = other.is_some();
        let learns = !shares && (newer || (deletes && is_anothers));
        let effect = if learns { Effect::Learn } else { Effect::Write };
        if effect == Effect::Write && !(shares && is_anothers) {
            self.owner = (!deletes).then(|| origin.source.clone());
        }
        self.learn(origin);
        effect
    }
}

/// Performs a guarded step. Returns `false` if the step is stale. In that case, the target is not written.
///
/// # Errors
/// `UpdateConditionNotSatisfied` if other writers changed the same target during every attempt; any error from the store.
pub(crate) async fn apply<S: TableStore>(
    (store, retry): (&S, &Retry),
    table: &TableName,
    target: &EntityKey,
    write: &TargetWrite,
    origin: &Origin,
) -> Result<bool> {
    let guard_key = guard_key(target)?;
    let mut race = retry.start("the target or its guard");
    loop {
        let found = store.get(table, &guard_key, &Select::All).await?;
        let mut guard =
            found.as_ref().map(|found| Guard::read(found.row.view())).transpose()?.unwrap_or_default();
        let effect = guard.take(origin, write);
        if effect == Effect::Stale {
            return Ok(false);
        }
        let etag = found.map(|found| found.etag);
        let kind = match effect {
            Effect::Write => write_of(store, table, target, write).await?,
            Effect::Learn | Effect::Stale => None,
        };
        let own = (guard_key.row_key.clone(), converge::upsert(guard.write(), etag));
        let operations = iter::once(own).chain(kind.map(|kind| (target.row_key.clone(), kind)));
        if converge::is_won(converge::submit(store, table, &target.partition_key, operations).await)? {
            return Ok(effect == Effect::Write);
        }
        race.retry(None).await?;
    }
}

/// Returns the operation on a step's target. Returns `None` if the entity to delete does not exist.
async fn write_of<S: TableStore>(
    store: &S,
    table: &TableName,
    target: &EntityKey,
    write: &TargetWrite,
) -> Result<Option<OperationKind>> {
    Ok(match write {
        TargetWrite::InsertOrReplace(row) => Some(OperationKind::InsertOrReplace(fresh(row))),
        TargetWrite::InsertOrMerge(row) => Some(OperationKind::InsertOrMerge(fresh(row))),
        TargetWrite::DeleteIfExists => {
            exists(store, table, target).await?.then_some(OperationKind::Delete(IfMatch::Any))
        }
    })
}

async fn exists<S: TableStore>(store: &S, table: &TableName, target: &EntityKey) -> Result<bool> {
    Ok(store.get(table, target, &Select::names(["PartitionKey"])).await?.is_some())
}

/// Deletes the guards in a table that are no longer needed: the entity no longer exists, and no step has changed the guard since `untouched_since`, in
/// [ticks](table_core::ticks). Keeps guards that have an owner, even if another tool has deleted the entity. Returns the number of deleted guards.
///
/// Scans the table, because a guard of a deleted index entry may be in a partition without other rows. Each page of guards costs one query, a read of the
/// entity for each old guard without an owner, and one transaction per 100 deleted guards. If the store returns rows in key order, adjacent entities are read
/// in pages.
///
/// A step that is delivered after its guard was deleted is applied as if it were new. Choose a time that certainly precedes every unfinished intent, including
/// poison intents, for example several days ago.
///
/// # Errors
/// Any error from the store.
pub async fn collect_all_guards<S: TableStore>(
    store: &S,
    table: &TableName,
    untouched_since: u64,
) -> Result<u64> {
    let row_key = TextRange::prefix(GUARD_PREFIX);
    let query = Query::new(KeyRange { partition_key: TextRange::ALL, row_key });
    // A store with low-resolution Timestamps truncates them. The actual time is therefore between the Timestamp and the store's next possible Timestamp.
    let step = store.capabilities().timestamp_step.saturating_sub(1);
    let keys = Select::names(["PartitionKey", "RowKey"]);
    let (mut collected, mut pages) = (0, Pages::new(store, table, &query));
    while let Some(page) = pages.next().await? {
        let (mut targets, mut guards) = (Vec::new(), Vec::new());
        for entity in page.rows.iter() {
            let is_owned = Guard::read(entity.row)?.owner.is_some();
            if is_owned || entity.row.timestamp().saturating_add(step) >= untouched_since {
                continue;
            }
            let Some(target) = entity.row_key.strip_prefix(GUARD_PREFIX) else { continue };
            targets.push(EntityKey::new(entity.partition_key, target)?);
            let guard = EntityKey::new(entity.partition_key, entity.row_key)?;
            guards.push((guard, IfMatch::ETag(entity.etag())));
        }
        // The guard of an index entry never has an owner, so the entry itself must be read. If the entry is written after this read, its guard also changes,
        // and deleting the guard fails.
        let found = read_many::rows_or((store, table), &targets, &keys, |_| Ok(()), |_| Ok(())).await?;
        let absent = guards.into_iter().zip(found).filter(|(_, target)| target.is_none());
        collected += delete_rows((store, table), absent.map(|(guard, _)| guard).collect()).await?;
    }
    Ok(collected)
}

#[cfg(test)]
mod tests;
