//! Writes of sources (entities whose properties are copied into other entities). Writing a source also updates its copies (PAT-DEN-2).

use table_core::entity::Entity;
use table_core::key::EntityKey;
use table_core::name::TableName;
use table_core::operation::Operation;
use table_core::query::{EntityRef, Select};
use table_core::store::TableStore;
use table_core::{Error, Result};

use crate::copies::chain;
use crate::copies::chunk::{self, HolderStep};
use crate::copies::fault::CopyFault;
use crate::copies::group::{self, Group};
use crate::copies::plan::CopyPlan;
use crate::copies::reference::{self, Reference, StoredReference};
use crate::copies::relation::{Outgoing, Relation};
use crate::copies::relations::{Copying, holder_context};
use crate::copies::{OnDelete, io};
use crate::entities::{Sibling, StepRecorder, read_as};

impl<E: Entity, S: TableStore + Clone + 'static, O: StepRecorder> Copying<'_, E, S, O> {
    /// Returns the relations in which the entity type is the source.
    pub(super) fn given(&self) -> Vec<Relation> {
        self.relations.gives.iter().map(|given| given.relation).collect()
    }

    fn relations_of(&self, found: &StoredReference) -> Result<&'static Outgoing<E>> {
        let name = chunk::relation(&self.given(), found)?.name;
        let known = self.relations.gives.iter().find(|given| given.relation.name == name);
        known.ok_or_else(|| Error::of(CopyFault::UnknownRelation(name.to_owned())))
    }

    /// Returns `false` if the reference names a table other than the one that the holders' type declares. No handle of that type can have written such a
    /// reference: another program has inserted it, and a worker that followed it would write rows of another table.
    fn is_of_holders(&self, found: &StoredReference) -> bool {
        let Reference { relation, holder_table, .. } = &found.reference;
        let known = self.relations.gives.iter().find(|given| given.relation.name == relation);
        let is_declared = |table: &str| holder_table.as_str().eq_ignore_ascii_case(table);
        known.is_none_or(|given| is_declared(given.holders.table))
    }

    /// Removes from the list all references that no handle can have written. If the handle has been opened, also removes references in unknown relations. If a
    /// newer program has declared these relations, its backfill completes their copies, even if it has stored only the schema of the holders so far. If an
    /// earlier program has declared them, nothing reads their copies. If the handle has not been opened, it is unknown which relations exist.
    pub(super) async fn known(&self, mut found: Vec<StoredReference>) -> Result<Vec<StoredReference>> {
        found.retain(|found| self.is_of_holders(found));
        let given = self.given();
        let is_known = |found: &StoredReference| chunk::relation(&given, found).is_ok();
        if !found.iter().all(is_known) && self.handle.table.is_current().await?.is_some() {
            found.retain(is_known);
        }
        Ok(found)
    }

    /// Checks that this program may write the holders in `groups` through the handle of the source. If the handle has not been opened, nothing is checked.
    ///
    /// # Errors
    /// `SchemaMismatch` if a newer version of the program has opened a holder's table with a schema that this program would not maintain; any error from the
    /// store.
    pub(super) async fn admit(&self, groups: &[Group]) -> Result<()> {
        for found in groups.iter().flat_map(|group| &group.references) {
            let holders = self.relations_of(found)?.holders;
            let admission = self.handle.table.admission(holders, found.reference.holder_table.clone());
            admission.admit(self.handle.retry.runtime()).await?;
        }
        Ok(())
    }

    /// Extends a source's write: adds writes to the holders in the same partition, and an outbox step for holders in other partitions.
    ///
    /// IMPORTANT: the source must be read before its references, and its write must be conditional on the version read. Adding a reference also writes the
    /// source, so no reference is missed.
    ///
    /// # Errors
    /// - `InvalidInput` (PAT-DEN-2), with the holder's key, if the source is deleted while a holder refers to it in a relation with [`OnDelete::Refuse`].
    /// - `Unsupported` if the handle has not been opened and a reference contains a relation not declared by the entity type.
    /// - Any error from the store.
    pub(super) async fn give(&self, key: &EntityKey, before: Option<&E>, kept: &mut CopyPlan) -> Result<()> {
        // A source that does not yet exist has no holders.
        let Some(before) = before.filter(|_| !self.relations.gives.is_empty()) else { return Ok(()) };
        let after = kept.new.as_ref().map(|row| read_as::<E>(key, row)).transpose()?;
        let (store, table) = (self.handle.table().store(), self.handle.table().name()?);
        let is_affected =
            |given: &Outgoing<E>| after.as_ref().is_none_or(|after| (given.changes)(before, after));
        if !self.relations.gives.iter().any(is_affected) {
            return Ok(());
        }
        let most = store.capabilities().limits.operations;
        let all = if after.is_none() { usize::MAX } else { most };
        let (found, is_whole) = reference::find(store, table, key, all).await?;
        // A worker updates the holders whose references were not read.
        let (mut here, mut follow) = (Vec::new(), !is_whole);
        for found in self.known(found).await? {
            let holder = &found.reference.holder;
            let is_here = holder.partition_key == key.partition_key && found.reference.holder_table == *table;
            match kept.siblings.get(&holder.row_key).filter(|_| is_here) {
                None => {}
                // The unit of work that writes the source also deletes this holder, or writes it with copies of the new values.
                Some(Sibling::Written(_) | Sibling::Deleted) => continue,
                Some(Sibling::Removed) => {
                    let dropped = group::dropped(found);
                    kept.rows.extend(dropped.map(|(row_key, kind)| Operation { row_key, kind }));
                    continue;
                }
            }
            let given = self.relations_of(&found).map_err(|error| io::in_place(error, table, key))?;
            if after.is_none() && given.on_delete == OnDelete::Refuse {
                self.refuse(table, key, &found).await?;
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
        if kept.together && is_whole && here.len() < most {
            let groups = group::group(here);
            self.admit(&groups).await?;
            let source = kept.new.clone();
            for (group, stored) in group::read(store, groups).await? {
                let (partition_key, row_key) = (key.partition_key.as_str(), key.row_key.as_str());
                let source = source.as_ref().map(|row| EntityRef::new(partition_key, row_key, row.view()));
                let how = (&self.given()[..], self.handle.feed_recorder(), true);
                let context = holder_context(self.handle, &kept.context, std::slice::from_ref(key));
                let step = HolderStep::of(how, &context, (key, source), (group, stored?))?;
                kept.others.extend(step.write);
                let dropped = step.drop.into_iter().filter_map(group::dropped);
                kept.rows.extend(dropped.map(|(row_key, kind)| Operation { row_key, kind }));
            }
        } else {
            follow |= !here.is_empty();
        }
        kept.remote.extend(follow.then(|| chain::of_source(key, &[])));
        Ok(())
    }

    /// Returns an error if a reference's holder still refers to the source, because the source must then not be deleted. Ignores an obsolete reference.
    async fn refuse(&self, table: &TableName, key: &EntityKey, found: &StoredReference) -> Result<()> {
        let given = self.relations_of(found)?;
        let group = Group::of(found.clone());
        let Some(stored) = self.handle.table().store().get(&group.table, &group.holder, &Select::All).await?
        else {
            return Ok(());
        };
        if !(given.refers)(io::entity(&group.holder, &stored.row), key)? {
            return Ok(());
        }
        let relation = given.relation.name;
        let fault = CopyFault::Referred { holder: group.holder, table: group.table, relation };
        Err(io::in_place(Error::of(fault), table, key))
    }
}
