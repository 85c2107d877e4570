//! The rows and sums of a view as what is derived from its source: see [`converge`].

use std::collections::{BTreeMap, BTreeSet};

use table_core::entity::{Entity, FromEntity};
use table_core::error::{Error, Result};
use table_core::etag::ETag;
use table_core::key::{EntityKey, PartitionKey, RowKey};
use table_core::operation::OperationKind;
use table_core::query::{EntityRef, Select};
use table_core::store::{StoredRow, TableStore};

use crate::converge::{self, Derive, Part, Place, Wanted, WantedOf, upsert};
use crate::requests::{self, CONCURRENCY};
use crate::view::View;
use crate::view::applied::Applied;
use crate::view::part::Change;
use crate::view::projection::Projection;
use crate::view::record::{self, Places};
use crate::view::table::ViewTable;

/// An entity, and the partitions of the view that it ever had something in.
pub(crate) struct Known {
    item: usize,
    source: EntityKey,
    places: Places,
    etag: Option<ETag>,
}

/// The same with what is recorded in these partitions.
pub(crate) struct Recorded {
    known: Known,
    shares: Vec<(PartitionKey, Option<StoredRow>)>,
}

impl<V: View, S: TableStore> Derive for ViewTable<V, S> {
    type Item = Applied;
    type Stored = (Vec<Recorded>, Vec<usize>, usize);
    type What = Change;

    const RACE: &'static str = "the same rows of the view";

    async fn stored(&self, items: &[Applied], together: usize) -> Result<Self::Stored> {
        let known = items.iter().enumerate().map(|(item, entity)| self.known(item, entity));
        let known: Vec<(Known, bool)> = requests::in_order(known, CONCURRENCY).await?;
        let (new, known): (Vec<_>, Vec<_>) = known.into_iter().partition(|(_, has_new)| *has_new);
        let mut known: Vec<_> = known.into_iter().map(|(known, _)| known).collect();
        let (placed, lost) = self.place(new.into_iter().map(|(known, _)| known).collect(), together).await?;
        known.extend(placed);
        let recorded = known.into_iter().map(|known| self.recorded(known));
        let recorded = requests::in_order(recorded, CONCURRENCY).await?;
        Ok((recorded, lost, together))
    }

    async fn wanted(&self, (recorded, lost, together): Self::Stored) -> Result<WantedOf<Self>> {
        let mut wanted = Wanted { lost, ..Wanted::default() };
        let sources = recorded.iter().map(|Recorded { known, .. }| self.projection(&known.source));
        let sources: Vec<_> = requests::in_order(sources, CONCURRENCY).await?;
        let table = self.rows.name()?;
        let mut new = Vec::new();
        for (Recorded { mut known, shares }, mut projection) in recorded.into_iter().zip(sources) {
            let places: BTreeSet<_> =
                projection.places.keys().map(|place| place.as_str().to_owned()).collect();
            if !places.is_subset(&known.places.0) {
                known.places.0.extend(places);
                new.push(known);
                continue;
            }
            for (partition_key, stored) in shares {
                let contribution = projection.places.remove(&partition_key).unwrap_or_default();
                let change = self.change(&known.source, &partition_key, stored, contribution)?;
                let place = Place { table: table.clone(), partition_key };
                let (own, shared) = (change.operations(), change.sums().cloned().collect());
                wanted.parts.push(Part { item: known.item, place, own, shared, what: change });
            }
        }
        // IMPORTANT: before anything is there, so that a process that takes the entity out finds it; and before it is looked at again.
        let (placed, lost) = self.place(new, together).await?;
        wanted.again = placed.into_iter().map(|known| (known.item, known.source.into())).collect();
        wanted.lost.extend(lost);
        Ok(wanted)
    }

    async fn write(&self, place: &Place, parts: &[Part<Change>]) -> Result<Option<usize>> {
        let changes = parts.iter().map(|part| &part.what);
        let is_written = self.write_changes(&place.partition_key, changes).await?;
        Ok(is_written.then_some(parts.len()))
    }

    fn named(&self, error: Error, entity: &Applied) -> Error {
        self.at(error, &entity.source)
    }
}

impl<V: View, S: TableStore> ViewTable<V, S> {
    /// Makes the view right for one entity as it is now, or is not. Called again it does no harm.
    ///
    /// [`catch_up`](Self::catch_up) does so for each entity that changed; a program does where another tool wrote one.
    ///
    /// # Errors
    /// Those of [`View::project`]; `OutOfRangeInput` if a sum does not fit; `InvalidInput` (EGT-2) if the entity has more in one partition of the view than
    /// a transaction takes; `UpdateConditionNotSatisfied` if others changed the same rows during all attempts. The other partitions are written then.
    pub async fn apply(&self, source: &EntityKey) -> Result<()> {
        self.apply_all([source.clone().into()]).await
    }

    /// The same for several, in shared transactions.
    pub(super) async fn apply_all(&self, entities: impl IntoIterator<Item = Applied> + Send) -> Result<()> {
        let limits = self.rows.store().capabilities().limits;
        let entities: Vec<_> = entities.into_iter().collect();
        converge::settle(self, entities, (&self.retry, limits)).await.map(drop)
    }

    /// The places of an entity, and whether some of them are not recorded.
    async fn known(&self, item: usize, Applied { source, places: seen }: &Applied) -> Result<(Known, bool)> {
        let key = record::places_key(source)?;
        let found = self.get(&key).await?;
        let places = found.as_ref().map(|found| Places::read(found.row.view())).transpose();
        let mut places = places.map_err(|error| self.at(error, &key))?.unwrap_or_default();
        let recorded = places.0.len();
        places.0.extend(seen.iter().cloned());
        let has_new = places.0.len() > recorded;
        Ok((Known { item, source: source.clone(), places, etag: found.map(|found| found.etag) }, has_new))
    }

    async fn recorded(&self, known: Known) -> Result<Recorded> {
        // A share is written after its place is recorded: the first places of an entity, recorded just now, have none.
        let are_first = known.etag.is_none();
        let mut shares = Vec::with_capacity(known.places.0.len());
        for place in &known.places.0 {
            let place = PartitionKey::new(place)?;
            let share = match are_first {
                true => None,
                false => self.get(&record::share_key(&place, &known.source)?).await?,
            };
            shares.push((place, share));
        }
        Ok(Recorded { known, shares })
    }

    /// What an entity is to have in the view.
    async fn projection(&self, source: &EntityKey) -> Result<Projection<V::Row>> {
        let stored = self.rows.store().get(self.source.name()?, source, &Select::All).await?;
        let Some(stored) = stored else { return Ok(Projection::new()) };
        let entity =
            EntityRef::new(source.partition_key.as_str(), source.row_key.as_str(), stored.row.view());
        Ok(Self::projected(entity)?.unwrap_or_else(Projection::new))
    }

    /// What a row of the source's table is to have in the view; `None` if it is of a type that is declared beside the source.
    pub(super) fn projected(entity: EntityRef<'_>) -> Result<Option<Projection<V::Row>>> {
        let read = V::Source::read_own(entity);
        let Some(entity) = read.map_err(|error| error.with_table(V::Source::SCHEMA.table))? else {
            return Ok(None);
        };
        let mut projection = Projection::new();
        V::project(&entity, &mut projection)?;
        Ok(Some(projection))
    }

    /// Records the new places of entities; gives what is known now, and those where another writer got between.
    async fn place(&self, new: Vec<Known>, together: usize) -> Result<(Vec<Known>, Vec<usize>)> {
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
        let written: Vec<_> = requests::all_done(writes, CONCURRENCY).await?;
        let (mut placed, mut lost) = (Vec::new(), Vec::new());
        for (known, is_written) in written {
            if is_written {
                placed.extend(known);
            } else {
                lost.extend(known.into_iter().map(|known| known.item));
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
        converge::is_won(
            converge::submit(self.rows.store(), self.rows.name()?, partition_key, operations).await,
        )
    }

    pub(super) fn at(&self, error: Error, key: &EntityKey) -> Error {
        let error = error.with_key(key.partition_key.as_str(), key.row_key.as_str());
        match self.rows.name() {
            Ok(name) => error.with_table(name.as_str()),
            Err(_) => error,
        }
    }
}
