//! What the holders of one source need, to be written together.

use table_core::entity::Entity;
use table_core::error::Result;
use table_core::etag::IfMatch;
use table_core::key::EntityKey;
use table_core::operation::OperationKind;
use table_core::query::EntityRef;
use table_core::store::{StoredRow, TableStore};

use crate::denormal::group::{self, Group};
use crate::denormal::io;
use crate::denormal::reference::{Reference, StoredReference};
use crate::denormal::relation::Refreshed;
use crate::denormal::relations::Copying;
use crate::feed::FeedChange;
use crate::index::{Beside, IndexOutbox, Other, Write};

/// What one holder needs.
#[derive(Debug)]
pub(super) struct HolderStep {
    /// Its write, if it refers to the source: also where nothing changes, so that a writer with an older source in mind fails.
    pub(super) write: Option<Other>,
    /// References that are none, or none any more.
    pub(super) drop: Vec<StoredReference>,
}

impl<E: Entity, S: TableStore, O: IndexOutbox> Copying<'_, E, S, O> {
    /// What is stored of holders, if all of them may be written.
    pub(super) async fn holders(&self, groups: Vec<Group>) -> Result<Vec<(Group, Option<StoredRow>)>> {
        for Reference { relation, holder_table, .. } in
            groups.iter().flat_map(|group| &group.references).map(|found| &found.reference)
        {
            if let Some(given) = self.relations.gives.iter().find(|given| given.relation.name == relation) {
                given.admit(holder_table, self.handle.retry.pace().now()).await?;
            }
        }
        group::read(self.handle.table().store(), groups).await
    }

    /// What each holder needs to be as its source is, of which `None` says that it is gone.
    pub(super) fn holder_steps(
        &self,
        key: &EntityKey,
        source: Option<&E>,
        groups: Vec<(Group, Option<StoredRow>)>,
    ) -> Result<Vec<HolderStep>> {
        groups.into_iter().map(|(group, stored)| self.holder_step(key, source, group, stored)).collect()
    }

    fn holder_step(
        &self,
        key: &EntityKey,
        source: Option<&E>,
        group: Group,
        stored: Option<StoredRow>,
    ) -> Result<HolderStep> {
        let Group { table, holder, references } = group;
        let Some(stored) = stored else {
            return Ok(HolderStep { write: None, drop: references });
        };
        let (mut row, mut ours, mut is_changed, mut drop) = (stored.row.clone(), None, false, Vec::new());
        for found in references {
            let relation = &self.given(&found)?.relation;
            let entity = EntityRef::new(holder.partition_key.as_str(), holder.row_key.as_str(), row.view());
            let refreshed =
                (relation.refresh)(key, entity, source).map_err(|error| error.with_table(table.as_str()))?;
            let is_here = !matches!(refreshed, Refreshed::Elsewhere);
            ours = ours.or(is_here.then_some(relation.holder));
            if let Refreshed::Changed(changed) = refreshed {
                (row, is_changed) = (changed, true);
            }
            if !is_here || source.is_none() {
                drop.push(found);
            }
        }
        let if_match = IfMatch::ETag(stored.etag);
        let Some(of) = ours else { return Ok(HolderStep { write: None, drop }) };
        if !is_changed {
            let write = Write::alone(holder, io::touch(if_match));
            return Ok(HolderStep { write: Some(Other { write, push: of.push }), drop });
        }
        let kind = OperationKind::Replace(row.clone(), if_match);
        let mut write = (of.write)(&holder, kind, [&stored.row, &row])?;
        if of.feed {
            let change = FeedChange { source: &holder.row_key, kind: "updated", payload: b"" };
            write.beside.push(Beside { by: "feed", operation: self.handle.feed().operation(change)? });
        }
        Ok(HolderStep { write: Some(Other { write, push: of.push }), drop })
    }
}
