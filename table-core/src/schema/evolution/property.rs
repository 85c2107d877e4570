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

/// Compares the properties of two schemas. `removed` are the properties that rows may contain although `old` does not declare them.
pub(super) fn changes(
    old: &StoredSchema,
    removed: &[StoredProperty],
    new: &StoredSchema,
    changes: &mut Vec<Change>,
) {
    let is_declared = |name: &str| old.properties.iter().any(|property| property.name == name);
    let kept = removed.iter().filter(|property| !is_declared(&property.name));
    let kept: BTreeMap<_, _> = kept.map(|property| (property.name.as_str(), property)).collect();
    let (old, removed, new) = (whole(&old.properties), whole(removed), whole(&new.properties));
    for name in old.keys().filter(|name| !new.contains_key(*name)) {
        changes.push(Change::new(&rules::REMOVED, format!("property `{name}` is removed")));
    }
    for (name, property) in &new {
        let was_chunked = old.get(name).or(removed.get(name)).is_some_and(|before| before.is_chunked);
        match (old.get(name), kept.get(name)) {
            (Some(before), _) => changed(before, property, changes),
            (None, Some(first)) => {
                let before = Whole { first, is_chunked: was_chunked };
                declared_again(&before, property, changes);
            }
            (None, None) => changes.push(added(property.first, "")),
        }
        let mut chunks = (1..MOST_CHUNKS).map(|at| chunk_name(name, at));
        if property.is_chunked
            && !was_chunked
            && let Some(chunk) = chunks.find(|chunk| kept.contains_key(chunk.as_str()))
        {
            let what = format!("property `{chunk}` was removed and becomes a chunk of `{name}`");
            changes.push(Change::new(&rules::RETYPED, what));
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

fn added(property: &StoredProperty, history: &str) -> Change {
    let StoredProperty { name, edm, optional } = property;
    if *optional {
        Change::new(&rules::OPTIONAL_ADDED, format!("property `{name}`{history}: {edm}, may be absent"))
    } else {
        Change::new(&rules::REQUIRED_ADDED, format!("property `{name}`{history}: {edm}"))
    }
}

/// Finds the changes of a property that was removed. Some rows may still contain it as it was before its removal, and others lack it.
fn declared_again(before: &Whole<'_>, after: &Whole<'_>, changes: &mut Vec<Change>) {
    let history = " was removed and is declared again";
    changes.push(added(after.first, history));
    changes.extend(retyped(before, after, history));
    if before.is_chunked && !after.is_chunked {
        changes.push(without_chunks(&after.first.name));
    }
}

fn retyped(before: &Whole<'_>, after: &Whole<'_>, history: &str) -> Option<Change> {
    let (name, old, new) = (&after.first.name, before.first.edm, after.first.edm);
    let rule = conversion(old, new);
    let is_widened = *rule == rules::WIDENED;
    (old != new).then(|| Change {
        rule,
        what: format!("property `{name}`{history}: {old} becomes {new}"),
        pending: is_widened.then(|| format!("property {name}")),
    })
}

fn without_chunks(name: &str) -> Change {
    Change::new(&rules::CHUNKS_REMOVED, format!("property `{name}` is no longer stored in chunks"))
}

fn changed(before: &Whole<'_>, after: &Whole<'_>, changes: &mut Vec<Change>) {
    let (old, new) = (before.first, after.first);
    let name = &new.name;
    changes.extend(retyped(before, after, ""));
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
        (true, false) => changes.push(without_chunks(name)),
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
