//! The rows and sums of a view as what is derived from its source: see [`converge`].

use std::collections::BTreeMap;

use table_core::entity::{Entity, FromEntity};
use table_core::error::{Error, Result};
use table_core::etag::ETag;
use table_core::key::{EntityKey, PartitionKey, RowKey};
use table_core::operation::OperationKind;
use table_core::query::{EntityRef, Select};
use table_core::store::{StoredRow, TableStore};

use crate::converge::{self, Derive, Part, Place, Wanted, WantedOf, upsert};
use crate::failure::Failure;
use crate::many;
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
    type Stored = (Vec<Recorded>, Wanted<Applied, Change>, usize);
    type What = Change;

    const RACE: &'static str = "the same rows of the view";

    async fn stored(&self, items: &[Applied], together: usize) -> Result<Self::Stored> {
        let mut wanted = Wanted::default();
        let (new, mut known) = self.known(items, &mut wanted).await?;
        known.extend(self.place(new, together, &mut wanted).await);
        let recorded = known.into_iter().map(|known| self.recorded(known));
        let recorded = requests::in_order(recorded, CONCURRENCY).await?;
        Ok((recorded, wanted, together))
    }

    async fn wanted(&self, (recorded, mut wanted, together): Self::Stored) -> Result<WantedOf<Self>> {
        let sources: Vec<_> = recorded.iter().map(|Recorded { known, .. }| known.source.clone()).collect();
        let of = (self.source.store(), self.source.name()?);
        let sources = many::rows(of, &sources, &Select::All, |row| Ok(Self::projected(row))).await?;
        let table = self.rows.name()?;
        let mut new = Vec::new();
        for (Recorded { mut known, shares }, projection) in recorded.into_iter().zip(sources) {
            let mut projection = match projection.transpose() {
                Ok(projection) => projection.flatten().unwrap_or_else(Projection::new),
                Err(error) => {
                    wanted.failed.push((known.item, error));
                    continue;
                }
            };
            let places = || projection.places.keys().map(PartitionKey::as_str);
            if !places().all(|place| known.places.0.contains(place)) {
                known.places.0.extend(places().map(str::to_owned));
                new.push(known);
                continue;
            }
            for (partition_key, stored) in shares {
                let contribution = projection.places.remove(&partition_key).unwrap_or_default();
                let change = match self.change(&known.source, &partition_key, stored, contribution) {
                    Ok(change) => change,
                    Err(error) => {
                        wanted.failed.push((known.item, error));
                        continue;
                    }
                };
                let place = Place { table: table.clone(), partition_key };
                let (own, shared) = (change.operations(), change.sums().cloned().collect());
                wanted.parts.push(Part { item: known.item, place, own, shared, what: change });
            }
        }
        // IMPORTANT: before anything is there, so that a process that takes the entity out finds it; and before it is looked at again.
        let placed = self.place(new, together, &mut wanted).await;
        wanted.again = placed.into_iter().map(|known| (known.item, known.source.into())).collect();
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
    /// Applies the current state of one entity to the view, even if it does not exist. Idempotent.
    ///
    /// [`catch_up`](Self::catch_up) does so for each changed entity. Call it after another tool wrote an entity.
    ///
    /// # Errors
    /// - `OutOfRangeInput` if a sum overflows.
    /// - `InvalidInput` (EGT-2) if the entity has more rows and sums in one partition of the view than a transaction takes.
    /// - `UpdateConditionNotSatisfied` if others changed the same rows during every attempt.
    /// - Any error of [`View::project`].
    ///
    /// The other partitions are written in each of these cases.
    pub async fn apply(&self, source: &EntityKey) -> Result<()> {
        let failed = self.apply_all([source.clone().into()]).await?;
        failed.into_iter().next().map_or(Ok(()), |(_, error)| Err(error))
    }

    /// Applies several entities to the view, in shared transactions. Returns those that cannot be applied, with their errors.
    pub(super) async fn apply_all(
        &self,
        entities: impl IntoIterator<Item = Applied> + Send,
    ) -> Result<Vec<(Applied, Error)>> {
        let limits = self.rows.store().capabilities().limits;
        let entities: Vec<_> = entities.into_iter().collect();
        Ok(converge::settle(self, entities, (&self.retry, limits)).await?.failed)
    }

    /// Reads the places of entities; returns those of whom some are not recorded, and the others.
    async fn known(
        &self,
        items: &[Applied],
        wanted: &mut Wanted<Applied, Change>,
    ) -> Result<(Vec<Known>, Vec<Known>)> {
        let (mut keys, mut keyed) = (Vec::with_capacity(items.len()), Vec::with_capacity(items.len()));
        for (item, applied) in items.iter().enumerate() {
            match record::places_key(&applied.source) {
                Ok(key) => {
                    keys.push(key);
                    keyed.push((item, applied));
                }
                Err(error) => wanted.failed.push((item, error)),
            }
        }
        let places = |row: EntityRef<'_>| match Places::read(row.row) {
            Ok(places) => Ok(Ok((places, row.etag()))),
            Err(error) => Ok(Err(self.at(error, &EntityKey::new(row.partition_key, row.row_key)?))),
        };
        let found = many::rows((self.rows.store(), self.rows.name()?), &keys, &Select::All, places).await?;
        let (mut new, mut known) = (Vec::new(), Vec::new());
        for ((item, Applied { source, places: seen }), found) in keyed.into_iter().zip(found) {
            let (places, etag) = match found.transpose() {
                Ok(found) => found.unzip(),
                Err(error) => {
                    wanted.failed.push((item, error));
                    continue;
                }
            };
            let mut places: Places = places.unwrap_or_default();
            let recorded = places.0.len();
            places.0.extend(seen.iter().cloned());
            let to = if places.0.len() > recorded { &mut new } else { &mut known };
            to.push(Known { item, source: source.clone(), places, etag });
        }
        Ok((new, known))
    }

    async fn recorded(&self, known: Known) -> Result<Recorded> {
        // A share is written after its place is recorded: the first places of an entity, recorded just now, have none.
        let are_first = known.etag.is_none();
        let mut shares = Vec::with_capacity(known.places.0.len());
        for place in &known.places.0 {
            let place = PartitionKey::new(place)?;
            let share =
                if are_first { None } else { self.get(&record::share_key(&place, &known.source)?).await? };
            shares.push((place, share));
        }
        Ok(Recorded { known, shares })
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

    /// Records the new places of entities; returns those that are recorded. The others are lost or failed.
    async fn place(
        &self,
        new: Vec<Known>,
        together: usize,
        wanted: &mut Wanted<Applied, Change>,
    ) -> Vec<Known> {
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
            let is_written = self.write_places(&partition_key, &known).await;
            let is_one_bad = is_written.as_ref().is_err_and(|error| Failure::of(error) == Failure::Lasting);
            if !is_one_bad || known.len() == 1 {
                return vec![(known, is_written)];
            }
            // One of them has too many places.
            let mut written = Vec::with_capacity(known.len());
            for one in known {
                let one = vec![one];
                let is_written = self.write_places(&partition_key, &one).await;
                written.push((one, is_written));
            }
            written
        });
        let written: Vec<_> = requests::all(writes, CONCURRENCY).await;
        let mut placed = Vec::new();
        for (known, is_written) in written.into_iter().flatten() {
            match is_written {
                Ok(true) => placed.extend(known),
                Ok(false) => wanted.lost.extend(known.into_iter().map(|known| known.item)),
                Err(error) => {
                    wanted.failed.extend(known.into_iter().map(|known| (known.item, error.clone())));
                }
            }
        }
        placed
    }

    async fn write_places(&self, partition_key: &PartitionKey, known: &[Known]) -> Result<bool> {
        let mut operations = Vec::with_capacity(known.len());
        for one in known {
            let row_key = record::places_key(&one.source)?.row_key;
            operations.push((row_key, upsert(one.places.write()?, one.etag.clone())));
        }
        self.submit(partition_key, operations).await
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
