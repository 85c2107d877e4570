//! Compares the indexes of two schemas.

use std::collections::BTreeSet;

use crate::schema::evolution::change::Change;
use crate::schema::evolution::key::{Renamed, index_rule};
use crate::schema::evolution::rules::{self, Rule};
use crate::schema::stored::{StoredIndex, StoredProperty, StoredSchema};

pub(super) fn changes(
    old: &StoredSchema,
    new: &StoredSchema,
    names: &Renamed<'_>,
    changes: &mut Vec<Change>,
) {
    for index in old.indexes.iter().filter(|index| new.indexes.iter().all(|now| now.name != index.name)) {
        changes.push(Change::new(&rules::INDEX_REMOVED, format!("index `{}` is removed", index.name)));
    }
    for index in &new.indexes {
        match old.indexes.iter().find(|before| before.name == index.name) {
            None => changes.push(to_build(&rules::INDEX_ADDED, index, "is new")),
            Some(before) => {
                let known = changes.len();
                changed(before, index, names, changes);
                if changes.iter().skip(known).all(|change| *change.rule != rules::INDEX_KEY) {
                    stored_otherwise((old, before), (new, index), changes);
                }
            }
        }
    }
}

fn to_build(rule: &'static Rule, index: &StoredIndex, what: &str) -> Change {
    let name = &index.name;
    Change::with_pending(rule, format!("index `{name}` {what}"), format!("index {name}"))
}

fn changed(old: &StoredIndex, new: &StoredIndex, names: &Renamed<'_>, changes: &mut Vec<Change>) {
    let name = &new.name;
    let partition_key = match (&old.partition_key, &new.partition_key) {
        (None, None) => None,
        (Some(old), Some(new)) => index_rule(&names.apply(old), new),
        _ => Some(&rules::INDEX_KEY),
    };
    let row_key = index_rule(&names.apply(&old.row_key), &new.row_key);
    let folded = |table: &Option<String>| table.as_ref().map(|table| table.to_ascii_lowercase());
    let rules: Vec<&'static Rule> = partition_key.into_iter().chain(row_key).collect();
    if old.kind != new.kind || folded(&old.table) != folded(&new.table) || rules.contains(&&rules::INDEX_KEY)
    {
        // All rows of the index are rebuilt, so any other differences are irrelevant.
        changes.push(to_build(&rules::INDEX_KEY, new, "has another kind, table, partition or key"));
        return;
    }
    if let Some(rule) = rules.first() {
        changes.push(Change::new(rule, format!("index `{name}` accepts more values")));
    }
    match (old.unique, new.unique) {
        (false, true) => changes.push(to_build(&rules::MADE_UNIQUE, new, "becomes unique")),
        (true, false) => {
            changes.push(Change::new(&rules::NOT_UNIQUE, format!("index `{name}` is no longer unique")));
        }
        _ => {}
    }
    if old.when != new.when || (old.sparse && !new.sparse) {
        changes.push(to_build(&rules::LEAVES_OUT_OTHERS, new, "excludes other entities"));
    } else if new.sparse && !old.sparse {
        changes.push(Change::new(&rules::MADE_SPARSE, format!("index `{name}` becomes sparse")));
    }
    let lacks = |from: &Option<Vec<String>>, of: &Option<Vec<String>>| match (from, of) {
        (None, _) => false,
        (Some(_), None) => true,
        (Some(from), Some(of)) => of.iter().any(|name| !from.contains(name)),
    };
    if lacks(&old.include, &new.include) {
        changes.push(to_build(&rules::KEEPS_MORE, new, "includes more properties"));
    }
    if lacks(&new.include, &old.include) {
        changes.push(Change::new(&rules::KEEPS_LESS, format!("index `{name}` includes fewer properties")));
    }
}

/// Adds to `changes` the properties that copies store differently. A difference is omitted if it follows from a change to the entity's properties or to the
/// included properties.
fn stored_otherwise(
    (old, before): (&StoredSchema, &StoredIndex),
    (new, index): (&StoredSchema, &StoredIndex),
    changes: &mut Vec<Change>,
) {
    let find = |properties: &'_ [StoredProperty], name: &str| {
        properties.iter().find(|property| property.name == name).cloned()
    };
    let keeps =
        |index: &StoredIndex, name: &String| index.include.as_ref().is_none_or(|keep| keep.contains(name));
    // A copy can also contain a key field of the entity as text, under the field's property name.
    let is_of_entity = |(schema, index): (&StoredSchema, &StoredIndex), name: &String| {
        let own = find(&schema.properties, name);
        match find(&index.properties, name) {
            None => own.is_none() || !keeps(index, name),
            stored => stored == own,
        }
    };
    let names: BTreeSet<_> =
        before.properties.iter().chain(&index.properties).map(|found| &found.name).collect();
    let others: Vec<_> = names
        .into_iter()
        .filter(|name| {
            let is_changed = find(&old.properties, name) != find(&new.properties, name)
                || keeps(before, name) != keeps(index, name);
            let follows = is_changed && is_of_entity((old, before), name) && is_of_entity((new, index), name);
            find(&before.properties, name) != find(&index.properties, name) && !follows
        })
        .map(String::as_str)
        .collect();
    if !others.is_empty() {
        let what = format!("stores `{}` differently", others.join("`, `"));
        changes.push(to_build(&rules::STORES_OTHERWISE, index, &what));
    }
}
