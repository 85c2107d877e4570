//! Layouts of entity types. A layout file stores each layout as a schema and golden rows, which are encoded samples.

use std::sync::Arc;

use table_store::{Error, Result};

use crate::bag::TableEntity;
use crate::entity::{Entity, FromEntity};
use crate::key::EntityKey;
use crate::layout_file::fault::LayoutFileFault;
use crate::query::EntityRef;
use crate::row::Row;
use crate::schema::StoredSchema;

/// The schema of an entity type and its encoded samples. An argument of [`check`](crate::layout_file::check).
#[derive(Clone, Debug)]
pub struct Layout {
    pub(super) schema: StoredSchema,
    pub(super) golden: Vec<Golden>,
    again: fn(EntityRef<'_>) -> Result<EntityKey>,
}

/// An encoded sample in a layout file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Golden {
    pub(super) partition_key: String,
    pub(super) row_key: String,
    pub(super) row: Vec<u8>,
}

impl Layout {
    /// Creates the layout of `E` with these samples. Choose edge cases as samples. Examples are zero, the largest number, text that contains a separator, and
    /// non-ASCII text.
    ///
    /// # Errors
    /// Any error from [`Entity::key_of`] or [`Entity::to_row`], if a sample cannot be stored.
    pub fn of<E: Entity>(samples: &[E]) -> Result<Self> {
        let golden = |sample: &E| {
            let key = sample.key_of()?;
            Ok(Golden {
                partition_key: key.partition_key.as_str().to_owned(),
                row_key: key.row_key.as_str().to_owned(),
                row: sample.to_row()?.as_bytes().to_vec(),
            })
        };
        Ok(Self {
            schema: StoredSchema::of(E::SCHEMA),
            golden: samples.iter().map(golden).collect::<Result<_>>()?,
            again: |entity| E::from_entity(entity)?.key_of(),
        })
    }

    /// Checks a golden row. Returns a description of the mismatch if the row cannot be read with the program's schema. Also returns one if the entity read from
    /// the row has a different key.
    pub(super) fn fault(&self, golden: &Golden) -> Option<String> {
        let Golden { partition_key, row_key, row } = golden;
        let row = Row::from_bytes(Arc::from(row.as_slice()));
        let why = match (self.again)(EntityRef::new(partition_key, row_key, row.view())) {
            Ok(key) if (key.partition_key.as_str(), key.row_key.as_str()) == (partition_key, row_key) => {
                return None;
            }
            Ok(key) => {
                format!(
                    "reads, but its key is now '{}' / '{}'",
                    key.partition_key.as_str(),
                    key.row_key.as_str()
                )
            }
            Err(error) => format!("cannot be read: {error}"),
        };
        Some(format!("the golden row '{partition_key}' / '{row_key}' {why}"))
    }
}

impl Golden {
    /// Returns the OData JSON of the sample, with each property on a separate line.
    pub(super) fn json(&self) -> Result<String> {
        let row = Row::from_bytes(Arc::from(self.row.as_slice()));
        let read = TableEntity::from_entity(EntityRef::new(&self.partition_key, &self.row_key, row.view()))?;
        // The decoded entity has a version, but a sample has none, so a new entity is created from the key.
        let mut entity = TableEntity::new(self.partition_key.as_str(), self.row_key.as_str())?;
        for (name, value) in read.iter() {
            entity.insert(name, value.clone());
        }
        serde_json::to_string_pretty(&entity).map_err(|error| Error::of(LayoutFileFault::Sample(error)))
    }
}
