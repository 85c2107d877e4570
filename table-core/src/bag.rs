//! Untyped entities have a key and named values. They store data with a schema that the program does not know.

mod json;
mod refused;

use chrono::{DateTime, Utc};
use table_store::{Result, Value, edm_ticks};

use crate::entity::{AnyTable, Declared, Entity, FromEntity, ProjectionOf, ToEntity};
use crate::etag::ETag;
use crate::key::EntityKey;
use crate::query::EntityRef;
use crate::row::{Row, RowWriter};
use crate::schema::EntitySchema;
use crate::ticks;

/// An entity without a declared type. It has a key, named properties, and a version if it was read from a store.
///
/// - Properties keep the order of their first insertion. The order does not affect equality (PROP-7).
/// - Names are case-sensitive (PROP-1). A write of the entity checks the names, number and sizes of its properties against the store's limits.
/// - A lookup is a linear search. An entity has at most 252 properties (ENT-2).
/// - The serde format is the service's JSON with minimal metadata. A value is annotated with its type if JSON does not have that type (JSON-3).
///
/// ```
/// use table_core::{TableEntity, Value};
///
/// let mut ada = TableEntity::new("Sales", "000223")?.with("FirstName", "Ada").with("Age", 34);
/// assert_eq!(ada.get("Age"), Some(&Value::Int32(34)));
/// ada.insert("Age", 35_i64);
/// assert_eq!(ada.remove("FirstName"), Some(Value::from("Ada")));
/// assert_eq!(ada.iter().collect::<Vec<_>>(), [("Age", &Value::Int64(35))]); // a new type replaces the old one (TYPE-12)
/// # Ok::<(), table_core::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct TableEntity {
    key: EntityKey,
    etag: Option<ETag>,
    timestamp: Option<u64>,
    properties: Vec<(String, Value)>,
}

impl TableEntity {
    /// Creates an entity without properties.
    ///
    /// # Errors
    /// `KeyEncoding` or `PropertyValueTooLarge` if the key is invalid, as in [`EntityKey::new`].
    pub fn new(partition_key: impl Into<String>, row_key: impl Into<String>) -> Result<Self> {
        Ok(EntityKey::new(partition_key, row_key)?.into())
    }

    /// Returns the entity with a property added. A property with the same name is replaced.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.insert(name, value);
        self
    }

    /// Adds a property. If a property with this name exists, its value is replaced and its position is kept. Returns the previous value, if any.
    ///
    /// ```
    /// use table_core::{TableEntity, Value};
    ///
    /// let mut entity = TableEntity::new("p", "r")?;
    /// assert_eq!(entity.insert("Age", 34), None);
    /// assert_eq!(entity.insert("Age", 35), Some(Value::Int32(34)));
    /// # Ok::<(), table_core::Error>(())
    /// ```
    pub fn insert(&mut self, name: impl Into<String>, value: impl Into<Value>) -> Option<Value> {
        let (name, value) = (name.into(), value.into());
        if let Some((_, place)) = self.properties.iter_mut().find(|(found, _)| *found == name) {
            return Some(std::mem::replace(place, value));
        }
        self.properties.push((name, value));
        None
    }

    /// Removes a property and returns its value.
    ///
    /// A merge does not remove the property from the stored entity, because a merge keeps omitted properties (MRG-3). Use a replace instead.
    pub fn remove(&mut self, name: &str) -> Option<Value> {
        let index = self.properties.iter().position(|(found, _)| found == name)?;
        Some(self.properties.remove(index).1)
    }

    /// Returns the value of a property, or `None` if the entity lacks it.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.properties.iter().find(|(found, _)| found == name).map(|(_, value)| value)
    }

    /// Iterates over the names and values of the properties, in insertion order.
    #[must_use]
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Value)> {
        self.properties.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// Returns the number of properties, not counting the key and the Timestamp.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.properties.len()
    }

    /// Returns `true` if the entity has no properties.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.properties.is_empty()
    }

    /// Returns the key of the entity.
    #[must_use]
    pub const fn key(&self) -> &EntityKey {
        &self.key
    }

    /// Returns the version from the last read or update of the entity, or `None` if there was none.
    #[must_use]
    pub const fn etag(&self) -> Option<&ETag> {
        self.etag.as_ref()
    }

    /// Returns the time of the last write, or `None` if the entity has not been read or updated. Do not compare the times of different entities to order events
    /// (ETAG-7).
    #[must_use]
    pub fn timestamp(&self) -> Option<DateTime<Utc>> {
        self.timestamp.and_then(ticks::to_datetime)
    }

    /// Encodes the properties. The version is not included, because the store assigns it.
    ///
    /// # Errors
    /// `OutOfRangeInput`, with the name of the property, if a time is outside the years 1601 to 9999 (TYPE-6).
    ///
    /// ```
    /// use chrono::{DateTime, Utc};
    /// use table_core::TableEntity;
    ///
    /// let entity = TableEntity::new("p", "r")?.with("Hired", DateTime::<Utc>::MIN_UTC);
    /// assert_eq!(entity.to_row().unwrap_err().rule(), Some("TYPE-6"));
    /// # Ok::<(), table_core::Error>(())
    /// ```
    pub fn to_row(&self) -> Result<Row> {
        let mut writer = RowWriter::with_capacity(self.len());
        for (name, value) in self.iter() {
            if let Value::DateTime(instant) = value {
                edm_ticks(name, *instant)?;
            }
            writer.property(name, value.as_ref());
        }
        Ok(writer.finish())
    }
}

impl From<EntityKey> for TableEntity {
    fn from(key: EntityKey) -> Self {
        Self { key, etag: None, timestamp: None, properties: Vec::new() }
    }
}

impl PartialEq for TableEntity {
    fn eq(&self, other: &Self) -> bool {
        (&self.key, &self.etag, self.timestamp, self.len())
            == (&other.key, &other.etag, other.timestamp, other.len())
            && self.iter().all(|(name, value)| other.get(name) == Some(value))
    }
}

impl Declared for TableEntity {
    const SCHEMAS: &'static [&'static EntitySchema] = &[];
}

impl ToEntity for TableEntity {
    type Table = AnyTable;

    fn entity_key(&self) -> Result<EntityKey> {
        self.key.clone().of_entity()
    }

    fn entity_row(&self) -> Result<Row> {
        self.to_row()
    }

    fn on_written(&mut self, etag: &ETag, ticks: u64) {
        self.etag = Some(etag.clone());
        self.timestamp = Some(ticks).filter(|ticks| *ticks > 0);
    }
}

impl<E: Entity> ProjectionOf<E> for TableEntity {}
impl<T: FromEntity> ProjectionOf<TableEntity> for T {}

impl FromEntity for TableEntity {
    fn from_entity(entity: EntityRef<'_>) -> Result<Self> {
        let mut bag = Self::from(EntityKey::new(entity.partition_key, entity.row_key)?);
        bag.properties.reserve_exact(entity.row.len());
        for property in entity.row.properties() {
            let property = property?;
            // A stored row contains each property name only once (PROP-6).
            bag.properties.push((property.name.to_owned(), property.value.to_owned()));
        }
        bag.etag = Some(entity.etag());
        bag.timestamp = Some(entity.row.timestamp()).filter(|ticks| *ticks > 0);
        Ok(bag)
    }
}

#[cfg(test)]
mod tests;
