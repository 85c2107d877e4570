//! Compile-time checks of a wide entity's parts.

use table_core::entity::Entity;
use table_core::limits;
use table_core::schema::{ENTITY_TYPE, EntitySchema};

use crate::series::{is_same, is_sorted};
use crate::wide::{MOST_PARTS, WRITE_ID, Wide};

/// Checks at compile time that a wide entity's parts can be stored.
pub(super) const fn check_parts<W: Wide>() {
    assert!(!W::PARTS.is_empty() && W::PARTS.len() <= MOST_PARTS, "a wide entity has 1 to 99 parts (EGT-2)");
    assert!(
        W::Header::INDEXES.is_empty() && !W::Header::FEED && W::Header::RELATIONS.is_none(),
        "the header of a wide entity declares no index, feed or copies, as it is in several rows: declare them on a separate entity, and write \
         both in one unit, by `put_wide` (PAT-WIDE-1)"
    );
    let header = W::Header::SCHEMA;
    let mut parts = W::PARTS;
    let mut own = header.properties.len() + if header.kind.is_some() { 1 } else { 0 };
    while let [part, rest @ ..] = parts {
        assert!(part.len() + own < limits::PROPERTIES, "a part has at most 251 properties (PAT-WIDE-1)");
        own = 0;
        parts = rest;
    }
    if !W::ARE_NAMES_CHECKED {
        check_names(W::PARTS, header);
    }
}

/// Checks at compile time that no property name occurs twice in the parts and the header, and that no name is reserved.
pub(super) const fn check_names(parts: &[&[&str]], header: &EntitySchema) {
    assert!(!is_in_parts(WRITE_ID, parts), "`WriteId` is the pattern's own property");
    assert!(
        header.kind.is_none() || !is_in_parts(ENTITY_TYPE, parts),
        "`EntityType` is a property of the header"
    );
    let mut own = header.properties;
    while let [property, rest @ ..] = own {
        assert!(!is_same(property.name, WRITE_ID), "`WriteId` is the pattern's own property");
        assert!(
            !is_in_parts(property.name, parts),
            "a property of a wide entity has the name of a property of its header"
        );
        own = rest;
    }
    let are_sorted = are_sorted(parts);
    let mut parts = parts;
    while let [part, rest @ ..] = parts {
        let mut others = rest;
        while let [other, more @ ..] = others {
            assert!(
                are_sorted && are_apart(part, other) || !share_name(part, other),
                "two properties of a wide entity have one name"
            );
            others = more;
        }
        let mut names = *part;
        while let [name, after @ ..] = names {
            assert!(are_sorted || !occurs(name, after), "two properties of a wide entity have one name");
            names = after;
        }
        parts = rest;
    }
}

/// Returns `true` if the names in each part are in strictly ascending order, like generated slot names.
const fn are_sorted(parts: &[&[&str]]) -> bool {
    let mut parts = parts;
    while let [part, rest @ ..] = parts {
        if !is_sorted(part) {
            return false;
        }
        parts = rest;
    }
    true
}

/// Returns `true` if all names in one of two sorted parts precede all names in the other.
const fn are_apart(left: &[&str], right: &[&str]) -> bool {
    match (left.first(), left.last(), right.first(), right.last()) {
        (Some(first), Some(last), Some(other), Some(other_last)) => {
            is_sorted(&[last, other]) || is_sorted(&[other_last, first])
        }
        _ => true,
    }
}

const fn share_name(names: &[&str], others: &[&str]) -> bool {
    let mut names = names;
    while let [name, rest @ ..] = names {
        if occurs(name, others) {
            return true;
        }
        names = rest;
    }
    false
}

const fn is_in_parts(name: &str, parts: &[&[&str]]) -> bool {
    let mut parts = parts;
    while let [part, rest @ ..] = parts {
        if occurs(name, part) {
            return true;
        }
        parts = rest;
    }
    false
}

const fn occurs(name: &str, names: &[&str]) -> bool {
    let mut names = names;
    while let [other, more @ ..] = names {
        if is_same(name, other) {
            return true;
        }
        names = more;
    }
    false
}
