//! Removes the entries of an entity from indexes in other partitions and tables. The entity itself is not changed.

use table_core::Result;
use table_core::entity::Entity;
use table_core::etag::IfMatch;
use table_core::index::IndexOf;
use table_core::key::EntityKey;
use table_core::mixed::{RowOwner, classify_index_row};
use table_core::name::TableName;
use table_core::operation::OperationKind;
use table_core::query::{EntityRef, Page, Query, Select, TextRange};
use table_core::row::Row;
use table_core::schema::{IndexKind, IndexSchema};
use table_core::store::{StoredRow, TableStore};

use crate::converge;
use crate::entities::{Entities, RACE, StepRecorder};
use crate::index::changes::stored_entry;
use crate::index::finding::{Finding, FindingKind};
use crate::index::list::{ListForm, ListWrite, is_unreadable};
use crate::index::sweep::rows_of;
use crate::omitted::{self, WholePage};
use crate::outbox::keys::guard_key;
use crate::paging::{Pages, none_if_missing};

/// Returns the indexes of an entity type that are in other partitions or tables.
pub(crate) fn remote<E: Entity>() -> impl Iterator<Item = &'static IndexOf<E>> {
    E::INDEXES.iter().filter(|index| !index.schema().is_same_partition())
}

/// The rows of remote indexes that contain entries of entities in selected partitions.
#[derive(Debug, Default)]
pub(crate) struct EntriesLeft {
    /// The number of these rows.
    pub(crate) rows: u64,
    /// The index rows that cannot be read. They may contain entries of these entities.
    pub(crate) unreadable: Vec<Finding>,
    /// The number of rows that the store cannot represent and whose keys it does not return. They may be such index rows.
    pub(crate) skipped: u64,
}

/// The keys of index rows. Each comes with the keys of the selected entities that have an entry in the row. The entities need not exist.
type Found = Vec<(EntityKey, Vec<EntityKey>)>;

impl<E: Entity, S: TableStore, O: StepRecorder> Entities<E, S, O> {
    /// Removes the entries of all entities in the given partitions from all remote indexes, even if the entities do not exist. Returns the number of removed
    /// entries. Scans each remote index completely.
    pub(crate) async fn remove_entries_of(&self, partitions: &[TextRange]) -> Result<u64> {
        let mut removed = 0;
        for index in remote::<E>() {
            let (table, query) = (self.table_of(index.schema())?, Query::new(rows_of::<E>(index.schema())));
            let mut pages = Pages::new(self.table.store(), &table, &query);
            // `count_entries_of` reports the rows that pages omit.
            while let Some(page) = none_if_missing(pages.next().await)? {
                let mut left = EntriesLeft::default();
                for (key, owners) in self.entries_of((index, &table), partitions, (&page, &mut left)).await? {
                    for owner in owners {
                        removed += self.remove_entry(index.schema(), (&owner, &key)).await?;
                    }
                }
            }
        }
        Ok(removed)
    }

    /// Counts the remote index rows that contain entries of entities in the given partitions, or that cannot be read. Performs a full scan of each remote index.
    pub(crate) async fn count_entries_of(&self, partitions: &[TextRange]) -> Result<EntriesLeft> {
        let mut left = EntriesLeft::default();
        for index in remote::<E>() {
            let (schema, table) = (index.schema(), self.table_of(index.schema())?);
            let query = Query::new(rows_of::<E>(schema));
            let mut pages = Pages::new(self.table.store(), &table, &query);
            while let Some(WholePage { page, unreadable: omitted }) =
                none_if_missing(pages.next_whole().await)?
            {
                left.skipped += page.skipped;
                for row in omitted.into_iter().filter(|row| is_own::<E>(schema, row.entity())) {
                    left.unreadable.push(unreadable(schema, row.key, row.error.to_string()));
                }
                let found = self.entries_of((index, &table), partitions, (&page, &mut left)).await?;
                left.rows += u64::try_from(found.len()).unwrap_or(u64::MAX);
            }
        }
        Ok(left)
    }

    /// Removes an entity's entry at one key of a remote index. If no row remains at the key, also removes the guard. Returns the number of removed entries, 0
    /// or 1. The entity need not exist. Does not change an index row that cannot be read; [`count_entries_of`](Self::count_entries_of) reports it.
    pub(crate) async fn remove_entry(
        &self,
        index: &'static IndexSchema,
        (owner, key): (&EntityKey, &EntityKey),
    ) -> Result<u64> {
        let (store, table) = (self.table.store(), self.table_of(index)?);
        let mut race = self.retry.start(RACE);
        loop {
            // IMPORTANT: the guard is read first, because every later change to the entry also changes the guard.
            let guard = read(store, &table, &guard_key(key)?).await?;
            let found = match read(store, &table, key).await {
                Err(error) if omitted::is_unreadable(&error) => return Ok(0),
                found => found?,
            };
            let is_missing = found.is_none();
            let write = match found {
                Some(found) => self.without_owner(index, &table, (owner, key), &found).await?,
                None => None,
            };
            let (removed, mut upload, mut operations) = (u64::from(write.is_some()), None, Vec::new());
            let mut is_gone = is_missing;
            if let Some(ListWrite { kind, upload: named }) = write {
                is_gone = matches!(kind, OperationKind::Delete(_));
                operations.push((key.row_key.clone(), kind));
                upload = named;
            }
            if let Some(guard) = guard.filter(|_| is_gone) {
                operations.push((guard_key(key)?.row_key, OperationKind::Delete(IfMatch::ETag(guard.etag))));
            }
            if operations.is_empty() {
                return Ok(0);
            }
            upload.as_ref().map_or(Ok(()), |upload| self.lists(&table).check_age(upload))?;
            let submitted = converge::submit(store, &table, &key.partition_key, operations).await;
            match submitted {
                // The row was removed in the meantime. The next iteration finds nothing to remove.
                Err(error) if error.is_not_found() => {}
                submitted => {
                    if converge::is_won(submitted)? {
                        return Ok(removed);
                    }
                }
            }
            if let Some(upload) = &upload {
                self.lists(&table).discard(upload).await;
            }
            race.retry(None).await.map_err(|error| self.here(error, owner))?;
        }
    }

    /// Returns the write that removes an entity's entry from a stored index row. Returns `None` if the row contains no entry of the entity.
    async fn without_owner(
        &self,
        index: &'static IndexSchema,
        table: &TableName,
        (owner, key): (&EntityKey, &EntityKey),
        found: &StoredRow,
    ) -> Result<Option<ListWrite>> {
        if index.kind == IndexKind::Copies {
            let is_ours = self.copy_owner(index, key, &found.row).await?.as_ref() == Some(owner);
            let kind = OperationKind::Delete(IfMatch::ETag(found.etag.clone()));
            return Ok(is_ours.then_some(ListWrite { kind, upload: None }));
        }
        let (lists, form) = (self.lists(table), ListForm::new(E::SCHEMA, index));
        let before = match lists.read::<E>(&form, key, Some(&found.row)).await {
            Err(error) if is_unreadable(&error) => return Ok(None),
            before => before?,
        };
        if !before.contains(owner) {
            return Ok(None);
        }
        let mut after = before.clone();
        after.leave(owner);
        lists.write(&form, key, Some(found), &before, &after).await
    }

    /// Removes all entries of a stored entity from the remote indexes. Returns the number of removed entries.
    pub(crate) async fn remove_entries(&self, owner: &EntityKey, entity: &E) -> Result<u64> {
        let mut removed = 0;
        for index in remote::<E>() {
            if let Some(entry) = stored_entry(index, entity)? {
                removed += self.remove_entry(index.schema(), (owner, &entry.key)).await?;
            }
        }
        Ok(removed)
    }

    /// Returns the rows on a page of a remote index that contain entries of entities in the given partitions. Adds the rows that cannot be decoded to `left`.
    async fn entries_of(
        &self,
        (index, table): (&'static IndexOf<E>, &TableName),
        partitions: &[TextRange],
        (page, left): (&Page, &mut EntriesLeft),
    ) -> Result<Found> {
        let schema = index.schema();
        let is_ours =
            |owner: &EntityKey| partitions.iter().any(|range| range.contains(owner.partition_key.as_str()));
        let mut found = Vec::new();
        for row in page.rows.iter().filter(|row| is_own::<E>(schema, *row)) {
            let key = EntityKey::new(row.partition_key, row.row_key)?;
            match self.owners_in(index, table, &key, &row.row.to_row()).await? {
                Err(reason) => left.unreadable.push(unreadable(schema, key, reason)),
                Ok(mut owners) => {
                    owners.retain(is_ours);
                    found.extend((!owners.is_empty()).then_some((key, owners)));
                }
            }
        }
        Ok(found)
    }

    /// Returns the keys of the entities that have an entry in a remote index row. Returns an inner error if the row is corrupted.
    async fn owners_in(
        &self,
        index: &IndexOf<E>,
        table: &TableName,
        key: &EntityKey,
        row: &Row,
    ) -> Result<Result<Vec<EntityKey>, String>> {
        let schema = index.schema();
        if schema.kind == IndexKind::Copies {
            let copy = EntityRef::new(key.partition_key.as_str(), key.row_key.as_str(), row.view());
            return Ok(index.owner(copy).map(|owner| vec![owner]).map_err(|error| error.to_string()));
        }
        let form = ListForm::new(E::SCHEMA, schema);
        match self.lists(table).read::<E>(&form, key, Some(row)).await {
            Err(error) if is_unreadable(&error) => Ok(Err(error.to_string())),
            members => Ok(Ok(members?.owners().cloned().collect())),
        }
    }
}

/// Returns `true` if a row belongs to the index. The row may have no properties but its `EntityType`.
fn is_own<E: Entity>(index: &IndexSchema, row: EntityRef<'_>) -> bool {
    matches!(classify_index_row::<E>(index, row), Ok(RowOwner::Own))
}

/// Returns the finding for an unreadable index row.
fn unreadable(index: &'static IndexSchema, at: EntityKey, reason: String) -> Finding {
    let kind = FindingKind::Unreadable;
    Finding { index: index.name, kind, at, owner: None, repaired: false, reason: Some(reason) }
}

async fn read<S: TableStore>(store: &S, table: &TableName, key: &EntityKey) -> Result<Option<StoredRow>> {
    match store.get(table, key, &Select::All).await {
        Err(error) if error.is_table_not_found() => Ok(None),
        found => found,
    }
}
