//! A table of series: one slot by merge, sums by `ETag`, whole rows.

use std::fmt;

use table_core::entity::{ToEntity, Versioned};
use table_core::error::{Error, Result};
use table_core::etag::{ETag, IfMatch};
use table_core::key::EntityKey;
use table_core::operation::{Operation, OperationKind};
use table_core::property::{self, Property};
use table_core::query::Select;
use table_core::retry::Retry;
use table_core::row::{Row, RowWriter};
use table_core::selection::{Paged, Point, Selection};
use table_core::store::{self, TableStore};
use table_core::table::EntityQuery;
use table_core::{Table, Transaction};

use crate::series::fault::SeriesFault;
use crate::series::row::{copy, no_slot};
use crate::series::{Series, SeriesRow, SlotNumber, check_slots};

/// A table whose entities are series: what each is and does, see [the pattern](crate::series).
pub struct SeriesTable<E, S> {
    table: Table<E, S>,
    retry: Retry,
}

impl<E: Series, S> SeriesTable<E, S> {
    /// The series that a table holds.
    #[must_use]
    pub fn new(table: Table<E, S>) -> Self {
        const { check_slots::<E>(E::SLOTS, 0) }
        Self { table, retry: Retry::default() }
    }

    /// The same with another back-off for increments that lose races.
    #[must_use]
    pub fn with_retry(self, retry: Retry) -> Self {
        Self { retry, ..self }
    }

    /// The table.
    #[must_use]
    pub const fn table(&self) -> &Table<E, S> {
        &self.table
    }
}

impl<E: Series, S: TableStore> SeriesTable<E, S> {
    /// One period with all its slots; `None` if nothing was written. One request (PAT-SER-1).
    ///
    /// # Errors
    /// `EntityMismatch` if a slot holds another type; every error of a look-up.
    pub async fn get(&self, key: Selection<E, Point>) -> Result<Option<Versioned<SeriesRow<E>>>> {
        self.table.get_as::<SeriesRow<E>>(key).await
    }

    /// Writes a whole period; slots that are empty here are empty afterwards. Last writer wins.
    ///
    /// # Errors
    /// Every limit of an entity.
    pub async fn put(&self, row: &SeriesRow<E>) -> Result<ETag> {
        self.write(row.entity_key()?, OperationKind::InsertOrReplace(row.entity_row()?), false).await
    }

    /// Sets one slot and leaves the others as they are, by a merge (PAT-SER-2). Makes the entity if there is none.
    ///
    /// # Errors
    /// `OutOfRangeInput` if there is no such slot, or the value has no place in its Edm type.
    pub async fn set(&self, entity: &E, slot: usize, value: E::Value) -> Result<ETag> {
        self.set_all(entity, [(slot, value)]).await
    }

    /// As [`set`](Self::set) for several slots, in one request. Of a slot that is named twice the last value counts.
    ///
    /// # Errors
    /// Those of [`set`](Self::set).
    pub async fn set_all(
        &self,
        entity: &E,
        values: impl IntoIterator<Item = (usize, E::Value)>,
    ) -> Result<ETag> {
        let mut named: Vec<(&str, E::Value)> = Vec::new();
        for (slot, value) in values {
            let name = self.name(slot)?;
            named.retain(|(earlier, _)| *earlier != name);
            named.push((name, value));
        }
        let row = with_slots(entity, &named)?;
        self.write(entity.key_of()?, OperationKind::InsertOrMerge(row), false).await
    }

    fn name(&self, slot: usize) -> Result<&'static str> {
        let found = E::SLOTS.get(slot).copied();
        found.ok_or_else(|| self.in_table(no_slot(slot, E::SLOTS)))
    }

    fn in_table(&self, error: Error) -> Error {
        match self.table.name() {
            Ok(name) => error.with_table(name.as_str()),
            Err(_) => error,
        }
    }

    /// `counts` says that a repetition after a lost answer must not be taken for another's write, nor another's for ours (CON-11).
    async fn write(&self, key: EntityKey, kind: OperationKind, counts: bool) -> Result<ETag> {
        let (store, table) = (self.table.store(), self.table.name()?);
        let in_table = |error: Error| error.with_table(table.as_str());
        let mut transaction =
            Transaction::new(key.partition_key, store.capabilities().limits).map_err(in_table)?;
        transaction.push(Operation { row_key: key.row_key, kind }).map_err(in_table)?;
        let transaction = if counts { transaction.identified() } else { transaction };
        let written = store.submit(table, transaction).await?.into_iter().next().flatten();
        store::written(table, written)
    }
}

// The bounds stand at the methods: rustc shows the message of a bound there, and of an `impl` it does not.
impl<E: Series, S: TableStore> SeriesTable<E, S> {
    /// Adds to one slot and gives the sum; an empty slot counts as zero. No update is lost (PAT-SER-3).
    ///
    /// # Errors
    /// `OutOfRangeInput` if there is no such slot, or the sum does not fit; `UpdateConditionNotSatisfied` if all attempts of
    /// the back-off lost their race. An error that [is ambiguous](Error::is_ambiguous) says that it may have been added: it is not
    /// tried again.
    pub async fn increment(&self, entity: &E, slot: usize, by: E::Value) -> Result<E::Value>
    where
        E::Value: SlotNumber,
    {
        let sums = self.increment_all(entity, &[(slot, by)]).await?;
        sums.into_iter().next().ok_or_else(|| no_slot(slot, E::SLOTS))
    }

    /// As [`increment`](Self::increment) for several slots of one period, all or none. Gives the sums in the order asked for.
    ///
    /// # Errors
    /// Those of [`increment`](Self::increment); `InvalidInput` if a slot is named twice.
    pub async fn increment_all(&self, entity: &E, by: &[(usize, E::Value)]) -> Result<Vec<E::Value>>
    where
        E::Value: SlotNumber,
    {
        let mut names = Vec::with_capacity(by.len());
        for (slot, _) in by {
            let name = self.name(*slot)?;
            if names.contains(&name) {
                return Err(self.in_table(Error::of(SeriesFault::Twice(*slot))));
            }
            names.push(name);
        }
        let key = entity.key_of()?;
        let mut race = self.retry.race("the series");
        loop {
            let (sums, kind) = self.added(entity, &key, &names, by).await?;
            match self.write(key.clone(), kind, true).await {
                Ok(_) => return Ok(sums),
                Err(error) if error.is_conflict() => {
                    let error = error.with_key(key.partition_key.as_str(), key.row_key.as_str());
                    race.lost(self.in_table(error)).await.map_err(|error| error.with_rule("PAT-SER-3"))?;
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// The sums of what is stored now, and the write that is right if no other writer writes in between.
    async fn added(
        &self,
        entity: &E,
        key: &EntityKey,
        names: &[&'static str],
        by: &[(usize, E::Value)],
    ) -> Result<(Vec<E::Value>, OperationKind)>
    where
        E::Value: SlotNumber,
    {
        let select = Select::names(names.iter().copied());
        let found = self.table.store().get(self.table.name()?, key, &select).await?;
        let mut sums = Vec::with_capacity(by.len());
        for (name, (_, more)) in names.iter().zip(by) {
            let stored = match &found {
                Some(found) => property::read::<Option<E::Value>>(found.row.view(), name, &mut 0)?,
                None => None,
            };
            let sum = stored.unwrap_or(E::Value::ZERO).sum(*more).ok_or_else(|| {
                let error = Error::of(SeriesFault::Sum).with_property(name);
                self.in_table(error.with_key(key.partition_key.as_str(), key.row_key.as_str()))
            })?;
            sums.push(sum);
        }
        let slots: Vec<_> = names.iter().copied().zip(sums.iter().copied()).collect();
        let row = with_slots(entity, &slots)?;
        let kind = match found {
            Some(found) => OperationKind::Merge(row, IfMatch::ETag(found.etag)),
            None => OperationKind::Insert(row),
        };
        Ok((sums, kind))
    }
}

impl<E: Series, S: TableStore + Clone> SeriesTable<E, S> {
    /// Several periods with their slots, in key order: several days are one range query.
    pub fn query<C: Paged>(&self, periods: Selection<E, C>) -> EntityQuery<E, S, SeriesRow<E>> {
        self.table.query(periods).project::<SeriesRow<E>>()
    }
}

/// The entity's own properties and some slots.
fn with_slots<E: Series, V: Property>(entity: &E, slots: &[(&str, V)]) -> Result<Row> {
    let mut writer = RowWriter::with_capacity(slots.len() + E::SCHEMA.properties.len());
    copy(&entity.to_row()?, &mut writer)?;
    for (name, value) in slots {
        value.write_to(name, &mut writer)?;
    }
    Ok(writer.finish())
}

impl<E, S: Clone> Clone for SeriesTable<E, S> {
    fn clone(&self) -> Self {
        Self { table: self.table.clone(), retry: self.retry.clone() }
    }
}

impl<E, S: fmt::Debug> fmt::Debug for SeriesTable<E, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SeriesTable").field("table", &self.table).field("retry", &self.retry).finish()
    }
}
