//! Propagation of a change of a source to its holders.

use table_core::entity::Entity;
use table_core::error::Result;
use table_core::key::EntityKey;
use table_core::name::TableName;
use table_core::query::Select;
use table_core::store::TableStore;

use crate::denormal::group::{self, Group};
use crate::denormal::relations::Copying;
use crate::denormal::{io, reference};
use crate::index::{Batch, IndexOutbox, is_too_much};
use crate::work::Call;

impl<E: Entity, S: TableStore, O: IndexOutbox> Copying<'_, E, S, O> {
    /// Writes all holders of a source as the source is now, or clears them if it is gone; how many that were. In transactions of 100, each whole by itself
    /// (PAT-EC-6).
    pub(super) async fn spread(&self, key: &EntityKey, call: Option<Call<'_>>) -> Result<usize> {
        let (store, table) = (self.handle.table().store(), self.handle.table().name()?);
        let most = store.capabilities().limits.operations.max(1);
        let query = reference::query(key);
        let (mut written, mut from) = (0, None);
        loop {
            let page = store.query(table, &query, from.as_ref()).await?;
            let found = reference::of_page(key, &page).map_err(|error| error.with_table(table.as_str()))?;
            let groups = group::group(found);
            let is_together = |one: &Group, next: &Group| {
                one.table == next.table && one.holder.partition_key == next.holder.partition_key
            };
            for some in groups.chunk_by(is_together).flat_map(|partition| partition.chunks(most)) {
                if let Some(call) = &call {
                    call.keep().await?;
                }
                written += match self.write_holders(table, key, some).await? {
                    Some(written) => written,
                    None => self.one_by_one(table, key, some).await?,
                };
            }
            from = page.continuation;
            if from.is_none() {
                return Ok(written);
            }
        }
    }

    /// After a race: each by itself, so that one that changes all the time does not keep the others waiting.
    async fn one_by_one(&self, table: &TableName, key: &EntityKey, groups: &[Group]) -> Result<usize> {
        let mut written = 0;
        for group in groups {
            let mut race = self.handle.retry.race(io::RACE);
            written += loop {
                if let Some(written) = self.write_holders(table, key, std::slice::from_ref(group)).await? {
                    break written;
                }
                race.lost(None).await.map_err(|error| io::in_place(error, &group.table, &group.holder))?;
            };
        }
        Ok(written)
    }

    /// Writes some holders of one partition in one transaction; `None` if that was too much, or another writer got between.
    async fn write_holders(
        &self,
        table: &TableName,
        key: &EntityKey,
        groups: &[Group],
    ) -> Result<Option<usize>> {
        let Some(Group { table: holders, holder, .. }) = groups.first() else { return Ok(Some(0)) };
        let store = self.handle.table().store();
        let read = group::read(store, groups.to_vec()).await?;
        // IMPORTANT: after the holders. What is written over them is then never older than what they have.
        let stored = store.get(table, key, &Select::All).await?;
        let source = stored.as_ref().map(|stored| E::from_entity(io::entity(key, stored))).transpose()?;
        let (mut batch, mut drops) = (Batch::new(holder.partition_key.clone()), Vec::new());
        for step in self.holder_steps(key, source.as_ref(), read).await? {
            if let Some(write) = step.write {
                write.push(&mut batch)?;
            }
            drops.extend(step.drop);
        }
        let written = batch.entities.len();
        if written > 0 {
            match self.handle.commit_others(holders, &batch).await {
                Err(error) if error.is_conflict() => return Ok(None),
                Err(error) if is_too_much(&error) && groups.len() > 1 => return Ok(None),
                outcome => outcome?,
            };
        }
        for found in drops {
            match io::submit(store, table, &key.partition_key, [group::dropped(found)]).await {
                // Gone, or renewed by a holder that refers to the source again.
                Err(error) if error.is_conflict() => {}
                outcome => {
                    outcome?;
                }
            }
        }
        Ok(Some(written))
    }
}
