//! The properties of a registered entity type that depend on no handle: its schema, and the rows that belong to it.

use table_core::entity::Entity;
use table_core::index::{IndexEntry, IndexOf};
use table_core::key::{EntityKey, PartitionKey};
use table_core::mixed::{RowOwner, classify_index_row, classify_key, classify_row};
use table_core::query::EntityRef;
use table_core::row::Row;
use table_core::schema::EntitySchema;
use table_core::selection::index_that_hides;
use table_core::{Error, Result};

use crate::entities::read_as;
use crate::tenant::fault::TenantFault;

/// A registration of one entity type.
pub(super) trait OfType {
    /// The entity type.
    type Entity: Entity;
}

/// The properties of a registered entity type. Every registration of one type has them.
pub(super) trait TypeInfo {
    /// Returns the schema of this type.
    fn schema(&self) -> &'static EntitySchema;

    /// Returns the schemas of all types in this type's entity set (the types declared to share its table).
    fn others(&self) -> &'static [&'static EntitySchema];

    /// Returns `true` if a row is an entity of this type.
    fn owns(&self, row: EntityRef<'_>) -> bool;

    /// Returns `true` if the key has this type's key format.
    fn owns_key(&self, key: &EntityKey) -> bool;

    /// Returns `true` if the row belongs to an index of this type in the entities' own partition.
    fn has_index_row(&self, row: EntityRef<'_>) -> bool;

    /// Checks that an entity may be imported under the PartitionKey `to`. This is the case if neither the entity nor its index rows in the same partition
    /// contain the old PartitionKey as a value.
    ///
    /// # Errors
    /// `InvalidInput` if the entity cannot be stored under another PartitionKey without other changes.
    fn check_moved(&self, key: &EntityKey, row: &Row, to: &PartitionKey) -> Result<()>;
}

impl<M: OfType> TypeInfo for M {
    fn schema(&self) -> &'static EntitySchema {
        M::Entity::SCHEMA
    }

    fn others(&self) -> &'static [&'static EntitySchema] {
        M::Entity::SET_SCHEMAS
    }

    fn owns(&self, row: EntityRef<'_>) -> bool {
        is_visible::<M::Entity>(row.partition_key)
            && matches!(classify_row::<M::Entity>(row), Ok(RowOwner::Own))
    }

    fn owns_key(&self, key: &EntityKey) -> bool {
        let partition_key = key.partition_key.as_str();
        is_visible::<M::Entity>(partition_key)
            && matches!(classify_key::<M::Entity>(partition_key, key.row_key.as_str()), Ok(RowOwner::Own))
    }

    fn has_index_row(&self, row: EntityRef<'_>) -> bool {
        let mut indexes =
            M::Entity::INDEXES.iter().map(IndexOf::schema).filter(|index| index.is_same_partition());
        indexes.any(|index| matches!(classify_index_row::<M::Entity>(index, row), Ok(RowOwner::Own)))
    }

    fn check_moved(&self, key: &EntityKey, row: &Row, to: &PartitionKey) -> Result<()> {
        check_moved::<M::Entity>(key, row, to)
    }
}

/// Returns `false` if the partition belongs to an index of `E` and its rows could decode as entities. Scans skip such a partition, and no entity can be
/// inserted into it.
fn is_visible<E: Entity>(partition_key: &str) -> bool {
    index_that_hides(E::SCHEMA, partition_key).is_none()
}

fn check_moved<E: Entity>(key: &EntityKey, row: &Row, to: &PartitionKey) -> Result<()> {
    let moved = EntityKey { partition_key: to.clone(), row_key: key.row_key.clone() };
    let bound = |name: &str| {
        let error = Error::of(TenantFault::Bound(name.to_owned())).with_table(E::SCHEMA.table);
        error.with_key(key.partition_key.as_str(), key.row_key.as_str())
    };
    let (old, new) =
        (read_as::<E>(key, row)?, read_as::<E>(&moved, row).map_err(|_| bound(E::SCHEMA.entity))?);
    if new.key_of()? != moved || new.to_row()? != old.to_row()? {
        return Err(bound(E::SCHEMA.entity));
    }
    for index in E::INDEXES.iter().filter(|index| index.schema().is_same_partition()) {
        let entry = |entity: &E| {
            let entry = index.entry(entity)?;
            Ok::<_, Error>(entry.map(|IndexEntry { key, row }| (key.row_key, row)))
        };
        if entry(&old)? != entry(&new)? {
            return Err(bound(index.schema().name));
        }
    }
    Ok(())
}
