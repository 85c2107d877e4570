//! Compares the properties of two schemas.

use std::collections::BTreeMap;

use table_store::EdmType;

use crate::chunk_name::{MOST_CHUNKS, chunk_name};
use crate::schema::evolution::change::Change;
use crate::schema::evolution::rules::{self, Rule};
use crate::schema::stored::{StoredProperty, StoredSchema};

/// A property with all its chunks.
struct Whole<'a> {
    first: &'a StoredProperty,
    is_chunked: bool,
}

pub(super) fn changes(old: &StoredSchema, new: &StoredSchema, changes: &mut Vec<Change>) {
    let (old, new) = (whole(&old.properties), whole(&new.properties));
    for name in old.keys().filter(|name| !new.contains_key(*name)) {
        changes.push(Change::new(&rules::REMOVED, format!("property `{name}` is removed")));
    }
    for (name, property) in &new {
        match old.get(name) {
            None => changes.push(added(property.first)),
            Some(before) => changed(before, property, changes),
        }
    }
}

/// Returns the properties of a schema by their names. A stored schema lists each chunk of a value as a property: `Data`, `Data1` to `Data15`.
fn whole(properties: &[StoredProperty]) -> BTreeMap<&str, Whole<'_>> {
    let mut found: BTreeMap<_, _> =
        properties.iter().map(|first| (first.name.as_str(), Whole { first, is_chunked: false })).collect();
    for StoredProperty { name, edm, .. } in properties {
        let more = || (1..MOST_CHUNKS).map(|at| chunk_name(name, at));
        let is_chunk = |name: String| {
            found.get(name.as_str()).is_some_and(|chunk| chunk.first.optional && chunk.first.edm == *edm)
        };
        if more().all(is_chunk) {
            found.retain(|name, _| more().all(|chunk| chunk != *name));
            found.entry(name).and_modify(|whole| whole.is_chunked = true);
        }
    }
    found
}

fn added(property: &StoredProperty) -> Change {
    let StoredProperty { name, edm, optional } = property;
    if *optional {
        Change::new(&rules::OPTIONAL_ADDED, format!("property `{name}`: {edm}, may be absent"))
    } else {
        Change::new(&rules::REQUIRED_ADDED, format!("property `{name}`: {edm}"))
    }
}

fn changed(before: &Whole<'_>, after: &Whole<'_>, changes: &mut Vec<Change>) {
    let (old, new) = (before.first, after.first);
    let name = &new.name;
    if old.edm != new.edm {
        let what = format!("property `{name}`: {} becomes {}", old.edm, new.edm);
        let rule = conversion(old.edm, new.edm);
        let is_widened = *rule == rules::WIDENED;
        changes.push(Change { rule, what, pending: is_widened.then(|| format!("property {name}")) });
    }
    match (old.optional, new.optional) {
        (false, true) => {
            changes.push(Change::new(&rules::MADE_OPTIONAL, format!("property `{name}` may be absent")));
        }
        (true, false) => {
            changes.push(Change::new(&rules::MADE_REQUIRED, format!("property `{name}` becomes required")));
        }
        _ => {}
    }
    match (before.is_chunked, after.is_chunked) {
        (true, false) => {
            let what = format!("property `{name}` is no longer stored in chunks");
            changes.push(Change::new(&rules::CHUNKS_REMOVED, what));
        }
        (false, true) => {
            changes.push(Change::new(&rules::CHUNKS_ADDED, format!("property `{name}` is stored in chunks")));
        }
        _ => {}
    }
}

fn conversion(old: EdmType, new: EdmType) -> &'static Rule {
    use EdmType::{Double, Int32, Int64};
    match (old, new) {
        (Int32, Int64 | Double) => &rules::WIDENED,
        (Int32 | Int64 | Double, Int32 | Int64 | Double) => &rules::CONVERTED,
        _ => &rules::RETYPED,
    }
}
