//! An entity together with the values of its slots.

use table_core::entity::{Around, FromEntity, NotRead, PlainEntity, ProjectionOf, ToEntity};
use table_core::key::EntityKey;
use table_core::query::{EntityRef, Select};
use table_core::row::{Property, Row, RowWriter};
use table_core::{Error, Result, property};

use crate::series::fault::SeriesFault;
use crate::series::{Series, check_slots, is_sorted};

/// An entity with the values of its slots. It is a projection of `E`, so any read of `E` entities can return it.
///
/// ```
/// use table_patterns::series::{Series, SeriesRow};
///
/// /// Returns the number of slots with a value.
/// fn filled<E: Series>(row: &SeriesRow<E>) -> usize {
///     row.slots().iter().filter(|slot| slot.is_some()).count()
/// }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct SeriesRow<E: Series> {
    /// The entity without its slots.
    pub entity: E,
    slots: Vec<Option<E::Value>>,
}

impl<E: Series> SeriesRow<E> {
    /// Creates a row whose slots are all empty.
    #[must_use]
    pub fn new(entity: E) -> Self {
        const { check_slots::<E>(E::SLOTS, 0) }
        Self { entity, slots: E::SLOTS.iter().map(|_| None).collect() }
    }

    /// Creates a row with the given values in its first slots.
    ///
    /// # Errors
    /// `OutOfRangeInput` if the number of values exceeds the number of slots.
    pub fn with_values(entity: E, values: impl IntoIterator<Item = Option<E::Value>>) -> Result<Self> {
        let mut row = Self::new(entity);
        for (slot, value) in values.into_iter().enumerate() {
            *row.slot_mut(slot)? = value;
        }
        Ok(row)
    }

    /// Returns the value of a slot, or `None` if the slot is empty or does not exist. Slots are counted from 0.
    #[must_use]
    pub fn slot(&self, slot: usize) -> Option<&E::Value> {
        self.slots.get(slot)?.as_ref()
    }

    /// Returns a mutable reference to the value of a slot.
    ///
    /// # Errors
    /// `OutOfRangeInput` if the slot does not exist.
    pub fn slot_mut(&mut self, slot: usize) -> Result<&mut Option<E::Value>> {
        self.slots.get_mut(slot).ok_or_else(|| no_slot(slot, E::SLOTS))
    }

    /// Returns the values of all slots, in slot order. The value of an empty slot is `None`.
    #[must_use]
    pub fn slots(&self) -> &[Option<E::Value>] {
        &self.slots
    }
}

/// Returns the position of the slot with the given name. Checks the position `next` first, because properties are usually stored in slot order.
fn slot_of<E: Series>(name: &str, next: usize) -> Option<usize> {
    if E::SLOTS.get(next) == Some(&name) {
        Some(next)
    } else if const { is_sorted(E::SLOTS) } {
        E::SLOTS.binary_search(&name).ok()
    } else {
        E::SLOTS.iter().position(|slot| *slot == name)
    }
}

pub(crate) fn no_slot(slot: usize, slots: &[&str]) -> Error {
    Error::of(SeriesFault::NoSlot { slot, last: slots.len().saturating_sub(1) })
}

/// Appends all properties of `row` to `writer`.
pub(crate) fn copy(row: &Row, writer: &mut RowWriter) -> Result<()> {
    for property in row.view().properties() {
        let property = property?;
        writer.property(property.name, property.value);
    }
    Ok(())
}

/// Rows of other types, such as index entries and feed entries, are excluded by the same rules as for `E`.
impl<E: Series> FromEntity for SeriesRow<E> {
    const IS_MIXED: bool = E::IS_MIXED;
    const AROUND: Option<Around> = E::AROUND;
    const NOT_READ: Option<NotRead> = E::NOT_READ;

    fn select() -> Select {
        match E::select() {
            Select::All => Select::All,
            Select::Names(names) => {
                let slots = E::SLOTS.iter().map(|name| (*name).into());
                Select::names(names.iter().cloned().chain(slots))
            }
        }
    }

    /// Reads the properties in stored order. It may differ from slot order, because increments store slots in the order of their first use.
    fn from_entity(entity: EntityRef<'_>) -> Result<Self> {
        let (mut row, mut next) = (Self::new(E::from_entity(entity)?), 0);
        for property in entity.row.properties() {
            let Property { name, value } = property?;
            if let Some(slot) = slot_of::<E>(name, next)
                && let Some(place) = row.slots.get_mut(slot)
            {
                let value = <E::Value as property::Property>::from_value(Some(value));
                *place = Some(value.map_err(|error| error.with_property(name))?);
                next = slot + 1;
            }
        }
        Ok(row)
    }
}

impl<E: Series> ProjectionOf<E> for SeriesRow<E> {}

impl<E: Series> SeriesRow<E> {
    /// Returns the row that stores the entity's own properties and its slots.
    pub(crate) fn to_row(&self) -> Result<Row> {
        let mut writer = RowWriter::with_capacity(E::SLOTS.len() + E::SCHEMA.properties.len());
        copy(&self.entity.to_row()?, &mut writer)?;
        for (name, value) in E::SLOTS.iter().zip(&self.slots) {
            property::Property::write_to(value, name, &mut writer)?;
        }
        Ok(writer.finish())
    }
}

/// Implemented only for entity types that plain tables can write. All other entities are written through a [`SeriesTable`](crate::series::SeriesTable) or in a
/// [unit](crate::unit).
impl<E: Series + PlainEntity> ToEntity for SeriesRow<E> {
    type Table = <E as PlainEntity>::Table;

    fn entity_key(&self) -> Result<EntityKey> {
        self.entity.key_of()
    }

    fn entity_row(&self) -> Result<Row> {
        self.to_row()
    }

    fn schema_table() -> Option<&'static str> {
        Some(E::SCHEMA.table)
    }
}
