//! The handle to a table of series. It sets single slots, increments slots conditionally on the entity's `ETag`, and writes all slots.

use std::fmt;

use table_core::entity::Versioned;
use table_core::etag::ETag;
use table_core::property::{self, Property};
use table_core::query::Select;
use table_core::retry::Retry;
use table_core::row::{Row, RowWriter};
use table_core::selection::{IntoSelection, PagedOf, Point, Selection};
use table_core::store::TableStore;
use table_core::table::EntityQuery;
use table_core::{Error, Result, Table};

use crate::entities::{Entities, NoOutbox, StepRecorder};
use crate::series::fault::SeriesFault;
use crate::series::row::{copy, no_slot};
use crate::series::{Series, SeriesRow, SlotNumber, check_slots};

/// A handle to a table of series. See [the pattern](crate::series).
pub struct SeriesTable<E, S, O = NoOutbox> {
    entities: Entities<E, S, O>,
}

impl<E: Series, S, O> SeriesTable<E, S, O> {
    /// Creates a handle to a table of series. The given [handle](crate::Entities) maintains the indexes, copies and feeds that the entity type declares.
    #[must_use]
    pub fn new(entities: impl Into<Entities<E, S, O>>) -> Self {
        const { check_slots::<E>(E::SLOTS, 0) }
        Self { entities: entities.into() }
    }

    /// Sets the retry policy for increments that conflict with other writers.
    #[must_use]
    pub fn with_retry(self, retry: Retry) -> Self {
        Self { entities: self.entities.with_retry(retry) }
    }

    /// Returns the table that contains the series.
    #[must_use]
    pub const fn table(&self) -> &Table<E, S> {
        self.entities.table()
    }
}

impl<E: Series, S: TableStore, O: StepRecorder> SeriesTable<E, S, O> {
    /// Returns the entity of one period with all its slots. Returns `None` if the entity does not exist. Sends one request (PAT-SER-1).
    ///
    /// # Errors
    /// `EntityMismatch` if a slot has a value of a different type; any error from a point query.
    pub async fn get(&self, key: Selection<E, Point>) -> Result<Option<Versioned<SeriesRow<E>>>> {
        self.table().get_as::<SeriesRow<E>>(key).await
    }

    /// Returns one slot of one period, without reading the other slots. Returns `None` if the slot is empty or the period does not exist. Sends one request.
    ///
    /// ```
    /// # use table_patterns::{Engine, Entity, EntityStore};
    /// # use table_patterns::series::{self, Series, SeriesTable};
    /// # #[derive(Entity, Clone, Debug, PartialEq)]
    /// # #[entity(table = "Counts")]
    /// # #[partition_key(employee)]
    /// # #[row_key(day)]
    /// # struct Counts { employee: u32, #[digits(8)] day: u32 }
    /// # impl Series for Counts {
    /// #     type Value = i32;
    /// #     const SLOTS: &'static [&'static str] = series::HOURS;
    /// # }
    /// # pollster::block_on(async {
    /// let counts = SeriesTable::new(Engine::in_memory().entities::<Counts>().create_if_missing().await?);
    /// counts.set(&Counts { employee: 123, day: 20140423 }, 9, 42).await?;
    /// assert_eq!(counts.get_slot(Counts::key(123, 20140423), 9).await?, Some(42));
    /// # Ok::<(), table_patterns::Error>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    /// `OutOfRangeInput` if the slot does not exist; `EntityMismatch` if it has a value of a different type; any error from a point query.
    pub async fn get_slot(&self, key: Selection<E, Point>, slot: usize) -> Result<Option<E::Value>> {
        let (name, key) =
            (slot_name::<E>(slot).map_err(|error| self.entities.in_table(error))?, key.into_key()?);
        let table = self.table().name()?;
        let found = self.table().store().get(table, &key, &Select::names([name])).await?;
        let Some(found) = found else { return Ok(None) };
        property::read(found.row.view(), name, &mut 0).map_err(|error| self.entities.in_table(error))
    }

    /// Writes all slots of one period. Slots that are empty in `row` are removed. The last writer wins.
    ///
    /// # Errors
    /// An error if the entity exceeds a limit; any error from the entity's declared patterns, as in [`Entities::insert`].
    pub async fn insert_or_replace(&self, row: &SeriesRow<E>) -> Result<ETag> {
        self.entities.put_row(&row.entity, row.to_row()?).await
    }

    /// Sets one slot with a merge. The other slots and the entity's own properties stay unchanged (PAT-SER-2). If no entity is stored yet, inserts one with the
    /// properties of `entity`.
    ///
    /// # Errors
    /// `OutOfRangeInput` if the slot does not exist, or if the Edm type cannot represent the value;
    /// any error from [`insert_or_replace`](Self::insert_or_replace).
    pub async fn set(&self, entity: &E, slot: usize, value: E::Value) -> Result<ETag> {
        self.set_all(entity, [(slot, value)]).await
    }

    /// Sets several slots in one request, like [`set`](Self::set). If a slot is given twice, the last value is used.
    ///
    /// # Errors
    /// Any error from [`set`](Self::set).
    pub async fn set_all(
        &self,
        entity: &E,
        values: impl IntoIterator<Item = (usize, E::Value)>,
    ) -> Result<ETag> {
        let named = named_slots::<E>(values).map_err(|error| self.entities.in_table(error))?;
        self.entities.merge_or_insert(entity, (&only_slots(&named)?, &with_slots(entity, &named)?)).await
    }
}

// The bounds are on the methods, because rustc shows the custom error message of a bound only if the bound is on a method, and not on an `impl`.
impl<E: Series, S: TableStore, O: StepRecorder> SeriesTable<E, S, O> {
    /// Adds a value to one slot and returns the sum. An empty slot counts as zero. No update is lost (PAT-SER-3). A stored entity keeps its own properties. If
    /// no entity is stored yet, inserts one with the properties of `entity`.
    ///
    /// # Errors
    /// - `OutOfRangeInput` if the slot does not exist, or if its type cannot represent the sum.
    /// - `UpdateConditionNotSatisfied` if every attempt conflicted with another writer.
    ///
    /// If the error [is ambiguous](Error::is_ambiguous), the value may have been added; the increment is not repeated.
    pub async fn increment(&self, entity: &E, slot: usize, by: E::Value) -> Result<E::Value>
    where
        E::Value: SlotNumber,
    {
        let sums = self.increment_all(entity, &[(slot, by)]).await?;
        sums.into_iter().next().ok_or_else(|| no_slot(slot, E::SLOTS))
    }

    /// Adds values to several slots of one period atomically, like [`increment`](Self::increment). Returns the sums in the order of `by`.
    ///
    /// # Errors
    /// `InvalidInput` if a slot is given twice; any error from [`increment`](Self::increment).
    pub async fn increment_all(&self, entity: &E, by: &[(usize, E::Value)]) -> Result<Vec<E::Value>>
    where
        E::Value: SlotNumber,
    {
        let mut names = Vec::with_capacity(by.len());
        for (slot, _) in by {
            let name = slot_name::<E>(*slot).map_err(|error| self.entities.in_table(error))?;
            if names.contains(&name) {
                return Err(self.entities.in_table(Error::of(SeriesFault::Twice(*slot))));
            }
            names.push(name);
        }
        let key = entity.key_of()?;
        let mut added = Vec::new();
        let written = self
            .entities
            .write(&key, true, None, |current| {
                let stored = current.as_ref().and_then(|current| current.stored.as_ref());
                let (slots, sums) =
                    add_to_slots::<E>(stored, by).map_err(|error| self.entities.here(error, &key))?;
                added = sums;
                let (changed, whole) = (only_slots(&slots)?, with_slots(entity, &slots)?);
                let write =
                    self.entities.plan_merge_or_insert(&key, current.as_ref(), (entity, &changed, &whole))?;
                Ok(Some(write.identified()))
            })
            .await;
        match written {
            Ok(_) => Ok(added),
            Err(error) if error.rule() == Some("CON-3") => Err(error.with_rule("PAT-SER-3")),
            Err(error) => Err(error),
        }
    }
}

impl<E: Series, S: TableStore + Clone, O> SeriesTable<E, S, O> {
    /// Creates a query that returns several periods with their slots, in key order. Consecutive days take a single range query.
    pub fn query<C: PagedOf<E>>(&self, periods: impl IntoSelection<E, C>) -> EntityQuery<E, S, SeriesRow<E>> {
        self.table().query(periods).project::<SeriesRow<E>>()
    }
}

/// Returns the property name of a slot.
///
/// # Errors
/// `OutOfRangeInput` if the slot does not exist.
fn slot_name<E: Series>(slot: usize) -> Result<&'static str> {
    const { check_slots::<E>(E::SLOTS, 0) }
    E::SLOTS.get(slot).copied().ok_or_else(|| no_slot(slot, E::SLOTS))
}

/// Returns the property names of slots, with their values. If a slot is given twice, the last value is used.
///
/// # Errors
/// `OutOfRangeInput` if a slot does not exist.
pub(crate) fn named_slots<E: Series>(
    values: impl IntoIterator<Item = (usize, E::Value)>,
) -> Result<Vec<(&'static str, E::Value)>> {
    let mut named: Vec<(&str, E::Value)> = Vec::new();
    for (slot, value) in values {
        let name = slot_name::<E>(slot)?;
        named.retain(|(earlier, _)| *earlier != name);
        named.push((name, value));
    }
    Ok(named)
}

/// The new values of slots by their property names, and the sums in the order of the increments.
type Sums<V> = (Vec<(&'static str, V)>, Vec<V>);

/// Adds numbers to the stored values of slots. An empty slot counts as zero. Later numbers for the same slot build on the sums of earlier ones.
///
/// # Errors
/// `OutOfRangeInput` if a slot does not exist, or if its type cannot represent the sum.
pub(crate) fn add_to_slots<E: Series>(
    stored: Option<&Row>,
    by: &[(usize, E::Value)],
) -> Result<Sums<E::Value>>
where
    E::Value: SlotNumber,
{
    let (mut slots, mut sums): Sums<E::Value> = (Vec::with_capacity(by.len()), Vec::with_capacity(by.len()));
    for (slot, more) in by {
        let name = slot_name::<E>(*slot)?;
        let before = match (slots.iter().find(|(known, _)| *known == name), stored) {
            (Some((_, sum)), _) => Some(*sum),
            (None, Some(stored)) => property::read::<Option<E::Value>>(stored.view(), name, &mut 0)?,
            (None, None) => None,
        };
        let sum = before.unwrap_or(E::Value::ZERO).sum(*more);
        let sum = sum.ok_or_else(|| Error::of(SeriesFault::Sum).with_property(name))?;
        slots.retain(|(known, _)| *known != name);
        slots.push((name, sum));
        sums.push(sum);
    }
    Ok((slots, sums))
}

/// Returns a row for a merge. It contains only the given slots.
pub(crate) fn only_slots<V: Property>(slots: &[(&str, V)]) -> Result<Row> {
    let mut writer = RowWriter::with_capacity(slots.len());
    slots.iter().try_for_each(|(name, value)| value.write_to(name, &mut writer))?;
    Ok(writer.finish())
}

/// Returns a row for an insert. It contains the entity's own properties and the given slots.
pub(crate) fn with_slots<E: Series, V: Property>(entity: &E, slots: &[(&str, V)]) -> Result<Row> {
    let mut writer = RowWriter::with_capacity(slots.len() + E::SCHEMA.properties.len());
    copy(&entity.to_row()?, &mut writer)?;
    slots.iter().try_for_each(|(name, value)| value.write_to(name, &mut writer))?;
    Ok(writer.finish())
}

clone_fields!([E, S: Clone, O: Clone] SeriesTable[E, S, O] { entities });

debug_fields!([E, S: fmt::Debug, O: fmt::Debug] SeriesTable[E, S, O] { entities });
