//! Application of the states of entities to a view: idempotent, in any order, many in one transaction.

use std::collections::BTreeMap;

use futures_util::{StreamExt, TryStreamExt, stream};
use table_core::entity::{Entity, Versioned};
use table_core::error::{Error, Result};
use table_core::etag::ETag;
use table_core::key::{EntityKey, PartitionKey, RowKey};
use table_core::operation::{Operation, OperationKind};
use table_core::query::{EntityRef, Select};
use table_core::store::{StoredRow, TableStore};
use table_core::transaction::Transaction;

use crate::view::View;
use crate::view::applied::Applied;
use crate::view::operations::upsert;
use crate::view::part::Part;
use crate::view::projection::{Contribution, Projection};
use crate::view::record::{self, Places};
use crate::view::table::ViewTable;

/// Requests under way at once (IMP-5).
pub(super) const CONCURRENCY: usize = 16;
/// Entities that are applied together, and held in memory.
const TOGETHER: usize = 256;

/// An entity and the partitions of the view that it ever had something in.
struct Known {
    source: EntityKey,
    places: Places,
    etag: Option<ETag>,
}

/// The same with what is recorded in these partitions, and what is to be there.
struct Looked {
    known: Known,
    shares: Vec<(PartitionKey, Option<StoredRow>)>,
    wanted: BTreeMap<PartitionKey, Contribution>,
}

impl Looked {
    fn has_new_places(&self) -> bool {
        self.wanted.keys().any(|place| !self.known.places.0.contains(place.as_str()))
    }

    fn with_new_places(mut self) -> Known {
        self.known.places.0.extend(self.wanted.keys().map(|place| place.as_str().to_owned()));
        self.known
    }
}

impl<V: View, S: TableStore> ViewTable<V, S> {
    /// Makes the view right for one entity as it is now, or is not. Called again it does no harm.
    ///
    /// [`catch_up`](Self::catch_up) does so for each entity that changed; a program does where another tool wrote one.
    ///
    /// # Errors
    /// Those of [`View::project`]; `OutOfRangeInput` if a sum does not fit; `InvalidInput` (EGT-2) if the entity has more in one partition of the view than
    /// a transaction takes; `UpdateConditionNotSatisfied` if others changed the same rows during all attempts. The partitions before are written then.
    pub async fn apply(&self, source: &EntityKey) -> Result<()> {
        self.apply_all([source.clone().into()]).await
    }

    /// The same for several, in shared transactions.
    pub(super) async fn apply_all(&self, entities: impl IntoIterator<Item = Applied>) -> Result<()> {
        let mut entities = entities.into_iter();
        loop {
            let mut left: Vec<_> = entities.by_ref().take(TOGETHER).collect();
            if left.is_empty() {
                return Ok(());
            }
            let mut race = self.retry.race("the same rows of the view");
            let mut together = usize::MAX;
            loop {
                let lost = self.attempt(left, together).await?;
                let Some(first) = lost.first() else { break };
                race.lost(None).await.map_err(|error| self.at(error, first))?;
                left = lost.into_iter().map(Applied::from).collect();
                // Another process is at work on the same rows: those of one entity at a time, so that not all are lost with one.
                together = 1;
            }
        }
    }

    /// Applies entities, so many in one transaction at most; gives those where another writer got between.
    async fn attempt(&self, entities: Vec<Applied>, together: usize) -> Result<Vec<EntityKey>> {
        let known = entities.into_iter().map(|entity| self.known(entity));
        let known: Vec<(Known, bool)> = stream::iter(known).buffered(CONCURRENCY).try_collect().await?;
        let (new, known): (Vec<_>, Vec<_>) = known.into_iter().partition(|(_, has_new)| *has_new);
        let mut new: Vec<_> = new.into_iter().map(|(known, _)| known).collect();
        let looked = self.look(known.into_iter().map(|(known, _)| known).collect()).await?;
        let (unplaced, mut ready): (Vec<_>, Vec<_>) = looked.into_iter().partition(Looked::has_new_places);
        new.extend(unplaced.into_iter().map(Looked::with_new_places));
        // IMPORTANT: before anything is there, so that a process that takes the entity out finds it; and before it is looked at again.
        let (placed, mut lost) = self.place(new, together).await?;
        for looked in self.look(placed).await? {
            if looked.has_new_places() {
                lost.push(looked.known.source);
            } else {
                ready.push(looked);
            }
        }
        let mut parts: BTreeMap<PartitionKey, Vec<Part>> = BTreeMap::new();
        for Looked { known, shares, mut wanted } in ready {
            for (place, stored) in shares {
                let wanted = wanted.remove(&place).unwrap_or_default();
                let part = self.part(&known.source, &place, stored, wanted)?;
                parts.entry(place).or_default().push(part);
            }
        }
        let writes = parts.into_iter().map(|(place, parts)| self.write(place, parts, together));
        let left: Vec<Vec<EntityKey>> =
            stream::iter(writes).buffer_unordered(CONCURRENCY).try_collect().await?;
        lost.extend(left.into_iter().flatten());
        lost.sort_unstable();
        lost.dedup();
        Ok(lost)
    }

    /// The places of an entity, and whether some of them are not recorded.
    async fn known(&self, Applied { source, places: seen }: Applied) -> Result<(Known, bool)> {
        let key = record::places_key(&source)?;
        let found = self.get(&key).await?;
        let places = found.as_ref().map(|found| Places::read(found.row.view())).transpose();
        let mut places = places.map_err(|error| self.at(error, &key))?.unwrap_or_default();
        let recorded = places.0.len();
        places.0.extend(seen);
        let has_new = places.0.len() > recorded;
        Ok((Known { source, places, etag: found.map(|found| found.etag) }, has_new))
    }

    async fn look(&self, known: Vec<Known>) -> Result<Vec<Looked>> {
        let looks = known.into_iter().map(|known| self.look_at(known));
        stream::iter(looks).buffered(CONCURRENCY).try_collect().await
    }

    async fn look_at(&self, known: Known) -> Result<Looked> {
        let source = &known.source;
        let mut shares = Vec::with_capacity(known.places.0.len());
        for place in &known.places.0 {
            let place = PartitionKey::new(place)?;
            let share = self.get(&record::share_key(&place, source)?).await?;
            shares.push((place, share));
        }
        // IMPORTANT: after the shares. What is written over them is then never older than what they were made of.
        let stored = self.rows.store().get(self.source.name()?, source, &Select::All).await?;
        let mut projection = Projection::new();
        if let Some(stored) = &stored {
            let entity =
                EntityRef::new(source.partition_key.as_str(), source.row_key.as_str(), stored.row.view());
            projection = Self::projected(entity)?.unwrap_or(projection);
        }
        Ok(Looked { known, shares, wanted: projection.places })
    }

    /// What a row of the source's table is to have in the view; `None` if it is of a type that is declared beside the source.
    pub(super) fn projected(entity: EntityRef<'_>) -> Result<Option<Projection<V::Row>>> {
        let read = Versioned::<V::Source>::read_own(entity);
        let Some(entity) = read.map_err(|error| error.with_table(V::Source::SCHEMA.table))? else {
            return Ok(None);
        };
        let mut projection = Projection::new();
        V::project(&entity, &mut projection)?;
        Ok(Some(projection))
    }

    /// Records the new places of entities; gives what is known now, and those where another writer got between.
    async fn place(&self, new: Vec<Known>, together: usize) -> Result<(Vec<Known>, Vec<EntityKey>)> {
        let mut by_partition: BTreeMap<PartitionKey, Vec<Known>> = BTreeMap::new();
        for known in new {
            by_partition.entry(known.source.partition_key.clone()).or_default().push(known);
        }
        let most = self.rows.store().capabilities().limits.operations.min(together).max(1);
        let mut chunks = Vec::new();
        for (partition_key, mut known) in by_partition {
            while !known.is_empty() {
                let rest = known.split_off(known.len().min(most));
                chunks.push((partition_key.clone(), std::mem::replace(&mut known, rest)));
            }
        }
        let writes = chunks.into_iter().map(|(partition_key, known)| async move {
            let mut operations = Vec::with_capacity(known.len());
            for one in &known {
                let row_key = record::places_key(&one.source)?.row_key;
                operations.push((row_key, upsert(one.places.write()?, one.etag.clone())));
            }
            Ok::<_, Error>((known, self.submit(&partition_key, operations).await?))
        });
        let written: Vec<_> = stream::iter(writes).buffer_unordered(CONCURRENCY).try_collect().await?;
        let (mut placed, mut lost) = (Vec::new(), Vec::new());
        for (known, is_written) in written {
            if is_written {
                placed.extend(known);
            } else {
                lost.extend(known.into_iter().map(|known| known.source));
            }
        }
        Ok((placed, lost))
    }

    pub(super) async fn get(&self, key: &EntityKey) -> Result<Option<StoredRow>> {
        self.rows.store().get(self.rows.name()?, key, &Select::All).await
    }

    /// Writes in one transaction; `false` if another writer got between.
    pub(super) async fn submit(
        &self,
        partition_key: &PartitionKey,
        operations: Vec<(RowKey, OperationKind)>,
    ) -> Result<bool> {
        let (store, table) = (self.rows.store(), self.rows.name()?);
        let in_table = |error: Error| error.with_table(table.as_str());
        let limits = store.capabilities().limits;
        let mut transaction = Transaction::new(partition_key.clone(), limits).map_err(in_table)?;
        for (row_key, kind) in operations {
            transaction.push(Operation { row_key, kind }).map_err(in_table)?;
        }
        match store.submit(table, transaction).await {
            Ok(_) => Ok(true),
            Err(error) if error.is_conflict() => Ok(false),
            Err(error) => Err(error),
        }
    }

    pub(super) fn at(&self, error: Error, key: &EntityKey) -> Error {
        let error = error.with_key(key.partition_key.as_str(), key.row_key.as_str());
        match self.rows.name() {
            Ok(name) => error.with_table(name.as_str()),
            Err(_) => error,
        }
    }
}
