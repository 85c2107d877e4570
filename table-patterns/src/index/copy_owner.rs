//! Distinguishes copies of an index from other rows at the same keys, such as entities of another type.

use table_core::Result;
use table_core::entity::Entity;
use table_core::key::EntityKey;
use table_core::row::{Row, RowView};
use table_core::schema::{ENTITY_TYPE, EntitySchema, IndexSchema, UNCLAIMED};
use table_core::store::TableStore;

use crate::entities::{Entities, read_as};
use crate::index::changes::owner_of;

impl<E: Entity, S: TableStore, O> Entities<E, S, O> {
    /// Returns the key of a copy's owner. Returns `None` if the row is not a copy of the index.
    ///
    /// The key of the row does not prove that it is a copy, because entities of another type can have keys of the same form.
    ///
    /// # Errors
    /// `SchemaMismatch` if this program must not write; any error from the store.
    pub(crate) async fn copy_owner(
        &self,
        index: &IndexSchema,
        key: &EntityKey,
        row: &Row,
    ) -> Result<Option<EntityKey>> {
        let Some(owner) = owner_of::<E>(index, key, row) else { return Ok(None) };
        if !is_foreign(E::SCHEMA, index, row.view(), &[]) {
            return Ok(Some(owner));
        }
        // IMPORTANT: the schema is read after the row, because the row may have properties that only another release declares.
        self.table.newer_properties(self.retry.runtime()).await?;
        let others = self.table.schema_watch().other_properties();
        Ok((!is_foreign(E::SCHEMA, index, row.view(), &others)).then_some(owner))
    }
}

/// Returns `true` if a row at a key of the index can be read as an entity. An older release may have stored the entity there. A repair keeps entities, but
/// replaces or deletes all other rows that are not copies.
pub(crate) fn is_entity<E: Entity>(schema: &IndexSchema, key: &EntityKey, row: &Row) -> bool {
    let is_in_table = schema.table.is_none_or(|table| table.eq_ignore_ascii_case(E::SCHEMA.table));
    is_in_table && read_as::<E>(key, row).is_ok()
}

/// Returns `true` if the properties of a row prove that it is not a copy of the index. `others` lists the properties that other releases declare.
///
/// A copy of another release may lack a property. A program that never stored its schema may have written a copy with an unknown property. Therefore, a row
/// counts as foreign only if it has an unknown property, and also lacks a required property or has no known property. A row with an `EntityType` is not a copy.
/// An unreadable property proves nothing.
pub(crate) fn is_foreign(
    entity: &EntitySchema,
    index: &IndexSchema,
    row: RowView<'_>,
    others: &[String],
) -> bool {
    has_foreign_properties(entity, index, row, others).unwrap_or(false)
}

fn has_foreign_properties(
    entity: &EntitySchema,
    index: &IndexSchema,
    row: RowView<'_>,
    others: &[String],
) -> Result<bool> {
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
        let is_known = name == UNCLAIMED || is_of_copy || entity.declares(name);
        if is_known || others.iter().any(|other| other == name) {
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
