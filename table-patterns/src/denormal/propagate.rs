//! Copies in their holders as what is derived from their source: see [`converge`].

use table_core::entity::Entity;
use table_core::error::{Error, Result};
use table_core::key::EntityKey;
use table_core::query::Select;
use table_core::store::{StoredRow, TableStore};

use crate::converge::{self, Derive, Part, Place, Wanted, WantedOf};
use crate::denormal::chunk::HolderStep;
use crate::denormal::group::{self, Group};
use crate::denormal::relations::Copying;
use crate::denormal::{io, reference};
use crate::index::{Batch, IndexOutbox};
use crate::work::Call;

/// The holders of one source.
struct Holders<'a, E, S, O> {
    copying: &'a Copying<'a, E, S, O>,
    source: &'a EntityKey,
    /// The work that it is done for.
    call: Option<Call<'a>>,
}

impl<E: Entity, S: TableStore, O: IndexOutbox> Derive for Holders<'_, E, S, O> {
    type Item = Group;
    type Stored = Vec<(Group, Option<StoredRow>)>;
    type What = HolderStep;

    const RACE: &'static str = io::RACE;

    async fn stored(&self, groups: &[Group], _: usize) -> Result<Self::Stored> {
        if let Some(call) = &self.call {
            call.keep().await?;
        }
        self.copying.holders(groups.to_vec()).await
    }

    async fn wanted(&self, holders: Self::Stored) -> Result<WantedOf<Self>> {
        let table = self.copying.handle.table();
        let stored = table.store().get(table.name()?, self.source, &Select::All).await?;
        let source =
            stored.as_ref().map(|stored| E::from_entity(io::entity(self.source, &stored.row))).transpose()?;
        let place = |(Group { table, holder, .. }, _): &(Group, _)| Place {
            table: table.clone(),
            partition_key: holder.partition_key.clone(),
        };
        let places: Vec<_> = holders.iter().map(place).collect();
        let steps = self.copying.holder_steps(self.source, source.as_ref(), holders)?;
        let part = |(item, (what, place)): (usize, (HolderStep, Place))| {
            let own = what.write.as_ref().map_or(0, |other| other.write.operations());
            Part { item, place, own, shared: Vec::new(), what }
        };
        let parts = steps.into_iter().zip(places).enumerate().map(part).collect();
        Ok(Wanted { parts, ..Wanted::default() })
    }

    async fn write(&self, place: &Place, parts: &[Part<HolderStep>]) -> Result<Option<usize>> {
        let handle = self.copying.handle;
        let mut batch = Batch::new(place.partition_key.clone());
        for write in parts.iter().filter_map(|part| part.what.write.clone()) {
            write.push(&mut batch)?;
        }
        let written = batch.entities.len();
        if written > 0 && !converge::is_won(handle.commit_others(&place.table, &batch).await)? {
            return Ok(None);
        }
        let (table, partition_key) = (handle.table(), &self.source.partition_key);
        for found in parts.iter().flat_map(|part| part.what.drop.iter().cloned()) {
            let drop = [group::dropped(found)];
            // If not, it is gone, or renewed by a holder that refers to the source again.
            converge::is_won(converge::submit(table.store(), table.name()?, partition_key, drop).await)?;
        }
        Ok(Some(written))
    }

    fn named(&self, error: Error, group: &Group) -> Error {
        io::in_place(error, &group.table, &group.holder)
    }
}

impl<E: Entity, S: TableStore, O: IndexOutbox> Copying<'_, E, S, O> {
    /// Writes all holders of a source as the source is now, or clears them if it is gone; how many that were. Each transaction is whole by itself
    /// (PAT-EC-6).
    pub(super) async fn spread(&self, source: &EntityKey, call: Option<Call<'_>>) -> Result<usize> {
        let (store, table) = (self.handle.table().store(), self.handle.table().name()?);
        let (query, holders) = (reference::query(source), Holders { copying: self, source, call });
        let (mut written, mut from) = (0, None);
        loop {
            let page = store.query(table, &query, from.as_ref()).await?;
            let found =
                reference::of_page(source, &page).map_err(|error| error.with_table(table.as_str()))?;
            let how = (&self.handle.retry, store.capabilities().limits);
            written += converge::settle(&holders, group::group(found), how).await?;
            from = page.continuation;
            if from.is_none() {
                return Ok(written);
            }
        }
    }
}
