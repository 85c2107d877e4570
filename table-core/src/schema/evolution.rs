//! Schema evolution. This module determines whether stored rows are compatible with a changed schema.
//!
//! [`EVOLUTION_RULES`] lists the effect of each kind of change, and [`compare_schemas`] finds the changes.

mod change;
mod index;
mod key;
mod property;
mod rules;
#[cfg(test)]
mod tests;

pub use change::{Change, Evolution};
pub use rules::{Compatibility, EVOLUTION_RULES, Rule};

use crate::schema::removed::RemovedProperties;
use crate::schema::stored::StoredSchema;

/// Compares an old schema with a new schema. Each change follows one of the [`EVOLUTION_RULES`].
///
/// This function is pure. It compares only schemas and reads no rows. If the result is [`Compatibility::NeedsRewrite`], the rewrite itself can still fail,
/// because a stored value may not be valid in the new schema.
///
/// A schema compared with itself is [`Compatibility::Same`]. If the result is `Same`, the fingerprints are equal. The converse holds unless the type has been
/// renamed or the names of key parts have been swapped.
///
/// ```
/// use table_core::Entity;
/// use table_core::schema::{StoredSchema, Compatibility, compare_schemas};
///
/// mod v1 {
///     #[derive(table_core::Entity)]
///     #[partition_key(department)]
///     #[row_key(id)]
///     pub struct Employee { department: String, #[digits(6)] id: u32 }
/// }
/// mod v2 {
///     #[derive(table_core::Entity)]
///     #[partition_key(department)]
///     #[row_key(id)]
///     pub struct Employee { department: String, #[digits(8)] id: u32, nickname: Option<String> }
/// }
///
/// let evolution = compare_schemas(&StoredSchema::of(v1::Employee::SCHEMA), &StoredSchema::of(v2::Employee::SCHEMA));
/// assert_eq!(evolution.compatibility(), Compatibility::NeedsRewrite);
/// let changes: Vec<_> = evolution.changes.iter().map(|change| (change.rule.id, change.what.as_str())).collect();
/// assert_eq!(changes, [
///     ("EVO-11", "RowKey, `id`: digits(6) of 6 becomes digits(8) of 8"),
///     ("EVO-1", "property `Nickname`: Edm.String, may be absent"),
/// ]);
/// ```
#[must_use]
pub fn compare_schemas(old: &StoredSchema, new: &StoredSchema) -> Evolution {
    compare_with_removed(old, &RemovedProperties::default(), new)
}

/// Compares two schemas like [`compare_schemas`]. `removed` contains the properties removed before `old`. A property added by `new` is also compared with the
/// removed property of the same name.
pub(crate) fn compare_with_removed(
    old: &StoredSchema,
    removed: &RemovedProperties,
    new: &StoredSchema,
) -> Evolution {
    let mut changes = Vec::new();
    if old.entity != new.entity {
        let what = format!("type `{}` becomes `{}`", old.entity, new.entity);
        changes.push(Change::new(&rules::TYPE_RENAMED, what));
    }
    if !old.table.eq_ignore_ascii_case(&new.table) {
        let what = format!("table `{}` becomes `{}`", old.table, new.table);
        changes.push(Change::new(&rules::TABLE_RENAMED, what));
    }
    if old.kind != new.kind {
        let say = |kind: &Option<String>| kind.as_ref().map_or("none".to_owned(), |kind| format!("'{kind}'"));
        changes
            .push(Change::new(&rules::KIND, format!("kind {} becomes {}", say(&old.kind), say(&new.kind))));
    }
    let names = key::Renamed::between(old, new);
    key::changes(old, new, &names, &mut changes);
    property::changes(old, &removed.properties(), new, &mut changes);
    index::changes(old, new, &names, &mut changes);
    let lacks = |one: &StoredSchema, word: &String| !one.keeps.contains(word);
    for word in new.keeps.iter().filter(|word| lacks(old, word)) {
        changes.push(Change::with_pending(
            &rules::KEPT_ADDED,
            format!("`{word}` is declared"),
            format!("keeps {word}"),
        ));
    }
    for word in old.keeps.iter().filter(|word| lacks(new, word)) {
        changes.push(Change::new(&rules::KEPT_REMOVED, format!("`{word}` is no longer declared")));
    }
    Evolution { changes }
}
