//! Applies source entities to a view. The view's rows and sums are derived from the entities by the protocol of [`converge`].

use std::collections::BTreeSet;

use table_core::entity::{Entity, FromEntity};
use table_core::key::{EntityKey, PartitionKey, RowKey};
use table_core::mixed::{RowOwner, classify_key};
use table_core::operation::OperationKind;
use table_core::query::{EntityRef, Select};
use table_core::selection::index_that_hides;
use table_core::store::{StoredRow, TableStore};
use table_core::{Error, Result};

use crate::converge::{self, Derive, Part, Place, Wanted, WantedOf};
use crate::failure::Failure;
use crate::omitted;
use crate::panicked::caught;
use crate::read_many;
use crate::requests::{self, CONCURRENCY};
use crate::view::View;
use crate::view::applied::{Applied, Known, Recorded, Write};
use crate::view::fault::ViewFault;
use crate::view::projection::Projection;
use crate::view::record;
use crate::view::table::ViewTable;

impl<V: View, S: TableStore> Derive for ViewTable<V, S> {
    type Item = Applied;
    type Stored = (Vec<Recorded>, Wanted<Applied, Write>);
    type What = Write;

    const RACE: &'static str = "the same rows of the view";

    async fn stored(&self, items: &[Applied], together: usize) -> Result<Self::Stored> {
        let mut wanted = Wanted::default();
        let known = self.known(items, &mut wanted).await?.into_iter().map(|known| async move {
            let item = known.item;
            match self.recorded(known).await {
                // A record that the store cannot represent blocks no other entity.
                Err(error) if omitted::is_unreadable(&error) => Ok(Err((item, error))),
                recorded => recorded.map(Ok),
            }
        });
        let mut recorded = Vec::new();
        for one in requests::in_order(known, CONCURRENCY).await? {
            match one {
                Ok(one) => recorded.push(one),
                Err(failed) => wanted.failed.push(failed),
            }
        }
        let gains = |recorded: &Recorded| recorded.known.named.iter().any(|place| !recorded.has(place));
        let (gaining, mut recorded): (Vec<_>, Vec<_>) = recorded.into_iter().partition(gains);
        // IMPORTANT: partitions are added to the lists after the records are read, and before the source is read.
        recorded.extend(self.place(gaining, together, &mut wanted).await);
        Ok((recorded, wanted))
    }

    async fn wanted(&self, (recorded, mut wanted): Self::Stored) -> Result<WantedOf<Self>> {
        let sources: Vec<_> = recorded.iter().map(|Recorded { known, .. }| known.source.clone()).collect();
        let of = (self.source.store(), self.source.name()?);
        let read = |row: EntityRef<'_>| Ok(Self::projected(row));
        let unreadable = |error| Ok(Err(of_projection(error)));
        let sources = read_many::rows_or(of, &sources, &Select::All, read, unreadable).await?;
        for (recorded, projection) in recorded.into_iter().zip(sources) {
            let item = recorded.known.item;
            let projection = match projection.transpose() {
                Ok(projection) => projection.flatten().unwrap_or_else(Projection::new),
                Err(error) => {
                    wanted.failed.push((item, error));
                    continue;
                }
            };
            if let Err(error) = self.changes(recorded, projection, &mut wanted) {
                wanted.failed.push((item, error));
            }
        }
        Ok(wanted)
    }

    async fn write(&self, place: &Place, parts: &[Part<Write>]) -> Result<Option<usize>> {
        let (mut changes, mut known) = (Vec::new(), Vec::new());
        for part in parts {
            match &part.what {
                Write::Change(change) => changes.push(change.as_ref()),
                Write::Places(one) => known.push(one),
            }
        }
        let is_written = if known.is_empty() {
            self.write_changes(&place.partition_key, &changes).await?
        } else {
            self.write_places(&place.partition_key, &known).await?.is_some()
        };
        Ok(is_written.then_some(parts.len()))
    }

    fn named(&self, error: Error, entity: &Applied) -> Error {
        self.at(error, &entity.source)
    }
}

impl<V: View, S: TableStore> ViewTable<V, S> {
    /// Applies the current state of one entity to the view, even if the entity does not exist. Idempotent.
    ///
    /// [`catch_up`](Self::catch_up) applies each changed entity in the same way. Call this function after another tool has written an entity. If the call
    /// succeeds, the entity is no longer [set aside](Self::poison).
    ///
    /// # Errors
    /// - `OutOfRangeInput` if a sum overflows.
    /// - `InvalidInput` (EGT-2) if the entity has more rows and sums in one partition of the view than fit into one transaction.
    /// - `UpdateConditionNotSatisfied` if other writers changed the same rows during every attempt.
    /// - Any error from [`View::project`], or from the decoding of the entity. If the error's code denotes an
    ///   [outage](crate::work::Handler#failures-and-outages), or work for a newer program, it is replaced by `InvalidInput`.
    ///
    /// An error in one partition of the view does not prevent writes to the other partitions.
    pub async fn apply(&self, source: &EntityKey) -> Result<()> {
        // IMPORTANT: the entity's poison row is read before the entity. If a later failure replaces the row, the row's version differs, so the row is not
        // deleted.
        let aside = self.aside_row(source).await?;
        let failed = self.apply_all([source.clone().into()]).await?;
        if let Some((_, error)) = failed.into_iter().next() {
            return Err(error);
        }
        match aside {
            Some(row) => self.take_back(row).await,
            None => Ok(()),
        }
    }

    /// Applies several entities to the view, in shared transactions. Returns the entities that could not be applied, with their errors.
    pub(super) async fn apply_all(
        &self,
        entities: impl IntoIterator<Item = Applied> + Send,
    ) -> Result<Vec<(Applied, Error)>> {
        let limits = self.rows.store().capabilities().limits;
        let entities: Vec<_> = entities.into_iter().collect();
        Ok(converge::settle(self, entities, (&self.retry, limits)).await?.failed)
    }

    /// Adds the writes for one entity to `wanted`. Exception: if the projection contributes rows or sums to a partition whose record was not read or is empty,
    /// adds the entity to the next round instead.
    fn changes(
        &self,
        recorded: Recorded,
        mut projection: Projection<V::Row>,
        wanted: &mut Wanted<Applied, Write>,
    ) -> Result<()> {
        let table = self.rows.name()?;
        let unknown = projection.places.keys().map(PartitionKey::as_str);
        let unknown = unknown.filter(|place| !recorded.known.named.contains(*place) && !recorded.has(place));
        let unknown: BTreeSet<_> = unknown.map(str::to_owned).collect();
        let Recorded { mut known, shares } = recorded;
        if !unknown.is_empty() {
            let places = known.named.into_iter().chain(unknown).collect();
            wanted.again.push((known.item, Applied { source: known.source, places }));
            return Ok(());
        }
        let left: BTreeSet<_> = projection.places.keys().map(|place| place.as_str().to_owned()).collect();
        for (partition_key, stored) in shares {
            let contribution = projection.places.remove(&partition_key).unwrap_or_default();
            let change = self.change(&known.source, &partition_key, stored, contribution)?;
            let place = Place { table: table.clone(), partition_key };
            let (own, shared) = (change.operations(), change.sums().cloned().collect());
            let what = Write::Change(Box::new(change));
            wanted.parts.push(Part { item: known.item, place, own, shared, what });
        }
        if known.is_current && left != known.places.0 {
            // IMPORTANT: partitions are removed from the list only after the records are written. Writing a record changes its version, so a process that has
            // read the record as empty can no longer fill it.
            known.places.0 = left;
            let partition_key = known.source.partition_key.clone();
            let (item, place) = (known.item, Place { table: table.clone(), partition_key });
            wanted.last.push(Part { item, place, own: 1, shared: Vec::new(), what: Write::Places(known) });
        }
        Ok(())
    }

    async fn recorded(&self, known: Known) -> Result<Recorded> {
        // An entity's first list is written before its first record, so an entity without a list normally has no records. If a record exists because the view's
        // table was recreated, the write fails, and the next round reads the record.
        let is_first = known.etag.is_none();
        let places: BTreeSet<_> = known.places.0.union(&known.named).collect();
        let mut shares = Vec::with_capacity(places.len());
        for place in places {
            let place = PartitionKey::new(place)?;
            let share =
                if is_first { None } else { self.stored(&record::share_key(&place, &known.source)?).await? };
            shares.push((place, share));
        }
        Ok(Recorded { known, shares })
    }

    /// Returns the projection of a row, or `None` if the row is not an entity of the view's source type. Omits partitions to which the entity contributes
    /// neither rows nor sums.
    pub(super) fn projected(entity: EntityRef<'_>) -> Result<Option<Projection<V::Row>>> {
        caught("the projection", || {
            if Self::is_hidden(entity.partition_key) {
                return Ok(None);
            }
            let read = match V::Source::read_own(entity) {
                Err(_) if !Self::is_source(entity.partition_key, entity.row_key) => return Ok(None),
                read => read.map_err(|error| of_projection(error.with_table(V::Source::SCHEMA.table)))?,
            };
            let Some(entity) = read else { return Ok(None) };
            let mut projection = Projection::new();
            V::project(&entity, &mut projection).map_err(of_projection)?;
            projection.places.retain(|_, contribution| !contribution.is_empty());
            Ok(Some(projection))
        })
    }

    /// Returns `true` if a key has the format of the view's source type. A row with a different key format, such as a part of a wide entity, is not a source
    /// entity, even if no type in the program declares it.
    pub(super) fn is_source(partition_key: &str, row_key: &str) -> bool {
        !Self::is_hidden(partition_key)
            && classify_key::<V::Source>(partition_key, row_key).is_ok_and(|owner| owner == RowOwner::Own)
    }

    /// Returns `true` if a partition belongs to an index of the source type and its rows could be mistaken for source entities. Scans of the source skip such
    /// partitions, and entities cannot be inserted into them.
    pub(super) fn is_hidden(partition_key: &str) -> bool {
        index_that_hides(V::Source::SCHEMA, partition_key).is_some()
    }

    pub(super) async fn stored(&self, key: &EntityKey) -> Result<Option<StoredRow>> {
        self.rows.store().get(self.rows.name()?, key, &Select::All).await
    }

    /// Submits operations as one transaction on the view's table. Returns `false` if another writer committed first.
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

/// Wraps an error from projecting or decoding an entity if the error's code denotes a store outage or work for a newer program. Projecting and decoding are
/// pure, so every attempt would fail in the same way. With the original code, the error would count as an outage, and one entity would block all others.
fn of_projection(error: Error) -> Error {
    match Failure::of(&error) {
        Failure::Lasting => error,
        Failure::Outage | Failure::Newer => Error::of(ViewFault::Projection(error)),
    }
}
