//! Removes the entries of an entity from indexes in other partitions and tables. The entity itself is not changed.

use table_core::Result;
use table_core::entity::Entity;
use table_core::etag::IfMatch;
use table_core::index::IndexOf;
use table_core::key::EntityKey;
use table_core::mixed::{RowOwner, classify_index_row};
use table_core::name::TableName;
use table_core::operation::OperationKind;
use table_core::query::{Continuation, EntityRef, Query, Select, TextRange};
use table_core::row::Row;
use table_core::schema::{IndexKind, IndexSchema};
use table_core::store::{StoredRow, TableStore};

use crate::converge;
use crate::entities::{Entities, RACE, StepRecorder};
use crate::index::changes::stored_entry;
use crate::index::finding::{Finding, FindingKind};
use crate::index::list::{ListForm, ListWrite, is_unreadable};
use crate::index::sweep::rows_of;
use crate::omitted::{Unreadable, WholePage, whole_page};
use crate::outbox::keys::guard_key;

/// Returns the indexes of an entity type that are in other partitions or tables.
pub(crate) fn remote<E: Entity>() -> impl Iterator<Item = &'static IndexOf<E>> {
    E::INDEXES.iter().filter(|index| !index.schema().is_same_partition())
}

/// One page of a remote index. It contains only entries whose entities are in the selected partitions.
struct EntriesOf {
    /// The keys of the index rows. Each comes with the keys of the selected entities that have an entry in the row. These entities need not exist.
    found: Vec<(EntityKey, Vec<EntityKey>)>,
    /// Unreadable index rows. They may contain entries of selected entities.
    unreadable: Vec<Finding>,
    next: Option<Continuation>,
}

impl<E: Entity, S: TableStore, O: StepRecorder> Entities<E, S, O> {
    /// Removes the entries of all entities in the given partitions from all remote indexes, even if the entities do not exist. Returns the number of removed
    /// entries. Scans each remote index completely.
    pub(crate) async fn remove_entries_of(&self, partitions: &[TextRange]) -> Result<u64> {
        let mut removed = 0;
        for index in remote::<E>() {
            let mut from = None;
            loop {
                let page = self.entries_of(index, partitions, from.as_ref()).await?;
                for (key, owners) in page.found {
                    for owner in owners {
                        removed += self.remove_entry(index.schema(), (&owner, &key)).await?;
                    }
                }
                from = page.next;
                if from.is_none() {
                    break;
                }
            }
        }
        Ok(removed)
    }

    /// Returns the number of remote index rows that contain entries of entities in the given partitions. Also returns the unreadable rows. Scans each remote
    /// index completely.
    pub(crate) async fn count_entries_of(&self, partitions: &[TextRange]) -> Result<(u64, Vec<Finding>)> {
        let (mut count, mut unreadable) = (0, Vec::new());
        for index in remote::<E>() {
            let mut from = None;
            loop {
                let page = self.entries_of(index, partitions, from.as_ref()).await?;
                count += u64::try_from(page.found.len()).unwrap_or(u64::MAX);
                unreadable.extend(page.unreadable);
                from = page.next;
                if from.is_none() {
                    break;
                }
            }
        }
        Ok((count, unreadable))
    }

    /// Removes the entry of an entity at one key of a remote index. If no row is left at the key, also removes the guard. Returns the number of removed
    /// entries, 0 or 1. The entity need not exist. A list that cannot be read is not changed; [`count_entries_of`](Self::count_entries_of) reports it.
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
            let found = read(store, &table, key).await?;
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

    /// Reads one page of a remote index. Returns the rows that contain entries of entities in the given partitions, and the unreadable rows.
    async fn entries_of(
        &self,
        index: &'static IndexOf<E>,
        partitions: &[TextRange],
        from: Option<&Continuation>,
    ) -> Result<EntriesOf> {
        let (schema, table) = (index.schema(), self.table_of(index.schema())?);
        let is_ours =
            |owner: &EntityKey| partitions.iter().any(|range| range.contains(owner.partition_key.as_str()));
        let query = Query::new(rows_of::<E>(schema));
        let WholePage { page, unreadable: omitted } =
            match whole_page((self.table.store(), &table), &query, from).await {
                Err(error) if error.is_table_not_found() => WholePage::default(),
                whole => whole?,
            };
        let mut entries = EntriesOf { found: Vec::new(), unreadable: Vec::new(), next: page.continuation };
        let is_own = |row: EntityRef<'_>| matches!(classify_index_row::<E>(schema, row), Ok(RowOwner::Own));
        for Unreadable { key, error, .. } in omitted.into_iter().filter(|row| is_own(row.entity())) {
            entries.unreadable.push(unreadable(schema, key, error.to_string()));
        }
        for row in page.rows.iter() {
            if !is_own(row) {
                continue;
            }
            let key = EntityKey::new(row.partition_key, row.row_key)?;
            match self.owners_in(index, &table, &key, &row.row.to_row()).await? {
                Err(reason) => entries.unreadable.push(unreadable(schema, key, reason)),
                Ok(mut owners) => {
                    owners.retain(is_ours);
                    entries.found.extend((!owners.is_empty()).then_some((key, owners)));
                }
            }
        }
        Ok(entries)
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
