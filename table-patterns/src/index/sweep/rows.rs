//! The phase of a pass that compares index rows with entities. It finds dangling index entries, and removes them if requested.

use table_core::entity::Entity;
use table_core::key::EntityKey;
use table_core::name::TableName;
use table_core::query::Select;
use table_core::row::Row;
use table_core::schema::IndexKind;
use table_core::store::{StoredRow, TableStore};
use table_core::{Error, Result};

use crate::entities::{RACE, StepRecorder, read_as};
use crate::index::changes::stored_entry;
use crate::index::copy::occupied;
use crate::index::copy_owner::is_entity;
use crate::index::finding::{Finding, FindingKind};
use crate::index::list::{ListForm, ListWrite, Members};
use crate::index::mark::{has_room, is_marked, mark};
use crate::index::remote::RemoteChange;
use crate::index::sweep::{Item, Phase, Sweep};
use crate::omitted;
use crate::requests::{self, CONCURRENCY};

/// The findings in one index row.
#[derive(Default)]
struct Checked {
    /// `true` if a repair [marks](crate::index::mark) the row before removing an entry.
    marks: bool,
    /// Dangling or unreadable entries. A repair removes them.
    wrong: Vec<Finding>,
    /// Entries that a repair keeps, because their entities cannot be decoded, or because the row itself is an entity.
    kept: Vec<Finding>,
}

impl<E: Entity, S: TableStore, O: StepRecorder> Sweep<'_, E, S, O> {
    /// Checks index rows concurrently, and returns the findings in order.
    pub(super) async fn rows(&self, table: &TableName, items: &[Item]) -> Result<Vec<Finding>> {
        let rows = (0..items.len()).map(|position| async move {
            match items.get(position) {
                Some(Item { key, found }) => {
                    let row = self.row(table, key, found.clone());
                    let findings = self.guarded((Phase::Rows, key), row).await?;
                    Ok(findings.unwrap_or_else(|bad| vec![bad]))
                }
                None => Ok(Vec::new()),
            }
        });
        let findings: Vec<Vec<Finding>> = requests::in_order(rows, CONCURRENCY).await?;
        Ok(findings.into_iter().flatten().collect())
    }

    /// Checks that each entry in one index row belongs to an entity. Confirms the findings. If requested, repairs them.
    async fn row(&self, table: &TableName, key: &EntityKey, mut found: StoredRow) -> Result<Vec<Finding>> {
        let mut race = self.table.retry.start(RACE);
        let at = |error: Error| {
            error.with_table(table.as_str()).with_key(key.partition_key.as_str(), key.row_key.as_str())
        };
        loop {
            let Checked { marks, wrong, mut kept } = self.check(table, key, &found.row).await?;
            if wrong.is_empty() {
                return Ok(kept);
            }
            if !self.repair {
                // IMPORTANT: the row was read before its owners. If an owner has been added since, the version of the row has changed.
                let again = self.store().get(table, key, &Select::All).await?;
                let Some(again) = again else { return Ok(Vec::new()) };
                if again.etag != found.etag {
                    found = again;
                    race.retry(None).await.map_err(at)?;
                    continue;
                }
                kept.extend(wrong);
                return Ok(kept);
            }
            let has_owner = wrong.iter().any(|finding| finding.owner.is_some());
            // IMPORTANT: another program may give an owner the entry's value without writing the row. Therefore, the row is marked before its owners are read
            // for the last time.
            let marks = marks && has_owner && self.schema().is_same_partition();
            let done = if marks {
                self.mark(table, key, &found).await
            } else {
                self.remove(table, key, &found, &wrong).await
            };
            match done {
                Ok(()) if marks => {}
                Ok(()) => {
                    kept.extend(wrong.into_iter().map(|finding| Finding { repaired: true, ..finding }));
                    return Ok(kept);
                }
                Err(error) if error.is_conflict() => race.retry(error).await.map_err(at)?,
                Err(error) => return Err(error),
            }
            let Some(again) = self.store().get(table, key, &Select::All).await? else {
                return Ok(Vec::new());
            };
            found = again;
        }
    }

    /// Checks each entry in a row. An entry whose entity cannot be decoded remains in the row.
    async fn check(&self, table: &TableName, key: &EntityKey, row: &Row) -> Result<Checked> {
        let (schema, limits) = (self.schema(), self.store().capabilities().limits);
        let mut checked = Checked::default();
        let unreadable = || self.finding(FindingKind::Unreadable, key, None);
        if schema.kind == IndexKind::List {
            let form = ListForm::new(E::SCHEMA, schema);
            let Some(members) = self.members(&form, key, row).await? else {
                checked.wrong.push(unreadable());
                return Ok(checked);
            };
            checked.marks = self.table.lists(table).has_room_for_mark(&form, key, &members);
            checked.wrong.extend((0..members.invalid_members()).map(|_| unreadable()));
            for owner in members.owners() {
                self.check_owner(owner, key, &mut checked).await?;
            }
            if checked.wrong.is_empty() && members.is_marked() {
                checked.wrong.push(self.finding(FindingKind::Stale, key, None));
            }
        } else {
            checked.marks = !is_marked(row)? && has_room(key, row, &limits)?;
            match self.table.copy_owner(schema, key, row).await? {
                None if is_entity::<E>(schema, key, row) => {
                    checked.kept.push(self.bad(Phase::Rows, key, &occupied(schema, key)));
                }
                None => checked.wrong.push(unreadable()),
                Some(owner) => self.check_owner(&owner, key, &mut checked).await?,
            }
        }
        Ok(checked)
    }

    /// Adds a finding if an entity has no index entry at `key`, or if the entity cannot be decoded.
    async fn check_owner(&self, owner: &EntityKey, key: &EntityKey, checked: &mut Checked) -> Result<()> {
        // IMPORTANT: only an unreadable entity is a finding. If the read fails for another reason, the index remains incomplete.
        let found = match self.store().get(self.table.table.name()?, owner, &Select::All).await {
            Err(error) if omitted::is_unreadable(&error) => {
                checked.kept.push(self.bad(Phase::Rows, key, &error));
                return Ok(());
            }
            found => found?,
        };
        let has_entry = async {
            let Some(found) = found else { return Ok(false) };
            let entity: E = read_as(owner, &found.row).map_err(|error| self.table.here(error, owner))?;
            Ok(stored_entry(self.index, &entity)?.is_some_and(|entry| entry.key == *key))
        };
        match self.checked((Phase::Rows, key), has_entry).await? {
            Ok(true) => {}
            Ok(false) => checked.wrong.push(self.finding(FindingKind::Dangling, key, Some(owner))),
            Err(bad) => checked.kept.push(bad),
        }
        Ok(())
    }

    /// Marks a row that is about to be deleted, or whose dangling entries are about to be removed.
    async fn mark(&self, table: &TableName, key: &EntityKey, found: &StoredRow) -> Result<()> {
        if self.schema().kind == IndexKind::Copies {
            return self.submit(table, key, mark(found.etag.clone())).await;
        }
        let form = ListForm::new(E::SCHEMA, self.schema());
        let before = self.members(&form, key, &found.row).await?.unwrap_or_default();
        let mut after = before.clone();
        after.mark();
        self.write_list((table, key), &form, found, (&before, &after)).await
    }

    async fn remove(
        &self,
        table: &TableName,
        key: &EntityKey,
        found: &StoredRow,
        wrong: &[Finding],
    ) -> Result<()> {
        let owners: Vec<_> = wrong.iter().filter_map(|finding| finding.owner.as_ref()).collect();
        let (mut latest, is_guarded) = (None, !self.schema().is_same_partition());
        if is_guarded && !owners.is_empty() {
            // A concurrent worker may have found the row correct and written nothing. Therefore, the row is not deleted directly but settled, which rereads the
            // entity.
            for owner in &owners {
                let change = RemoteChange::of_index(self.schema(), (*owner).clone(), vec![key.clone()]);
                self.table.settle_for_pass(self.schema(), &change).await?;
            }
            if owners.len() < wrong.len() {
                latest = self.store().get(table, key, &Select::All).await?;
            }
            if latest.is_none() {
                return Ok(());
            }
        }
        let found = latest.as_ref().unwrap_or(found);
        if self.schema().kind == IndexKind::Copies {
            return self.delete(table, key, found.etag.clone()).await;
        }
        let form = ListForm::new(E::SCHEMA, self.schema());
        let before = self.members(&form, key, &found.row).await?.unwrap_or_default();
        let mut after = before.clone();
        after.unmark();
        after.remove_invalid_members();
        for owner in owners.iter().filter(|_| !is_guarded) {
            after.leave(owner);
        }
        self.write_list((table, key), &form, found, (&before, &after)).await
    }

    async fn write_list(
        &self,
        (table, key): (&TableName, &EntityKey),
        form: &ListForm,
        found: &StoredRow,
        (before, after): (&Members, &Members),
    ) -> Result<()> {
        let lists = self.table.lists(table);
        let write = lists.write(form, key, Some(found), before, after).await?;
        let Some(ListWrite { kind, upload }) = write else { return Ok(()) };
        upload.as_ref().map_or(Ok(()), |upload| lists.check_age(upload))?;
        let done = self.submit(table, key, kind).await;
        if let (Err(error), Some(upload)) = (&done, &upload)
            && error.is_conflict()
        {
            lists.discard(upload).await;
        }
        done
    }
}
