//! Entity sets: several entity types of one table, distinguished by key or by kind (PAT-HET).

use crate::entity::{Declared, FromEntity};
use crate::error::Result;
use crate::query::EntityRef;
use crate::schema::{self, ENTITY_TYPE, EntitySchema, PropertySchema};
use crate::value::ValueRef;

/// A sum type of the entities of one table. Made by [`#[derive(EntitySet)]`](derive@crate::EntitySet).
///
/// Every row of the table can be read as it: one that is of no member is kept as a bag (PAT-HET-6). Its values are written, too, each as
/// its member: [`TableStoreExt::set`](crate::TableStoreExt::set).
///
/// ```
/// use table_core::set::{EntitySet, SetOf};
///
/// /// The names of the members of a set that has `E` among them.
/// fn members<E, S: SetOf<E>>() -> Vec<&'static str> {
///     S::MEMBERS.iter().map(|member| member.entity).collect()
/// }
/// # fn names<E, S: SetOf<E> + EntitySet>() -> Vec<&'static str> { members::<E, S>() }
/// ```
pub trait EntitySet: FromEntity + Declared {
    /// The designs of its members, in declaration order.
    const MEMBERS: &'static [&'static EntitySchema];
}

/// Sets that have the entity `E` among their members, so that selections of `E` can be read as them.
#[diagnostic::on_unimplemented(
    message = "[T106] `{E}` is not a member of the set `{Self}`",
    label = "a set that has `{E}` among its variants is expected here",
    note = "a set is an enum with `#[derive(EntitySet)]`, one variant a member: `Employee(Employee)`"
)]
pub trait SetOf<E>: EntitySet {}

/// Whether a stored entity is of a design: its keys fit, and its `EntityType` is the design's kind.
///
/// An entity with an `EntityType` that the design does not know of is of another type, or of a later version of this one.
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
        (None, Some(_)) => design.declares(ENTITY_TYPE),
    })
}

impl EntitySchema {
    /// Whether a property of this name is declared.
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

    /// Whether a field is stored in several properties: the later chunks stand last.
    #[must_use]
    pub(crate) fn has_chunks(&self) -> bool {
        let is_more = |(last, others): (&PropertySchema, &[PropertySchema])| {
            others.iter().any(|other| other.field == last.field)
        };
        self.properties.split_last().is_some_and(is_more)
    }

    /// Whether the other type lives in the same table (TBL-2).
    #[must_use]
    pub(crate) const fn shares_table(&self, other: &Self) -> bool {
        self.table.as_bytes().eq_ignore_ascii_case(other.table.as_bytes())
    }

    /// Whether it is certain that no row is of both types: their kinds differ, or their keys do.
    #[must_use]
    pub(crate) const fn is_told_from(&self, other: &Self) -> bool {
        let by_kind = match (self.kind, other.kind) {
            (Some(kind), Some(other)) => !schema::is_same_text(kind, other),
            (Some(_), None) => !other.declares(ENTITY_TYPE),
            (None, Some(_)) => !self.declares(ENTITY_TYPE),
            (None, None) => false,
        };
        by_kind
            || schema::disjoint(self.row_key, other.row_key)
            || schema::disjoint(self.partition_key, other.partition_key)
    }
}
