//! Support for generated entity sets and groups. This module checks their members and classifies rows.

mod rows;

use table_store::{Error, Result, ValueRef};

use crate::entity::{Entity, FromEntity, Versioned};
use crate::mixed;
use crate::query::{EntityRef, Select};
use crate::row::RowWriter;
use crate::schema::{self, ENTITY_TYPE, EntitySchema};
use crate::set::SetOf;

use super::message::Message;

/// Fails if the members of a set or group are in different tables, or if two of them have the same schema name. Also fails if their rows, or the rows of their
/// indexes, cannot be distinguished (PAT-HET-1).
///
/// `current[n]` is the index in `members` of the current version of member `n`'s type. If no member is a version of another, the slice is empty. Versions of
/// one type may share an entity index.
///
/// # Panics
/// Panics at compile time if the members do not form a set or group.
pub const fn require_members(members: &[&EntitySchema], current: &[usize], of: &str) {
    let mut right = 1;
    while right < members.len() {
        let mut left = 0;
        while left < right {
            let (one, other) = (members[left], members[right]);
            // An invalid declaration has a schema without keys. The derive on the member reports its errors.
            if !one.row_key.is_empty() && !other.row_key.is_empty() {
                require_pair(one, other, of);
                if current.is_empty() || current[left] != current[right] {
                    rows::require_apart(one, other);
                }
            }
            left += 1;
        }
        right += 1;
    }
}

const fn require_pair(left: &EntitySchema, right: &EntitySchema, of: &str) {
    if !left.shares_table(right) {
        let message = both("[T104] `", left, right)
            .with("` are in different tables, `")
            .with(left.table)
            .with("` and `");
        let message = message.with(right.table).with("`; all types of `").with(of);
        let message = message
            .with("` are in one table; write `#[entity(table = \"")
            .with(left.table)
            .with("\")]` above `")
            .with(right.entity)
            .with("`, or remove it");
        panic!("{}", message.as_str());
    }
    if !left.is_told_from(right) {
        let message = both("[T103] `", left, right).with("` cannot be distinguished in `").with(of);
        let message =
            message.with("`: a key could belong to either (PAT-HET-1). Start their `row_key`s with ");
        let message = message.with("different literals, or store the kind: `#[entity(kind = \"");
        panic!("{}", message.with(right.entity).with("\")]`").as_str());
    }
    if schema::is_same_text(left.entity, right.entity) {
        let message = Message::new().with("[T263] two types of `").with(of).with("` have the schema name `");
        let message = message.with(left.entity).with("`, but the table `").with(left.table);
        let message = message.with("` stores one schema under each name; store them under two names: write ");
        panic!("{}", message.with("`#[entity(schema_name = \"…\")]` above one of them").as_str());
    }
}

const fn both(start: &str, left: &EntitySchema, right: &EntitySchema) -> Message {
    Message::new().with(start).with(left.entity).with("` and `").with(right.entity)
}

/// Fails if a group has a member whose partitions differ from those of the first member (PAT-CK-3).
///
/// # Panics
/// Panics at compile time if a member has a different partition key.
pub const fn require_one_partition(members: &[&EntitySchema], of: &str) {
    let mut at = 1;
    while at < members.len() {
        let (first, other) = (members[0], members[at]);
        let count = first.partition_key.len();
        if other.partition_key.len() != count
            || !schema::same(first.partition_key, other.partition_key, count)
        {
            let message = both("[T108] `", first, other);
            let message = message.with("` have different partition keys; all types of the group `").with(of);
            let message =
                message.with("` are read from one partition, so their `partition_key`s must have the same ");
            panic!("{}", message.with("pieces, written the same way").as_str());
        }
        at += 1;
    }
}

/// Fails if the keys of a member do not start with the keys of the group's owner, which is the entity named by `under` (PAT-CK-1).
///
/// # Panics
/// Panics at compile time if a member's keys do not start with the owner's keys, or if one owner's row key can be a prefix of another's.
pub const fn require_under(members: &[&EntitySchema], owner: &EntitySchema, of: &str) {
    if owner.row_key.is_empty() {
        return;
    }
    if has_open_end(owner) {
        let message = Message::new()
            .with("[T109] the row key of `")
            .with(owner.entity)
            .with("`, the owner of `")
            .with(of);
        let message =
            message.with("`, ends in a part of variable width, so the range under one key would contain ");
        let message = message.with(
            "rows of others, as 'Al' is a prefix of 'Alfred'. End it with a literal that the part cannot ",
        );
        panic!("{}", message.with("contain, or remove `under`, and read the partition (PAT-CK-1)").as_str());
    }
    let mut at = 0;
    while at < members.len() {
        if !schema::begins(owner.row_key, members[at].row_key) {
            let message = Message::new().with("[T109] the row key of `").with(members[at].entity);
            let message = message.with("` does not start with that of `").with(owner.entity);
            let message =
                message.with("`; each type of the group `").with(of).with("` repeats the pieces of its ");
            let message = message.with("owner's `row_key` and appends its own ");
            let message = message.with("(PAT-CK-1). Or remove `under`, and read the partition");
            panic!("{}", message.as_str());
        }
        at += 1;
    }
}

/// Returns `true` if one `owner` entity's `RowKey` can be a prefix of another's.
const fn has_open_end(owner: &EntitySchema) -> bool {
    !schema::begins(owner.row_key, owner.row_key)
}

/// Fails if the row key of an entity with parts can be a prefix of another entity's row key (PAT-CK-1). For parts, see `table_patterns::relation`.
///
/// # Panics
/// Panics at compile time if one entity's row key can be a prefix of another's.
pub const fn require_owner(owner: &EntitySchema) {
    if has_open_end(owner) {
        let message = Message::new().with("[T109] the row key of `").with(owner.entity);
        let message =
            message.with("` ends in a part of variable width, so the parts of one entity would include ");
        let message =
            message.with("rows of others, as 'Al' is a prefix of 'Alfred'. End it with a literal that ");
        panic!(
            "{}",
            message.with("the part cannot contain, or with a part of fixed width (PAT-CK-1)").as_str()
        );
    }
}

/// Returns the schemas of an entity's set, for the constant `SET_SCHEMAS`. Fails if a member's index row could also be read as a member of the set.
///
/// # Panics
/// Panics at compile time if a member's index row could also be read as a member of the set.
#[must_use]
pub const fn set_schemas<S: SetOf<E>, E: Entity>() -> &'static [&'static EntitySchema] {
    let members = S::MEMBERS;
    let mut at = 0;
    while at < E::SCHEMA.indexes.len() {
        let mut other = 0;
        while other < members.len() {
            rows::require_no_entity(E::SCHEMA, &E::SCHEMA.indexes[at], members[other]);
            other += 1;
        }
        at += 1;
    }
    members
}

/// Classifies a row that could not be read as an `E`. Returns `Ok` if the row belongs to another declared type (`NOT_READ`).
///
/// # Errors
/// Any error from [`FromEntity::read_own`].
#[cold]
pub fn not_read<E: Entity>(entity: EntityRef<'_>, error: Error) -> Result<()> {
    mixed::not_read::<E>(entity, error)
}

/// Reads a row as a projection of the entity `E`. Returns `None` for a row of another declared type (`read_own`).
///
/// # Errors
/// Any error from [`FromEntity::read_own`].
pub fn read_own_as<E: Entity, P: FromEntity>(entity: EntityRef<'_>) -> Result<Option<Versioned<P>>> {
    mixed::read_own_as::<E, P>(entity)
}

/// Returns the properties read by a projection, without key fields (`select`).
///
/// If a stored kind distinguishes the entity's type from others, the property that stores the kind is included. It is also included for a set member without a
/// kind, which is recognised by the absence of that property, unless the member declares the property itself.
#[must_use]
pub fn select_of<E: Entity, const N: usize>(properties: [Option<&'static str>; N]) -> Select {
    let is_without_kind = !E::SET_SCHEMAS.is_empty() && !E::SCHEMA.declares(ENTITY_TYPE);
    let kind = (E::SCHEMA.kind.is_some() || is_without_kind).then_some(ENTITY_TYPE);
    Select::names(properties.into_iter().flatten().chain(kind))
}

/// Reads a row of a set or group. Adds the row's key to an error.
///
/// # Errors
/// Any error from [`FromEntity::from_entity`].
pub fn read_member<T: FromEntity>(entity: EntityRef<'_>) -> Result<Versioned<T>> {
    Versioned::read(entity)
}

/// Writes the kind of an entity into its row, for the generated `to_row`.
pub fn write_kind(kind: &str, row: &mut RowWriter) -> Result<()> {
    row.property(ENTITY_TYPE, ValueRef::String(kind));
    Ok(())
}
