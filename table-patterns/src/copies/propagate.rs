//! Updates the copies in holders (entities that hold copies) from their source (the copied entity), using the [`converge`] protocol.

use std::collections::BTreeSet;

use table_core::entity::Entity;
use table_core::etag::IfMatch;
use table_core::key::EntityKey;
use table_core::name::TableName;
use table_core::query::Select;
use table_core::store::TableStore;
use table_core::{Error, Result};

use crate::converge::{self, Derive, Part, Place, Settled, Wanted, WantedOf};
use crate::copies::chain;
use crate::copies::chunk::HolderStep;
use crate::copies::group::{self, Group};
use crate::copies::relation::Relation;
use crate::copies::relations::{Copying, holder_context};
use crate::copies::{io, reference};
use crate::deletion::delete_rows;
use crate::entities::{Batch, Entities, StepRecorder};
use crate::failure::Failure;
use crate::paging::Pages;
use crate::work::Delivery;

/// The feed rows that record the holders' changes in a transaction: the head and two rows of entries, because one row holds 80 changes.
const FEED_ROWS: [&str; 3] = ["head", "entries 1", "entries 2"];

/// The update of one source's holders.
pub(super) struct Holders<'a, E, S, O> {
    /// The handle that writes the holders: a handle for the source's type or for the holders' type.
    pub(super) handle: &'a Entities<E, S, O>,
    pub(super) relations: Vec<Relation>,
    pub(super) table: &'a TableName,
    pub(super) source: &'a EntityKey,
    /// If `true`, holders that already match the source are written too. A concurrent writer that has read an older version of the source then fails.
    pub(super) touches: bool,
    /// The entities that have propagated the change; the last one is the source.
    pub(super) path: Vec<EntityKey>,
    /// The delivery that triggered the update, if any.
    pub(super) call: Option<Delivery<'a>>,
}

impl<E: Entity, S: TableStore + 'static, O: StepRecorder> Derive for Holders<'_, E, S, O> {
    type Item = Group;
    type Stored = Vec<group::Read>;
    type What = HolderStep;

    const RACE: &'static str = io::RACE;

    async fn stored(&self, groups: &[Group], _: usize) -> Result<Self::Stored> {
        if let Some(call) = &self.call {
            call.keep().await?;
        }
        group::read(self.handle.table().store(), groups.to_vec()).await
    }

    async fn wanted(&self, holders: Self::Stored) -> Result<WantedOf<Self>> {
        let found = self.handle.table().store().get(self.table, self.source, &Select::All).await?;
        let source = (self.source, found.as_ref().map(|found| io::entity(self.source, &found.row)));
        let mut wanted = Wanted::default();
        for (item, (group, stored)) in holders.into_iter().enumerate() {
            let stored = match stored {
                Ok(stored) => stored,
                Err(error) => {
                    wanted.failed.push((item, error));
                    continue;
                }
            };
            let partition_key = group.holder.partition_key.clone();
            let place = Place { table: group.table.clone(), partition_key };
            let how = (&self.relations[..], self.handle.feed_recorder(), self.touches);
            let context = holder_context(self.handle, &self.handle.context, &self.path);
            match HolderStep::of(how, &context, source, (group, stored)) {
                Ok(HolderStep { write, drop }) => {
                    if let Some(write) = write {
                        let feed: &[_] = if write.records.is_empty() { &[] } else { &FEED_ROWS };
                        let shared = feed.iter().map(|row| (*row).to_owned()).collect();
                        let own = write.operations();
                        let what = HolderStep { write: Some(write), drop: Vec::new() };
                        wanted.parts.push(Part { item, place, own, shared, what });
                    }
                    // IMPORTANT: the references are deleted after the holders have been written. They are all in the source's partition, so one transaction can
                    // delete references to holders in many partitions.
                    if !drop.is_empty() {
                        let partition_key = self.source.partition_key.clone();
                        let place = Place { table: self.table.clone(), partition_key };
                        let (own, what) = (drop.len(), HolderStep { write: None, drop });
                        wanted.last.push(Part { item, place, own, shared: Vec::new(), what });
                    }
                }
                // A holder that cannot be written does not block the other holders.
                Err(error) => wanted.failed.push((item, error)),
            }
        }
        Ok(wanted)
    }

    async fn write(&self, place: &Place, parts: &[Part<HolderStep>]) -> Result<Option<usize>> {
        let mut batch = Batch::new(place.partition_key.clone());
        for write in parts.iter().filter_map(|part| part.what.write.clone()) {
            batch.push(write)?;
        }
        let written = batch.entities().len();
        if written > 0 && !converge::is_won(self.handle.commit_in(&place.table, &batch).await)? {
            return Ok(None);
        }
        let dropped = parts.iter().flat_map(|part| &part.what.drop).filter_map(|found| {
            let partition_key = self.source.partition_key.clone();
            let key = EntityKey { partition_key, row_key: found.row_key.clone() };
            Some((key, IfMatch::ETag(found.etag.clone()?)))
        });
        // A reference is skipped if it has been deleted, or was renewed because the holder refers to the source again.
        delete_rows((self.handle.table().store(), self.table), dropped.collect()).await?;
        Ok(Some(written))
    }

    fn named(&self, error: Error, group: &Group) -> Error {
        io::in_place(error, &group.table, &group.holder)
    }
}

impl<E: Entity, S: TableStore + 'static, O: StepRecorder> Holders<'_, E, S, O> {
    /// Makes holders match the current state of their source, or clears them if the source has been deleted. Returns the number of holders
    /// written, and the holders that cannot be written.
    ///
    /// # Errors
    /// Any store outage; an error that requires a newer program.
    pub(super) async fn settle(&self, groups: Vec<Group>) -> Result<Settled<Group>> {
        let limits = self.handle.table().store().capabilities().limits;
        converge::settle(self, groups, (&self.handle.retry, limits)).await
    }
}

impl<E: Entity, S: TableStore + Clone + 'static, O: StepRecorder> Copying<'_, E, S, O> {
    /// Makes all holders of a source match it, or clears them if the source has been deleted. Returns the number of holders written. Each
    /// transaction leaves a consistent state (PAT-EC-6).
    ///
    /// # Errors
    /// - `InvalidInput` (PAT-DEN-2) if the change has been propagated in a cycle.
    /// - The error from a holder that cannot be written, after all other holders have been written. An error that requires a newer program takes precedence.
    /// - Any other error from the store.
    pub(super) async fn spread(
        &self,
        source: &EntityKey,
        path: &[EntityKey],
        call: Option<Delivery<'_>>,
    ) -> Result<usize> {
        let path = chain::path_through(path, source)?;
        let (handle, table) = (self.handle, self.handle.table().name()?);
        let (query, relations) = (reference::query(source), self.given());
        let holders = Holders { handle, relations, table, source, touches: true, path, call };
        let (mut written, mut failed, mut refused) = (0, None, BTreeSet::new());
        let mut pages = Pages::new(handle.table().store(), table, &query);
        while let Some(page) = pages.next().await? {
            if let Some(call) = &holders.call {
                call.keep().await?;
            }
            let mut groups = Vec::new();
            for group in group::group(self.known(reference::of_page(source, &page)).await?) {
                // Each refusal rereads the stored schema, so refusals are remembered.
                if refused.contains(&group.admitted_as()) {
                    continue;
                }
                match self.admit(std::slice::from_ref(&group)).await {
                    Ok(()) => groups.push(group),
                    Err(error) => {
                        Failure::postpone(&mut failed, error)?;
                        refused.insert(group.admitted_as());
                    }
                }
            }
            let settled = holders.settle(groups).await?;
            written += settled.written;
            for (_, error) in settled.failed {
                Failure::postpone(&mut failed, error)?;
            }
        }
        failed.map_or(Ok(written), Err)
    }
}
