//! Compares the properties of two schemas.

use std::collections::{BTreeMap, BTreeSet};

use table_store::EdmType;

use crate::chunk_name::{MOST_CHUNKS, chunk_name};
use crate::schema::evolution::change::Change;
use crate::schema::evolution::rules::{self, Rule};
use crate::schema::stored::{StoredProperty, StoredSchema};

/// A property and, if its value is stored in chunks, all of its chunks.
struct Whole<'a> {
    first: &'a StoredProperty,
    is_chunked: bool,
}

/// The properties of a schema. A stored schema lists each chunk of a value as a separate property, such as `Data` and `Data1` to `Data15`.
struct Properties<'a> {
    wholes: BTreeMap<&'a str, Whole<'a>>,
    /// The name of the whole property for each stored name. For example, it is `Data` for `Data`, `Data1` and so on.
    owners: BTreeMap<&'a str, &'a str>,
}

impl<'a> Properties<'a> {
    fn of(stored: &'a [StoredProperty]) -> Self {
        let whole = |first: &'a StoredProperty| (first.name.as_str(), Whole { first, is_chunked: false });
        let mut wholes: BTreeMap<_, _> = stored.iter().map(whole).collect();
        let mut owners: BTreeMap<_, _> = wholes.keys().map(|name| (*name, *name)).collect();
        for StoredProperty { name, edm, .. } in stored {
            let more: Vec<_> = (1..MOST_CHUNKS).map(|at| chunk_name(name, at)).collect();
            let is_chunk = |name: &String| {
                wholes.get(name.as_str()).is_some_and(|chunk| chunk.first.optional && chunk.first.edm == *edm)
            };
            if more.iter().all(is_chunk) {
                for chunk in &more {
                    wholes.remove(chunk.as_str());
                    if let Some(owner) = owners.get_mut(chunk.as_str()) {
                        *owner = name;
                    }
                }
                wholes.entry(name).and_modify(|whole| whole.is_chunked = true);
            }
        }
        Self { wholes, owners }
    }
}

/// Compares the properties of two schemas. `removed` contains the properties that `old` no longer declares but that rows may still contain.
pub(super) fn changes(
    old: &StoredSchema,
    removed: &[StoredProperty],
    new: &StoredSchema,
    changes: &mut Vec<Change>,
) {
    let (old, removed) = (Properties::of(&old.properties), Properties::of(removed));
    let new = Properties::of(&new.properties);
    for name in old.wholes.keys().filter(|name| !new.wholes.contains_key(*name)) {
        changes.push(Change::new(&rules::REMOVED, format!("property `{name}` is removed")));
    }
    for (name, property) in &new.wholes {
        match (old.wholes.get(name), removed.wholes.get(name)) {
            (Some(before), _) => changed(before, property, changes),
            (None, Some(before)) => declared_again(before, property, changes),
            (None, None) => changes.push(added(property.first, "")),
        }
    }
    moved(&old, &new, "", changes);
    moved(&removed, &new, " was removed and", changes);
}

/// Finds the stored names that belong to different properties in the old and the new schema. A value under one of these names would be read as part of another
/// value.
fn moved(before: &Properties<'_>, after: &Properties<'_>, history: &str, changes: &mut Vec<Change>) {
    let mut found = BTreeSet::new();
    for (name, owner) in &before.owners {
        let Some(now) = after.owners.get(name).filter(|now| *now != owner) else { continue };
        if found.insert((owner, now)) {
            let say = |owner: &str| {
                if owner == *name { "a property".to_owned() } else { format!("a chunk of `{owner}`") }
            };
            let what = format!("`{name}`, {},{history} becomes {}", say(owner), say(now));
            changes.push(Change::new(&rules::RETYPED, what));
        }
    }
}

fn added(property: &StoredProperty, history: &str) -> Change {
    let StoredProperty { name, edm, optional } = property;
    if *optional {
        Change::new(&rules::OPTIONAL_ADDED, format!("property `{name}`{history}: {edm}, may be absent"))
    } else {
        Change::new(&rules::REQUIRED_ADDED, format!("property `{name}`{history}: {edm}"))
    }
}

/// Finds the changes to a removed property that is declared again. Some rows may still contain its old value, but other rows lack it.
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
