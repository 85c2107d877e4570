//! `Versioned`: an entity with its ETag and Timestamp.

use std::ops::Deref;

use chrono::{DateTime, Utc};
use serde::{Serialize, Serializer};
use table_store::Result;

use crate::entity::refused::UnwrapsBy;
use crate::entity::{FromEntity, ToEntity};
use crate::etag::ETag;
use crate::key::EntityKey;
use crate::query::EntityRef;
use crate::refused::refused_methods;
use crate::row::Row;
use crate::schema::EntitySchema;
use crate::ticks;

/// A value with the version it had when it was read.
///
/// ```
/// use table_core::{ETag, Versioned};
///
/// let versioned = Versioned::new("Ada", ETag::from_ticks(7), 7);
/// assert_eq!(versioned.len(), 3); // dereferences to the value
/// assert_eq!(versioned.into_value(), "Ada");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Versioned<T> {
    value: T,
    etag: ETag,
    timestamp: u64,
}

impl<T> Versioned<T> {
    /// Combines a value with the version it had when it was read. The Timestamp is in [ticks].
    pub const fn new(value: T, etag: ETag, timestamp: u64) -> Self {
        Self { value, etag, timestamp }
    }

    /// Returns the version, which conditional writes send as `If-Match` (CON-3).
    #[must_use]
    pub const fn etag(&self) -> &ETag {
        &self.etag
    }

    /// Returns the time of the last write. Do not compare the times of different entities to order events (ETAG-7).
    #[must_use]
    pub fn timestamp(&self) -> DateTime<Utc> {
        ticks::to_datetime(self.timestamp).unwrap_or(DateTime::<Utc>::MAX_UTC)
    }

    /// Returns the time of the last write, in [ticks].
    #[must_use]
    pub const fn ticks(&self) -> u64 {
        self.timestamp
    }

    /// Returns the value without its version.
    #[must_use]
    pub const fn value(&self) -> &T {
        &self.value
    }

    /// Returns the value without its version.
    #[must_use]
    pub fn into_value(self) -> T {
        self.value
    }
}

impl<T> Versioned<T> {
    refused_methods! {
        UnwrapsBy: into_inner();
    }
}

impl<T: FromEntity> Versioned<T> {
    /// Reads a stored entity with its version.
    ///
    /// # Errors
    /// Any error from [`FromEntity::from_entity`], with the key.
    pub fn read(entity: EntityRef<'_>) -> Result<Self> {
        Self::read_with(entity, T::from_entity)
    }

    /// Reads another entity into this value. If that fails, the error does not contain the entity's key, and this value may contain fields of both entities.
    #[inline]
    pub(crate) fn read_again(&mut self, entity: EntityRef<'_>, is_same_partition: bool) -> Result<()> {
        self.value.read_again(entity, is_same_partition)?;
        self.etag = entity.etag();
        self.timestamp = entity.row.timestamp();
        Ok(())
    }
}

impl<T> Versioned<T> {
    /// Reads a stored entity with a custom function and adds the entity's version.
    #[inline]
    pub(crate) fn read_with(
        entity: EntityRef<'_>,
        read: impl FnOnce(EntityRef<'_>) -> Result<T>,
    ) -> Result<Self> {
        match read(entity) {
            Ok(value) => Ok(Self::of(value, entity)),
            Err(error) => Err(error.with_key(entity.partition_key, entity.row_key)),
        }
    }

    /// Wraps a value read from a stored entity, and adds the entity's version.
    #[inline]
    pub(crate) fn of(value: T, entity: EntityRef<'_>) -> Self {
        Self::new(value, entity.etag(), entity.row.timestamp())
    }
}

impl<T> Deref for Versioned<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

/// Serialises the value without its version. The version belongs in the `ETag` header of a response.
///
/// ```
/// use serde::{Deserialize, Serialize};
/// use table_core::{ETag, Entity, Versioned};
///
/// #[derive(Entity, Serialize, Deserialize, Debug, PartialEq)]
/// #[partition_key(department)]
/// #[row_key(id)]
/// #[serde(rename_all = "camelCase")] // the names in JSON; the names in the store are unchanged
/// struct Employee {
///     department: String,
///     #[digits(6)]
///     id: u32,
///     first_name: String,
/// }
///
/// let json = r#"{"department":"Sales","id":223,"firstName":"Ada"}"#;
/// let ada: Employee = serde_json::from_str(json).unwrap();
/// let found = Versioned::new(ada, ETag::from_ticks(7), 7);
/// assert_eq!(serde_json::to_string(&found).unwrap(), json);
/// ```
impl<T: Serialize> Serialize for Versioned<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        self.value.serialize(serializer)
    }
}

impl<T: ToEntity> ToEntity for Versioned<T> {
    type Table = T::Table;

    fn entity_key(&self) -> Result<EntityKey> {
        self.value.entity_key()
    }

    fn entity_row(&self) -> Result<Row> {
        self.value.entity_row()
    }

    fn merge_row(&self) -> Result<Row> {
        self.value.merge_row()
    }

    fn schema_table() -> Option<&'static str> {
        T::schema_table()
    }

    fn schemas() -> &'static [&'static EntitySchema] {
        T::schemas()
    }

    fn own_schema(&self) -> &'static [&'static EntitySchema] {
        self.value.own_schema()
    }
}
