//! Erases a tenant, including its rows in other partitions and tables, and verifies that nothing is left.

use std::collections::BTreeSet;

use futures_util::FutureExt;
use table_core::etag::{ETag, IfMatch};
use table_core::key::text::RESERVED;
use table_core::key::{EntityKey, PartitionKey};
use table_core::name::TableName;
use table_core::query::{EntityRef, Query, Select, TextRange};
use table_core::store::TableStore;
use table_core::{Error, Result};

use crate::copies::{REFERENCE_PREFIX, source_in};
use crate::deletion::delete_rows;
use crate::feed::FEEDS;
use crate::index::{EntriesLeft, Finding};
use crate::omitted::{self, Unreadable, WholePage};
use crate::outbox::registry::{self, REGISTRY};
use crate::outbox::rows::Pending;
use crate::outbox::{OUTBOX_PREFIX, POISON_PREFIX};
use crate::paging::{Pages, none_if_missing};
use crate::requests::{self, CONCURRENCY};
use crate::tenant::Tenant;
use crate::tenant::fault::TenantFault;
use crate::tenant::partitions::Partitions;
use crate::tenant::place::{Place, all_rows};

/// The maximum number of passes. If rows remain after the last pass, the erasure fails, because a writer must still be active.
const PASSES: u32 = 3;

/// The report of an erasure.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Erased {
    /// The number of deleted rows in the tenant's partitions.
    pub rows: u64,
    /// The number of deleted or changed rows in other partitions and tables: index rows, list members, references and copies.
    pub remote_rows: u64,
    /// The number of partition registrations deleted (for feeds) or marked as erased (for outboxes).
    pub registrations: u64,
    /// The number of deleted blobs.
    pub blobs: u64,
    /// The number of passes. The verification after the last pass found no remaining data, except in the [unreadable](Self::unreadable) and
    /// [skipped](Self::skipped) rows.
    pub passes: u32,
    /// The remote index rows that cannot be read, such as corrupted lists, each with its key and the reason. They may contain entries of the tenant. Repair
    /// them with [`Entities::check`](crate::Entities::check), and erase the tenant again.
    pub unreadable: Vec<Finding>,
    /// The number of rows of remote indexes and of registries that pages [omit](table_core::query::Page::skipped) and whose keys the store does not return, such
    /// as items that other programs wrote to Cosmos DB. They may contain entries of the tenant, and remain. A row can count several times, for example once for
    /// each of several indexes in its table.
    pub skipped: u64,
}

impl Tenant {
    /// Erases the tenant: its rows, the remote rows derived from them, its registrations and its blobs. A final pass then reads everything again, including all
    /// remote indexes. Rows can remain because a late writer or worker has added them, or because another tool has deleted entities without their index rows.
    /// The erasure then runs again, for at most three passes in total. The later passes also remove entries of remote indexes whose entities no longer exist or
    /// cannot be read. If another program has written such an entity with properties of wrong types, references to it in partitions outside the tenant remain.
    /// Remote index rows that cannot be read are reported in [`Erased::unreadable`], and remain. Rows of the tenant's partitions that pages
    /// [omit](table_core::query::Page::skipped) are deleted if the store returns their keys, except entities that hold copies, recorded steps, and references
    /// to holders of copies, because the names of the rows elsewhere that belong to them are unknown. If such rows remain, the erasure fails with the key of
    /// one of them.
    ///
    /// Partitions with an outbox remain registered for two hours, marked as erased, because running programs rely on the registrations for an hour, and the
    /// tenant may return in that time. The registrations contain only the names of the table and of the partition. The first sweep after the two hours
    /// removes them.
    ///
    /// Stop the tenant's writers first. After an interruption, call this function again: the remaining rows determine the remaining work.
    ///
    /// # Errors
    /// - `InvalidInput` if a type with remote rows is not registered.
    /// - `SchemaMismatch` if a newer program maintains remote rows that this program is unaware of.
    /// - `UpdateConditionNotSatisfied` if rows remain after three passes.
    /// - `EntityMismatch` or `Corrupted` if copies must be cleared in an entity that the store cannot represent.
    /// - Any error from the stores.
    pub async fn erase(&self) -> Result<Erased> {
        self.check()?;
        self.check_known().await?;
        let mut erased = Erased::default();
        loop {
            erased.passes += 1;
            let mut kept = None;
            for place in &self.places {
                kept = kept.or(erase_place(place, &mut erased).await?);
                if erased.passes > 1 {
                    erase_leftovers(place, &mut erased).await?;
                }
            }
            let EntriesLeft { rows, unreadable, skipped } = self.left().await?;
            if rows == 0 {
                return Ok(Erased { unreadable, skipped, ..erased });
            }
            if erased.passes == PASSES {
                let error = Error::of(TenantFault::Left(rows));
                let Some((table, EntityKey { partition_key, row_key })) = kept else { return Err(error) };
                return Err(error
                    .with_table(table.as_str())
                    .with_key(partition_key.as_str(), row_key.as_str()));
            }
        }
    }

    /// Counts the rows, blobs, registrations and remote index entries that an erasure would still remove. Returns 0 once the erasure is complete. A list shared
    /// by several entities counts as one entry, and so does an index row that cannot be read. Rows of remote indexes and of
    /// registries whose keys are unknown are counted, too; see [`Erased::skipped`]. Guards and references in other partitions, and registrations
    /// marked as erased, are not counted. Performs a full scan of every remote index.
    ///
    /// # Errors
    /// - `SchemaMismatch` if a newer program maintains remote rows that this program is unaware of.
    /// - Any error from the stores.
    pub async fn remaining(&self) -> Result<u64> {
        self.check_known().await?;
        let EntriesLeft { rows, unreadable, skipped } = self.left().await?;
        Ok(rows + skipped + u64::try_from(unreadable.len()).unwrap_or(u64::MAX))
    }
}

impl Tenant {
    /// Counts the rows, blobs, registrations and remote index entries that an erasure would still remove. Also returns the remote index rows that cannot be
    /// read, and the number of rows whose keys are unknown.
    async fn left(&self) -> Result<EntriesLeft> {
        let count = self.count().await?;
        let mut left = EntriesLeft { rows: count.rows() + count.blobs, ..EntriesLeft::default() };
        for place in &self.places {
            let ranges = place.ranges();
            for member in &place.members {
                let EntriesLeft { rows, unreadable, skipped } = member.leftovers(&ranges).await?;
                (left.rows, left.skipped) = (left.rows + rows, left.skipped + skipped);
                left.unreadable.extend(unreadable);
            }
            for table in place.existing().await? {
                let number = |found: usize| u64::try_from(found).unwrap_or(u64::MAX);
                for registry in [REGISTRY, FEEDS] {
                    let (found, skipped) = registered(place, registry, &table).await?;
                    (left.rows, left.skipped) = (left.rows + number(found.len()), left.skipped + skipped);
                }
            }
        }
        Ok(left)
    }

    /// Checks that this program is aware of the remote rows of all registered types.
    async fn check_known(&self) -> Result<()> {
        for member in self.places.iter().flat_map(|place| &place.members) {
            member.check_known().await?;
        }
        Ok(())
    }
}

/// Erases the rows, registrations and blobs of a location. Returns the table and the key of a row that remains because it names other rows, and the store does
/// not return their names.
async fn erase_place(place: &Place, erased: &mut Erased) -> Result<Option<(TableName, EntityKey)>> {
    let mut kept = None;
    for table in place.existing().await? {
        // IMPORTANT: the feeds' registrations are read before the rows are deleted. A registration that changes afterwards may belong to a feed created by a
        // late writer, so it is left for the next pass.
        let (feeds, _) = registered(place, FEEDS, &table).await?;
        for range in place.ranges() {
            // IMPORTANT: remote rows are erased first. After a crash, the remaining entities still identify them.
            let entity = erase_rows(place, &table, &range, false, erased).await?;
            // Recorded steps and references also identify remote rows. They are erased after the entities, because a reference to a deleted source is needed to
            // clear the copies.
            let reserved = erase_rows(place, &table, &range, true, erased).await?;
            kept = kept.or(entity.or(reserved).map(|key| (table.clone(), key)));
        }
        let feeds = feeds.into_iter().map(|(partition_key, etag)| {
            Ok((registry::key_of(&table, &partition_key)?, IfMatch::ETag(etag)))
        });
        let feeds = feeds.collect::<Result<_>>()?;
        erased.registrations += delete_rows((&place.store, &TableName::new(FEEDS)?), feeds).await?;
        // IMPORTANT: the entry remains, because running writers rely on it. A sweep removes the entry later.
        for (partition_key, _) in registered(place, REGISTRY, &table).await?.0 {
            let is_marked = registry::mark_erased(&place.store, &table, &partition_key).await?;
            erased.registrations += u64::from(is_marked);
        }
        #[cfg(feature = "blobs")]
        for folder in place.folders(&table)? {
            erased.blobs += folder.erase(&place.partitions).await?;
        }
    }
    Ok(kept)
}

/// Removes remote entries that no row of the tenant identifies, because a worker wrote them late, or another tool has deleted their entities.
async fn erase_leftovers(place: &Place, erased: &mut Erased) -> Result<()> {
    let ranges = place.ranges();
    for member in &place.members {
        erased.remote_rows += member.erase_leftovers(&ranges).await?;
    }
    Ok(())
}

/// Erases either the reserved rows or all other rows in a range of partitions, page by page. Before it erases a page, it removes the remote rows that the
/// page's rows identify. Returns the key of a row that remains because it names other rows, and the store does not return their names.
async fn erase_rows(
    place: &Place,
    table: &TableName,
    range: &TextRange,
    is_reserved: bool,
    erased: &mut Erased,
) -> Result<Option<EntityKey>> {
    let mut range = all_rows(range.clone());
    if is_reserved && range.partition_key.single().is_some() {
        range.row_key = TextRange::prefix(&RESERVED.to_string());
    }
    let query = Query::new(range);
    let (mut pages, mut kept) = (Pages::new(&place.store, table, &query), None);
    while let Some(WholePage { page, unreadable }) = none_if_missing(pages.next_whole().await)? {
        // A row that the store cannot represent can be deleted. If it is an entity, the next pass finds its index rows in other partitions by its partition.
        // Holders of copies, steps and references remain, and the erasure fails, because the rows that they name are unknown.
        let (named, unreadable): (Vec<_>, Vec<_>) =
            unreadable.into_iter().partition(|row| names_rows(place, row));
        kept = kept.or_else(|| named.into_iter().next().map(|row| row.key));
        let rows: Vec<_> = page.rows.iter().chain(unreadable.iter().map(Unreadable::entity)).collect();
        erased.remote_rows += if is_reserved {
            erase_named(place, table, &rows).await?
        } else {
            erase_derived(place, &rows).await?
        };
        let keys = rows.iter().map(|row| EntityKey::new(row.partition_key, row.row_key));
        let mut keys = keys.collect::<Result<Vec<_>>>()?;
        keys.retain(|key| key.row_key.is_reserved() == is_reserved);
        erased.rows += delete(place, table, keys).await?;
    }
    Ok(kept)
}

/// Returns `true` for a recorded step, a reference to a holder of copies, and an entity that holds copies. A holder names its sources, whose partitions contain
/// references to it.
fn names_rows(place: &Place, row: &Unreadable) -> bool {
    let is_reserved = |prefix: &&str| row.key.row_key.as_str().starts_with(*prefix);
    [OUTBOX_PREFIX, POISON_PREFIX, REFERENCE_PREFIX].iter().any(is_reserved)
        || place.member(row.entity()).is_some_and(|member| member.holds_copies())
}

/// Removes the remote rows derived from the entities in `rows`.
async fn erase_derived(place: &Place, rows: &[EntityRef<'_>]) -> Result<u64> {
    let mut owned = Vec::new();
    for row in rows.iter().copied() {
        if let Some(member) = place.member(row).filter(|member| member.has_elsewhere()) {
            owned.push((member, EntityKey::new(row.partition_key, row.row_key)?, row.row.to_row()));
        }
    }
    let erasing = owned.iter().map(|(member, key, row)| member.erase(key, row).boxed());
    Ok(requests::in_order(erasing, CONCURRENCY).await?.into_iter().sum())
}

/// Removes the remote rows that the recorded steps in `rows` may have written. Clears the copies of deleted entities in the entities that hold the copies.
async fn erase_named(place: &Place, table: &TableName, rows: &[EntityRef<'_>]) -> Result<u64> {
    let (mut changed, mut sources) = (0, BTreeSet::new());
    for row in rows.iter().copied() {
        let is_recorded = [OUTBOX_PREFIX, POISON_PREFIX].iter().any(|prefix| row.row_key.starts_with(prefix));
        if is_recorded {
            changed += erase_recorded(place, table, row).await?;
        } else if let Some(source) = source_in(row.row_key) {
            sources.insert(EntityKey::new(row.partition_key, source)?);
        }
    }
    for source in sources {
        for member in place.members.iter().filter(|member| member.owns_key(&source)) {
            changed += member.clear_copies(&source).await?;
        }
    }
    Ok(changed)
}

async fn erase_recorded(place: &Place, table: &TableName, row: EntityRef<'_>) -> Result<u64> {
    // The steps of an unreadable intent are unknown, so no remote row can be removed for it.
    let Ok(intent) = Pending::read(table, row).and_then(|pending| pending.intent()) else { return Ok(0) };
    let mut removed = 0;
    for step in intent.steps() {
        for member in &place.members {
            removed += member.erase_recorded(step, row.partition_key).await?;
        }
    }
    Ok(removed)
}

/// Returns the partitions of a location that are listed in the registry and not marked as erased, with the versions of their registry rows. Also returns the
/// number of registry rows whose keys are unknown.
async fn registered(
    place: &Place,
    registry: &str,
    table: &TableName,
) -> Result<(Vec<(PartitionKey, ETag)>, u64)> {
    let (store, registry, mut found, mut skipped) = (&place.store, TableName::new(registry)?, Vec::new(), 0);
    for partitions in &place.partitions {
        match partitions {
            Partitions::Is(text) => {
                let partition_key = PartitionKey::new(text.as_str())?;
                let key = registry::key_of(table, &partition_key)?;
                let mut entry = store.get(&registry, &key, &Select::All).await;
                if entry.as_ref().is_err_and(omitted::is_unreadable) {
                    // The registration has no properties that an erasure needs.
                    entry = store.get(&registry, &key, &omitted::identity()).await;
                }
                let entry = match entry {
                    Err(error) if error.is_table_not_found() => None,
                    Err(error) if omitted::is_unreadable(&error) => {
                        skipped += 1;
                        None
                    }
                    entry => entry?.filter(|entry| !registry::is_erased(entry.row.view())),
                };
                found.extend(entry.map(|entry| (partition_key, entry.etag)));
            }
            Partitions::Begin(prefix) => {
                let mut keys = Vec::new();
                let add = |row: EntityRef<'_>| {
                    if row.row_key.starts_with(prefix.as_str()) && !registry::is_erased(row.row) {
                        keys.push(PartitionKey::new(row.row_key).map(|key| (key, row.etag())));
                    }
                };
                skipped += registry::each(store, &registry, registry::buckets(table), add).await?;
                found.extend(keys.into_iter().collect::<Result<Vec<_>>>()?);
            }
        }
    }
    Ok((found, skipped))
}

/// Deletes rows regardless of their versions. Skips rows that no longer exist. Returns the number of deleted rows.
async fn delete(place: &Place, table: &TableName, keys: Vec<EntityKey>) -> Result<u64> {
    let rows = keys.into_iter().map(|key| (key, IfMatch::Any)).collect();
    delete_rows((&place.store, table), rows).await
}
