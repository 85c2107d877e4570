//! Guards: prevent an older step from undoing a newer one, whatever the order and number of deliveries.
//!
//! # Key layout
//! A guarded target `(partition, row)` has a row `U+FFFC guard_{row}` beside it, in its own partition:
//!
//! | property | what |
//! |---|---|
//! | `V` and 16 hexadecimal digits | Int64: of the source with this hash, the version of the newest step that was here |
//! | `Owner` | the hash of the source that the entity comes from; absent while there is none |
//!
//! # Guarantee
//! The version of a step is the one that its intent [was given](crate::outbox::Intent::version), else the Timestamp of the transaction that
//! recorded it. A step reads the guard and is passed over if the guard knows its version, or a newer one, of its source. Else target and
//! guard are written in *one* transaction under the guard's `ETag`. So, where later changes have larger versions:
//! - Whatever worker writes, and however long it slept before, its transaction fails if any step came between: it looks again.
//! - What a guard knows of a source only grows. In any order of deliveries, each as often as you like, the newest step of a
//!   source is the last that takes effect, and once every step was delivered it has.
//! - A deletion leaves the guard, so that an insert that arrives after it is known to be older.
//! - A worker that dies before the transaction has done nothing; one that dies after it has done all, and the next delivery is
//!   passed over.
//!
//! Of two sources that claim one target at one time, which a look-up that is unique should not have, the newer version has it; a
//! deletion by another source than the owner leaves the entity alone. Merges of several sources into one target all take effect, each source's in its
//! own order: give each its own properties.
//!
//! # Cost
//! A step is a look-up and a transaction of two operations; a deletion has a second look-up. The guard has about 150 bytes and
//! stays when the entity goes: [`collect_guards`] deletes those of entities that are gone.
//!
//! # Bounds
//! The embedded engine gives out Timestamps in the order of its transactions (ENG-8). The service chooses them by the clock of the machine that
//! serves the partition. For one entity successive values differ (ETAG-6); across entities, as the rows of an outbox are, no order is
//! promised (ETAG-7), though it holds while that clock does not go back between two changes of one entity. Where that cannot be
//! borne, give versions. Where Timestamps are coarser than a tick, as the whole seconds of Cosmos DB for NoSQL, a guarded step without a version is refused
//! when it is recorded.
//!
//! The RowKey of a guarded target has at most 505 UTF-16 code units. Versions of sources in different partitions of the service
//! come from clocks of different machines; only where they claim one target are they compared.

use std::fmt::Write as _;
use std::iter;

use table_core::error::Result;
use table_core::etag::IfMatch;
use table_core::key::{EntityKey, PartitionKey, RowKey};
use table_core::name::TableName;
use table_core::operation::OperationKind;
use table_core::query::{KeyRange, Query, Select, TextRange};
use table_core::retry::Retry;
use table_core::row::{Row, RowView, RowWriter};
use table_core::store::TableStore;
use table_core::value::ValueRef;

use crate::converge;
use crate::outbox::intent::TargetWrite;
use crate::outbox::keys::{guard_key, hash};
use crate::outbox::rows::fresh;

pub use crate::outbox::keys::GUARD_PREFIX;

const OWNER: &str = "Owner";
/// Sources that one guard remembers at most, far below the properties of an entity (ENT-2).
const SOURCES: usize = 200;

/// The source of a step, and the change that it belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Origin {
    /// The hash of the source.
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
        // No key holds U+0000, so the three texts cannot run into each other.
        let texts = [table.folded(), "\0", partition_key.as_str(), "\0", row_key.as_str()];
        let hash = hash(texts.iter().flat_map(|text| text.bytes()));
        let mut source = String::with_capacity(17);
        let _ = write!(source, "V{hash:016x}");
        Self { source, version: i64::try_from(version).unwrap_or(i64::MAX) }
    }
}

/// What a guard knows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Guard {
    owner: Option<String>,
    /// The newest version of each source, oldest first.
    versions: Vec<(String, i64)>,
}

/// What a step does, by its guard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effect {
    /// Nothing: the guard knows it, or a newer one.
    Stale,
    /// Nothing but that the guard learns of it: the entity is another source's.
    Learn,
    /// The write.
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

    /// Whether a change of this version, or a newer one of its source, has been here.
    pub(crate) fn knows(&self, origin: &Origin) -> bool {
        self.version(&origin.source).is_some_and(|known| known >= origin.version)
    }

    /// Remembers that a change has been here.
    pub(crate) fn learn(&mut self, origin: &Origin) {
        self.versions.retain(|(source, _)| *source != origin.source);
        self.versions.push((origin.source.clone(), origin.version));
        if self.versions.len() > SOURCES {
            // The one that was quiet for longest, but for the owner.
            let owner = self.owner.clone();
            if let Some(at) = self.versions.iter().position(|(source, _)| Some(source) != owner.as_ref()) {
                self.versions.remove(at);
            }
        }
    }

    /// Learns of a step, and says what it does.
    fn take(&mut self, origin: &Origin, write: &TargetWrite) -> Effect {
        let deletes = matches!(write, TargetWrite::DeleteIfExists);
        // What several sources merge lies side by side: none takes the entity from another, and none comes too late.
        let shares = matches!(write, TargetWrite::InsertOrMerge(_));
        if self.knows(origin) {
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

/// Takes a guarded step; `false` if it was passed over.
///
/// # Errors
/// Those of the store; `UpdateConditionNotSatisfied` if others wrote the same target all the time.
pub(crate) async fn apply<S: TableStore>(
    (store, retry): (&S, &Retry),
    table: &TableName,
    target: &EntityKey,
    write: &TargetWrite,
    origin: &Origin,
) -> Result<bool> {
    let guard_key = guard_key(target)?;
    let mut race = retry.race("the target or its guard");
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
        race.lost(None).await?;
    }
}

/// The operation on the target; none where there is nothing to delete.
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
            let found = store.get(table, target, &Select::names(["PartitionKey"])).await?;
            found.map(|_| OperationKind::Delete(IfMatch::Any))
        }
    })
}

/// Deletes the guards of one partition whose entities are gone and that no step has touched since an instant, in
/// [ticks](table_core::ticks); how many.
///
/// A step that is delivered after its guard was collected would be taken for a new one: choose an instant before which every
/// intent is known to be done, days rather than hours ago.
///
/// # Errors
/// Those of the store.
pub async fn collect_guards<S: TableStore>(
    store: &S,
    table: &TableName,
    partition_key: &PartitionKey,
    untouched_since: u64,
) -> Result<u64> {
    let query = Query::new(KeyRange::rows(partition_key.as_str(), TextRange::prefix(GUARD_PREFIX)));
    // A Timestamp stands for all instants up to the next one that the store has.
    let step = store.capabilities().timestamp_step.saturating_sub(1);
    let (mut collected, mut from) = (0, None);
    loop {
        let page = store.query(table, &query, from.as_ref()).await?;
        for entity in page.rows.iter() {
            let gone = Guard::read(entity.row)?.owner.is_none();
            if !gone || entity.row.timestamp().saturating_add(step) >= untouched_since {
                continue;
            }
            let kind = OperationKind::Delete(IfMatch::ETag(entity.etag()));
            let delete = [(RowKey::new(entity.row_key)?, kind)];
            let is_deleted = converge::is_won(converge::submit(store, table, partition_key, delete).await)?;
            collected += u64::from(is_deleted);
        }
        from = page.continuation;
        if from.is_none() {
            return Ok(collected);
        }
    }
}

#[cfg(test)]
mod tests;
