//! Distinguishes the copies of an index from other rows at the same keys, such as entities of another type.

use table_core::Result;
use table_core::entity::Entity;
use table_core::key::EntityKey;
use table_core::row::{Row, RowView};
use table_core::schema::{ENTITY_TYPE, EntitySchema, IndexSchema, UNCLAIMED};

use crate::entities::read_as;
use crate::index::changes::owner_of;

/// Returns the key of the entity that a copy belongs to; `None` if the row is not a copy of the index.
///
/// The key alone does not decide this: the key of a copy can contain the whole key of its entity, and another type can have entities under keys of this form.
pub(crate) fn copy_owner<E: Entity>(schema: &IndexSchema, key: &EntityKey, row: &Row) -> Option<EntityKey> {
    let owner = owner_of::<E>(schema, key, row)?;
    // An unreadable property does not prove that the row belongs to another type.
    let is_foreign = is_foreign(E::SCHEMA, schema, row.view()).unwrap_or(false);
    (!is_foreign).then_some(owner)
}

/// Returns `true` if a row at a key of the index is not a copy, and can be read as an entity. An older release may have stored it in a partition of the index.
/// A repair, which replaces or deletes all other rows that are not copies, keeps it.
pub(crate) fn is_entity<E: Entity>(schema: &IndexSchema, key: &EntityKey, row: &Row) -> bool {
    let is_in_table = schema.table.is_none_or(|table| table.eq_ignore_ascii_case(E::SCHEMA.table));
    is_in_table && copy_owner::<E>(schema, key, row).is_none() && read_as::<E>(key, row).is_ok()
}

/// Returns `true` if the properties of a row prove that it is not a copy of the index.
///
/// Copies of other releases may lack a property or have one that this program does not know. A row is therefore foreign only if it has unknown properties and, in
/// addition, lacks a required property or has no known property. A copy has no `EntityType`.
fn is_foreign(entity: &EntitySchema, index: &IndexSchema, row: RowView<'_>) -> Result<bool> {
    if entity.keeps.contains(&"rest") {
        return Ok(false);
    }
    let (mut known, mut unknown) = (0, 0);
    for property in row.properties() {
        let name = property?.name;
        let is_of_copy = index.properties.iter().any(|property| property.name == name);
        if name == ENTITY_TYPE && !is_of_copy {
            return Ok(true);
        }
        if name == UNCLAIMED || is_of_copy || entity.declares(name) {
            known += 1;
        } else {
            unknown += 1;
        }
    }
    let mut lacks_required = false;
    for property in index.properties.iter().filter(|property| !property.optional) {
        lacks_required |= row.find(property.name, &mut 0)?.is_none();
    }
    Ok(unknown > 0 && (known == 0 || lacks_required))
}
