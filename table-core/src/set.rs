//! Entity sets contain several entity types in one table, which keys or kinds distinguish (PAT-HET).

use table_store::{Result, ValueRef};

use crate::entity::{Declared, FromEntity};
use crate::query::EntityRef;
use crate::schema::{self, ENTITY_TYPE, EntitySchema, PropertySchema, REST};

/// An enum of entity types that share a table. Implemented by [`#[derive(EntitySet)]`](derive@crate::EntitySet).
///
/// Every row of the table can be read as a value of the set. A row that belongs to no member is read as a [`TableEntity`](crate::TableEntity) (PAT-HET-6). To
/// write values of the set, use [`TableStoreExt::set`](crate::TableStoreExt::set).
///
/// ```
/// use table_core::set::{EntitySet, SetOf};
///
/// /// Returns the members' names of a set that contains `E`.
/// fn members<E, S: SetOf<E>>() -> Vec<&'static str> {
///     S::MEMBERS.iter().map(|member| member.entity).collect()
/// }
/// # fn names<E, S: SetOf<E> + EntitySet>() -> Vec<&'static str> { members::<E, S>() }
/// ```
#[diagnostic::on_unimplemented(
    message = "[T250] `{Self}` is not an entity set",
    label = "expected an enum with `#[derive(EntitySet)]`",
    note = "a table of one entity type is opened by `store.table::<{Self}>()`, or by `store.entities::<{Self}>()` of `table_patterns`",
    note = "a set of several types has a variant for each, and one for other rows: `enum Rows {{ Employee(Employee), #[other] Other(TableEntity) }}`"
)]
pub trait EntitySet: FromEntity + Declared {
    /// The schemas of the members, in declaration order.
    const MEMBERS: &'static [&'static EntitySchema];
}

/// A set with the member `E`. Selections of `E` can be read as values of this set.
#[diagnostic::on_unimplemented(
    message = "[T106] `{E}` is not a member of the set `{Self}`",
    label = "add a variant that contains a `{E}` to this set, or name another set",
    note = "a set is an enum with `#[derive(EntitySet)]`, one variant for each member, and `#[other] Other(TableEntity)`"
)]
pub trait SetOf<E>: EntitySet {}

/// Returns `true` if a stored entity belongs to the type with this schema. Its keys must match, and its `EntityType` must equal the schema's kind.
///
/// An entity whose `EntityType` differs from the schema's kind belongs to another type, or to a later version of this type.
///
/// If the schema has no kind, an entity with an `EntityType` normally belongs to another type. It belongs to this one only if the schema declares this property
/// or collects it in a `rest` field.
///
/// # Errors
/// `Corrupted` if the bytes are not a row.
pub fn is_of(design: &EntitySchema, entity: EntityRef<'_>) -> Result<bool> {
    if !schema::fits(design.row_key, entity.row_key)
        || !schema::fits(design.partition_key, entity.partition_key)
    {
        return Ok(false);
    }
    let stored = entity.row.find(ENTITY_TYPE, &mut 0)?;
    Ok(match (design.kind, stored) {
        (Some(kind), Some(ValueRef::String(stored))) => kind == stored,
        (Some(_), _) => false,
        (None, None) => true,
        (None, Some(_)) => design.has_types(),
    })
}

impl EntitySchema {
    /// Returns `true` if a property with this name is declared.
    #[must_use]
    pub const fn declares(&self, name: &str) -> bool {
        let mut at = 0;
        while at < self.properties.len() {
            if schema::is_same_text(self.properties[at].name, name) {
                return true;
            }
            at += 1;
        }
        false
    }

    /// Returns `true` if rows of this type may contain an `EntityType` other than the schema's kind. This is the case if `EntityType` is declared as a property
    /// or collected in a `rest` field.
    const fn has_types(&self) -> bool {
        let (mut has_rest, mut at) = (false, 0);
        while at < self.keeps.len() {
            has_rest = has_rest || schema::is_same_text(self.keeps[at], REST);
            at += 1;
        }
        has_rest || self.declares(ENTITY_TYPE)
    }

    /// Returns `true` if a field is stored in chunks. All chunks after the first follow the other properties, so only the last property is checked.
    #[must_use]
    pub(crate) fn has_chunks(&self) -> bool {
        let is_more = |(last, others): (&PropertySchema, &[PropertySchema])| {
            others.iter().any(|other| other.field == last.field)
        };
        self.properties.split_last().is_some_and(is_more)
    }

    /// Returns `true` if `other` is stored in the same table (TBL-2).
    #[must_use]
    pub(crate) const fn shares_table(&self, other: &Self) -> bool {
        self.table.as_bytes().eq_ignore_ascii_case(other.table.as_bytes())
    }

    /// Returns `true` if no row can belong to both types. Either their kinds differ, or no key matches both.
    #[must_use]
    pub(crate) const fn is_told_from(&self, other: &Self) -> bool {
        let by_kind = match (self.kind, other.kind) {
            (Some(kind), Some(other)) => !schema::is_same_text(kind, other),
            (Some(_), None) => !other.has_types(),
            (None, Some(_)) => !self.has_types(),
            (None, None) => false,
        };
        by_kind
            || schema::disjoint(self.row_key, other.row_key)
            || schema::disjoint(self.partition_key, other.partition_key)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use pollster::block_on;

    use crate::embedded::Engine;
    use crate::schema::StoredSchema;
    use crate::{Entity, EntitySet, Projection, TableEntity, TableStoreExt, Value};

    #[derive(Entity, Clone, Debug, PartialEq)]
    #[entity(table = "Hosts", set = Hosts)]
    #[partition_key(rack)]
    #[row_key("host_", id)]
    struct Host {
        rack: String,
        #[digits(3)]
        id: u32,
        status: String,
        #[property(rest)]
        rest: BTreeMap<String, Value>,
    }

    #[derive(EntitySet, Debug)]
    enum Hosts {
        Host(Host),
        #[other]
        Other(TableEntity),
    }

    #[derive(Projection, Debug, PartialEq)]
    #[projection(of = Host)]
    struct Status {
        status: String,
    }

    #[test]
    fn a_row_with_an_entity_type_belongs_to_a_type_whose_rest_collects_it() {
        block_on(async {
            let store = Engine::in_memory();
            let hosts = store.table::<Host>().create_if_missing().await.unwrap();
            let bag = TableEntity::new("r", "host_001").unwrap();
            let bag = bag.with("EntityType", "Machine").with("Status", "up");
            store.untyped("Hosts").unwrap().insert(&bag).await.unwrap();
            let host = hosts.get(Host::key("r", 1_u32)).await.unwrap().unwrap().into_value();
            assert_eq!(host.rest.get("EntityType"), Some(&Value::from("Machine")));
            let query = || hosts.query(Host::partition("r"));
            assert_eq!(query().collect().await.unwrap(), std::slice::from_ref(&host));
            let read = query().read_as::<Hosts>().collect().await.unwrap();
            assert!(matches!(&read[0], Hosts::Host(found) if *found == host), "{read:?}");
            let read = query().project::<Status>().collect().await.unwrap();
            assert_eq!(read, [Status { status: "up".to_owned() }]);
            // The word `rest` in `keeps` is not stored, so the stored schema is the same as in earlier releases.
            assert!(StoredSchema::of(Host::SCHEMA).keeps.is_empty());
        });
    }
}
