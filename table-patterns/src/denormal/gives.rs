//! Sources: entities that others hold copies of. A change takes its copies along (PAT-DEN-2).

use table_core::entity::Entity;
use table_core::error::{Error, Result};
use table_core::key::EntityKey;
use table_core::name::TableName;
use table_core::operation::Operation;
use table_core::query::Select;
use table_core::store::TableStore;

use crate::denormal::admission::Given;
use crate::denormal::fault::CopyFault;
use crate::denormal::group::{self, Group};
use crate::denormal::reference::{self, StoredReference};
use crate::denormal::relation::Refreshed;
use crate::denormal::relations::Copying;
use crate::denormal::steps::source_step;
use crate::denormal::{OnDelete, io};
use crate::index::{Beside, IndexOutbox, Kept, read_as};
use crate::outbox::Step;

impl<E: Entity, S: TableStore, O: IndexOutbox> Copying<'_, E, S, O> {
    pub(super) fn given(&self, found: &StoredReference) -> Result<&Given<E, S>> {
        let name = &found.reference.relation;
        let fault = || Error::of(CopyFault::UnknownRelation(name.clone()));
        self.relations.gives.iter().find(|given| given.relation.name == name).ok_or_else(fault)
    }

    /// What is to be written with a change of a source: the holders of its partition, and a step to those elsewhere.
    ///
    /// IMPORTANT: the source was read before its references are, and is written under that version: a holder that adds a reference writes the
    /// source, so that none is missed.
    ///
    /// # Errors
    /// `InvalidInput` (PAT-DEN-2), naming the holder, for a deletion while one refers to it by a relation that refuses; `Unsupported` if a holder has
    /// copies by a relation that is not registered; those of the store.
    pub(super) async fn give(&self, key: &EntityKey, before: Option<&E>, kept: &mut Kept) -> Result<()> {
        // No holder refers to a source that is not there yet.
        let Some(before) = before.filter(|_| !self.relations.gives.is_empty()) else { return Ok(()) };
        let after = kept.new.as_ref().map(|row| read_as::<E>(key, row)).transpose()?;
        let (store, table) = (self.handle.table().store(), self.handle.table().name()?);
        let is_affected =
            |given: &Given<E, S>| after.as_ref().is_none_or(|after| (given.relation.changes)(before, after));
        if !self.relations.gives.iter().any(is_affected) {
            return Ok(());
        }
        let most = store.capabilities().limits.operations;
        let all = if after.is_none() { usize::MAX } else { most };
        let (mut here, mut follow) = (Vec::new(), false);
        for found in reference::find(store, table, key, all).await? {
            let holder = &found.reference.holder;
            let is_here = holder.partition_key == key.partition_key && found.reference.holder_table == *table;
            if is_here && kept.unit.get(&holder.row_key).is_some_and(|written| written.keeps) {
                continue; // written in the same unit, where it copies what this is to be
            }
            let given = self.given(&found).map_err(|error| io::in_place(error, table, key))?;
            if after.is_none() && given.relation.on_delete == OnDelete::Refuse {
                self.refuse(table, key, before, &found).await?;
            }
            if !is_affected(given) {
                continue;
            }
            if is_here {
                here.push(found);
            } else {
                follow = true;
            }
        }
        if kept.together && here.len() < most {
            let holders = self.holders(group::group(here)).await?;
            for step in self.holder_steps(key, after.as_ref(), holders)? {
                kept.others.extend(step.write);
                let dropped = step.drop.into_iter().map(group::dropped);
                let dropped = dropped.map(|(row_key, kind)| Operation { row_key, kind });
                kept.rows.extend(dropped.map(|operation| Beside { by: "references", operation }));
            }
        } else {
            follow |= !here.is_empty();
        }
        kept.steps.extend(follow.then(|| Step::of_pattern(source_step::<E>(), String::new())));
        Ok(())
    }

    /// Refuses the deletion of a source that a holder refers to. A reference without such a holder is left over.
    async fn refuse(
        &self,
        table: &TableName,
        key: &EntityKey,
        before: &E,
        found: &StoredReference,
    ) -> Result<()> {
        let relation = &self.given(found)?.relation;
        let group = Group::of(found.clone());
        let Some(stored) = self.handle.table().store().get(&group.table, &group.holder, &Select::All).await?
        else {
            return Ok(());
        };
        let refreshed = (relation.refresh)(key, io::entity(&group.holder, &stored.row), Some(before))?;
        if matches!(refreshed, Refreshed::Elsewhere) {
            return Ok(());
        }
        let fault = CopyFault::Referred { holder: group.holder, table: group.table, relation: relation.name };
        Err(io::in_place(Error::of(fault), table, key))
    }
}
