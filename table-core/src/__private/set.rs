//! Runtime of sets and groups: checks of their members, and the type of a row.

use crate::entity::{Entity, FromEntity, Versioned};
use crate::error::{Error, Result};
use crate::mixed;
use crate::query::{EntityRef, Select};
use crate::row::RowWriter;
use crate::schema::{self, ENTITY_TYPE, EntitySchema, IndexSchema};
use crate::set::SetOf;
use crate::value::ValueRef;

use super::message::Message;

/// Refuses to compile a set or group whose members do not share a table or cannot be told apart (PAT-HET-1).
///
/// # Panics
/// While the declaration is compiled, if so.
pub const fn require_members(members: &[&EntitySchema], of: &str) {
    let mut right = 1;
    while right < members.len() {
        let mut left = 0;
        while left < right {
            require_pair(members[left], members[right], of);
            left += 1;
        }
        right += 1;
    }
}

const fn require_pair(left: &EntitySchema, right: &EntitySchema, of: &str) {
    // A declaration with mistakes has a design without keys: those are reported already.
    if left.row_key.is_empty() || right.row_key.is_empty() {
        return;
    }
    if !left.shares_table(right) {
        let message = both("[T104] `", left, right)
            .with("` live in different tables, `")
            .with(left.table)
            .with("` and `");
        let message = message.with(right.table).with("`: the types of `").with(of);
        let message =
            message.with("` share one, named by `#[entity(table = \"…\")]` of each; take the other one out");
        panic!("{}", message.as_str());
    }
    if !left.is_told_from(right) {
        let message = both("[T103] `", left, right).with("` cannot be told apart in `").with(of);
        let message = message.with("`: one key could be of either (PAT-HET-1). Begin their `row_key`s with ");
        let message = message.with("different texts, or store the kind: `#[entity(kind = \"");
        panic!("{}", message.with(right.entity).with("\")]`").as_str());
    }
}

const fn both(start: &str, left: &EntitySchema, right: &EntitySchema) -> Message {
    Message::new().with(start).with(left.entity).with("` and `").with(right.entity)
}

/// Refuses to compile a group whose members have other partitions than its first (PAT-CK-3).
///
/// # Panics
/// While the declaration is compiled, if so.
pub const fn require_one_partition(members: &[&EntitySchema], of: &str) {
    let mut at = 1;
    while at < members.len() {
        let (first, other) = (members[0], members[at]);
        let count = first.partition_key.len();
        if other.partition_key.len() != count
            || !schema::same(first.partition_key, other.partition_key, count)
        {
            let message = both("[T108] `", first, other);
            let message = message.with("` have different partition keys: the types of the group `").with(of);
            let message =
                message.with("` are read from one partition, so each has the same `partition_key` ");
            panic!("{}", message.with("pieces, written the same way").as_str());
        }
        at += 1;
    }
}

/// Refuses to compile a group with a member whose keys do not begin with the owner's (PAT-CK-1).
///
/// # Panics
/// While the declaration is compiled, if so.
pub const fn require_under(members: &[&EntitySchema], owner: &EntitySchema, of: &str) {
    if owner.row_key.is_empty() {
        return;
    }
    if !schema::begins(owner.row_key, owner.row_key) {
        let message = Message::new()
            .with("[T109] the row key of `")
            .with(owner.entity)
            .with("`, the owner of `")
            .with(of);
        let message =
            message.with("`, ends in a part of varying width: the range under one key would hold the ");
        let message =
            message.with("rows of others, as 'Al' begins 'Alfred'. End it in a text that the part cannot ");
        panic!("{}", message.with("hold, or remove `under`, and read the partition (PAT-CK-1)").as_str());
    }
    let mut at = 0;
    while at < members.len() {
        if !schema::begins(owner.row_key, members[at].row_key) {
            let message = Message::new().with("[T109] the row key of `").with(members[at].entity);
            let message = message.with("` does not begin with that of `").with(owner.entity);
            let message =
                message.with("`: each type of the group `").with(of).with("` repeats the pieces of its ");
            let message = message.with("owner's `row_key`, written the same way, and goes on from there ");
            let message = message.with("(PAT-CK-1). Or remove `under`, and read the partition");
            panic!("{}", message.as_str());
        }
        at += 1;
    }
}

/// The designs of the set that an entity names, once it is proven that no row of an index of its members can be a member (`BESIDE`).
///
/// # Panics
/// While the declaration is compiled, if one can.
#[must_use]
pub const fn beside<S: SetOf<E>, E: Entity>() -> &'static [&'static EntitySchema] {
    let members = S::MEMBERS;
    let mut at = 0;
    while at < E::SCHEMA.indexes.len() {
        let mut other = 0;
        while other < members.len() {
            require_apart(E::SCHEMA, &E::SCHEMA.indexes[at], members[other]);
            other += 1;
        }
        at += 1;
    }
    members
}

/// Refuses an index whose rows lie in the table of a member and could be taken for that member.
const fn require_apart(design: &EntitySchema, index: &IndexSchema, member: &EntitySchema) {
    let elsewhere = match index.table {
        Some(table) => !table.as_bytes().eq_ignore_ascii_case(member.table.as_bytes()),
        None => !design.shares_table(member),
    };
    let partition_key = match index.partition_key {
        Some(pieces) => pieces,
        None => design.partition_key,
    };
    let is_apart = elsewhere
        || member.row_key.is_empty()
        || schema::disjoint(index.row_key, member.row_key)
        || schema::disjoint(partition_key, member.partition_key);
    if !is_apart {
        let message = Message::new().with("[T103] a row of the index `").with(index.name).with("` of `");
        let message = message.with(design.entity).with("` could be taken for `").with(member.entity);
        let message = message.with("`, which its set has beside it (PAT-HET-1). Begin the `row_key` of the ");
        panic!("{}", message.with("index with another text").as_str());
    }
}

/// Whether a row that could not be read as an `E` is one that is declared beside it (`NOT_READ`).
///
/// # Errors
/// Those of [`FromEntity::read_own`].
#[cold]
pub fn not_read<E: Entity>(entity: EntityRef<'_>, error: Error) -> Result<()> {
    mixed::not_read::<E>(entity, error)
}

/// Reads a row as a projection of the entity `E`; `None` for one that is declared beside it (`read_own`).
///
/// # Errors
/// Those of [`FromEntity::read_own`].
pub fn read_own_as<E: Entity, P: FromEntity>(entity: EntityRef<'_>) -> Result<Option<Versioned<P>>> {
    mixed::read_own_as::<E, P>(entity)
}

/// Asks for the properties of a projection, not for those that keys tell, and for the kind by which its entity is known (`select`).
#[must_use]
pub fn select_of<E: Entity, const N: usize>(properties: [Option<&'static str>; N]) -> Select {
    let kind = E::SCHEMA.kind.map(|_| ENTITY_TYPE);
    Select::names(properties.into_iter().flatten().chain(kind))
}

/// Reads a row of a set or group, with its key in an error.
///
/// # Errors
/// Those of [`FromEntity::from_entity`].
pub fn read_member<T: FromEntity>(entity: EntityRef<'_>) -> Result<Versioned<T>> {
    Versioned::read(entity)
}

/// Writes the kind (`to_row`).
pub fn write_kind(kind: &str, row: &mut RowWriter) -> Result<()> {
    row.property(ENTITY_TYPE, ValueRef::String(kind));
    Ok(())
}
