//! The writes that settle an index entry: its guard, and its copy or list.

use table_core::entity::Entity;
use table_core::etag::IfMatch;
use table_core::key::{EntityKey, RowKey};
use table_core::operation::OperationKind;
use table_core::query::Select;
use table_core::row::Row;
use table_core::schema::IndexKind;
use table_core::store::{StoredRow, TableStore};
use table_core::{Error, ErrorCode, Result};

use crate::converge;
use crate::entities::StepRecorder;
use crate::index::copy::{occupied, violation};
use crate::index::copy_owner::is_entity;
use crate::index::list::{ListForm, ListWrite, Upload};
use crate::index::mark::{has_room, is_marked, mark};
use crate::index::settle::{Entries, Entry, Target};
use crate::index::whole::has_same;
use crate::outbox::keys::guard_key;

impl<E: Entity, S: TableStore, O: StepRecorder> Entries<'_, E, S, O> {
    /// Adds the writes for one key: the guard, and the entry if it differs from the desired entry. Returns `false` if the entity has changed since it was read.
    pub(super) async fn operations(
        &self,
        entry: &Entry,
        operations: &mut Vec<(RowKey, OperationKind)>,
        uploads: &mut Vec<Upload>,
    ) -> Result<bool> {
        let Entry { target: Target { key, guard, row }, wanted, entity, marks } = entry;
        let step = match self.step(key, (wanted.as_ref(), *marks), row.as_ref()).await {
            // After this entity was read, it may have released the value, and another entity may have acquired it, so the violation is real only if this entity
            // has not changed.
            Err(error) if error.code() == ErrorCode::UniqueViolation => {
                let (store, table) = (self.handle.table.store(), self.handle.table.name()?);
                let now = store.get(table, &self.change.owner, &Select::All).await?;
                return if now.map(|now| now.etag) == *entity { Err(error) } else { Ok(false) };
            }
            step => step?,
        };
        if step.is_none() && !self.is_genuine {
            return Ok(true);
        }
        let (mut known, etag) =
            guard.clone().map_or_else(Default::default, |(guard, etag)| (guard, Some(etag)));
        if let Some(generation) = &self.generation {
            known.learn(&generation.origin);
        }
        operations.push((guard_key(key)?.row_key, converge::upsert(known.write(), etag)));
        if let Some(ListWrite { kind, upload }) = step {
            operations.push((key.row_key.clone(), kind));
            uploads.extend(upload);
        }
        Ok(true)
    }

    /// Returns the operation that corrects the copy or list at a key; `None` if it is already correct.
    async fn step(
        &self,
        key: &EntityKey,
        (wanted, marks): (Option<&Row>, bool),
        found: Option<&StoredRow>,
    ) -> Result<Option<ListWrite>> {
        if self.index.schema().kind == IndexKind::List {
            let place = |error: Error| {
                error
                    .with_table(self.table.as_str())
                    .with_key(key.partition_key.as_str(), key.row_key.as_str())
            };
            return self.list_step(key, (wanted, marks), found).await.map_err(place);
        }
        let kind = match found {
            Some(found) if marks => Some(mark(found.etag.clone())),
            _ => self.copy_step(key, wanted, found).await?,
        };
        Ok(kind.map(|kind| ListWrite { kind, upload: None }))
    }

    /// Returns `true` if the entity has an entry in the stored row, and the row is not marked but has room for a mark.
    pub(super) async fn can_mark(&self, target: &Target) -> Result<bool> {
        let (Target { key, row, .. }, schema) = (target, self.index.schema());
        let Some(found) = row else { return Ok(false) };
        if schema.kind == IndexKind::List {
            let (form, lists) = (ListForm::new(E::SCHEMA, schema), self.handle.lists(&self.table));
            let members = lists.read::<E>(&form, key, Some(&found.row)).await?;
            return Ok(members.contains(&self.change.owner) && lists.has_room_for_mark(&form, key, &members));
        }
        let is_ours =
            self.handle.copy_owner(schema, key, &found.row).await?.as_ref() == Some(&self.change.owner);
        let limits = self.handle.table.store().capabilities().limits;
        Ok(is_ours && !is_marked(&found.row)? && has_room(key, &found.row, &limits)?)
    }

    async fn copy_step(
        &self,
        key: &EntityKey,
        wanted: Option<&Row>,
        found: Option<&StoredRow>,
    ) -> Result<Option<OperationKind>> {
        let Some(found) = found else { return Ok(wanted.map(|row| OperationKind::Insert(row.clone()))) };
        let if_match = IfMatch::ETag(found.etag.clone());
        let holder = self.handle.copy_owner(self.index.schema(), key, &found.row).await?;
        let is_ours = holder.as_ref() == Some(&self.change.owner);
        Ok(match wanted {
            Some(row) if is_ours && has_same(found.row.view(), row.view())? => None,
            Some(row) if is_ours => Some(OperationKind::Replace(row.clone(), if_match)),
            Some(row) => {
                match holder {
                    Some(holder) if self.handle.has_entry(self.index, &holder, key).await? => {
                        return Err(violation(self.index.schema(), key, &holder));
                    }
                    // A repair replaces the row if it is neither a copy nor an entity.
                    None if !self.marks || is_entity::<E>(self.index.schema(), key, &found.row) => {
                        return Err(occupied(self.index.schema(), key));
                    }
                    _ => {}
                }
                // The stored entry is obsolete, and would be removed later when its owner is settled.
                Some(OperationKind::Replace(row.clone(), if_match))
            }
            None if is_ours => Some(OperationKind::Delete(if_match)),
            None => None,
        })
    }

    async fn list_step(
        &self,
        key: &EntityKey,
        (wanted, marks): (Option<&Row>, bool),
        found: Option<&StoredRow>,
    ) -> Result<Option<ListWrite>> {
        let form = ListForm::new(E::SCHEMA, self.index.schema());
        let lists = self.handle.lists(&self.table);
        let before = lists.read::<E>(&form, key, found.map(|found| &found.row)).await?;
        let mut after = before.clone();
        match wanted {
            Some(row) => after.join(self.change.owner.clone(), form.member(row)),
            None if marks => after.mark(),
            None => after.leave(&self.change.owner),
        }
        if after == before {
            return Ok(None);
        }
        lists.write(&form, key, found, &before, &after).await
    }
}
