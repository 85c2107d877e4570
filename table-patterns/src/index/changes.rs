//! Computes the index changes that follow from a change to an entity, without I/O.

use table_core::entity::Entity;
use table_core::index::{IndexEntry, IndexOf};
use table_core::key::EntityKey;
use table_core::query::EntityRef;
use table_core::row::Row;
use table_core::schema::{IndexKind, IndexSchema};
use table_core::{Error, ErrorCode, Result};

use crate::entities::read_as;
use crate::index::fault::IndexFault;
use crate::index::reserved::check_reserved;
use crate::index::whole::{StoredValues, with_values};
use crate::outbox::keys::GUARDED_UNITS;

/// A change that one entity causes in an index: to its copy, or to a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    /// The schema of the index.
    pub(crate) index: &'static IndexSchema,
    /// The key of the copy, or of the list.
    pub(crate) key: EntityKey,
    /// The kind of the change.
    pub(crate) kind: ChangeKind,
}

/// The kind of change to a copy or a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ChangeKind {
    /// Creates a copy with the given properties. Fails if another entity has a copy under the same key (PAT-INTRA-5).
    Add(Row),
    /// Replaces the properties of a copy.
    Rewrite(Row),
    /// Removes the entity's copy.
    Remove,
    /// Adds the entity to a list. The row contains the key parts that identify the entity.
    Join(Row),
    /// Removes the entity from a list. The row contains the key parts that identify the entity.
    Leave(Row),
}

/// Returns the index changes that are needed when an entity of type `E` changes from `old` to `new`, in the order in which the indexes are declared. `None`
/// means that the entity does not exist. Index entries that stay the same are omitted. Updating a property that no index includes therefore costs nothing more
/// (PAT-INTRA-7). If the values in the entity's stored row are known, copies contain these values instead of newly encoded ones.
///
/// # Errors
/// - Any error from [`IndexOf::entry`]: `KeyEncoding` if an index key cannot contain a value, `PropertyValueTooLarge` if an index key is too long (KEY-8).
/// - `OutOfRangeInput` (PAT-EC-8) if a declared index key of `new` would begin with U+FFFC.
pub(crate) fn stored_changes<E: Entity>(
    (old, stored): (Option<&E>, StoredValues<'_>),
    (new, written): (Option<&E>, StoredValues<'_>),
) -> Result<Vec<Change>> {
    let mut changes = Vec::new();
    for index in E::INDEXES {
        let schema = index.schema();
        let valued = |entry: Option<IndexEntry>, values| {
            entry.map(|entry| with_values::<E>(schema, entry, values)).transpose()
        };
        let before = valued(old.map(|old| stored_entry(index, old)).transpose()?.flatten(), stored)?;
        let after = with_room(schema, new.map(|new| index.entry(new)).transpose()?.flatten())?;
        let after = valued(after, written)?;
        if before != after {
            if let Some(after) = &after {
                check_reserved(schema, &after.key)?;
            }
            push(schema, before, after, &mut changes);
        }
    }
    Ok(changes)
}

fn push(
    index: &'static IndexSchema,
    before: Option<IndexEntry>,
    after: Option<IndexEntry>,
    changes: &mut Vec<Change>,
) {
    let mut change = |key, kind| changes.push(Change { index, key, kind });
    match (index.kind, before, after) {
        (IndexKind::Copies, Some(before), Some(after)) if before.key == after.key => {
            change(after.key, ChangeKind::Rewrite(after.row));
        }
        (IndexKind::Copies, before, after) => {
            if let Some(before) = before {
                change(before.key, ChangeKind::Remove);
            }
            if let Some(after) = after {
                change(after.key, ChangeKind::Add(after.row));
            }
        }
        (IndexKind::List, before, after) => {
            if let Some(before) = before {
                change(before.key, ChangeKind::Leave(before.row));
            }
            if let Some(after) = after {
                change(after.key, ChangeKind::Join(after.row));
            }
        }
    }
}

/// Returns an entity's index entry. Returns `None` if the entity has none, or if the keys of the index cannot contain its value.
pub(crate) fn stored_entry<E: Entity>(index: &IndexOf<E>, entity: &E) -> Result<Option<IndexEntry>> {
    match index.entry(entity).and_then(|entry| with_room(index.schema(), entry)) {
        Err(error) if matches!(error.code(), ErrorCode::KeyEncoding | ErrorCode::PropertyValueTooLarge) => {
            Ok(None)
        }
        entry => entry,
    }
}

/// Checks that the key of a remote index entry is short enough for the key of its guard, which contains it. Returns the entry unchanged.
///
/// # Errors
/// `PropertyValueTooLarge` (KEY-8) if the key is too long.
pub(crate) fn with_room(index: &IndexSchema, entry: Option<IndexEntry>) -> Result<Option<IndexEntry>> {
    if let Some(entry) = entry.as_ref().filter(|_| !index.is_same_partition()) {
        let EntityKey { partition_key, row_key } = &entry.key;
        if row_key.as_str().encode_utf16().count() > GUARDED_UNITS {
            return Err(Error::of(IndexFault::LongKey { index: index.name, most: GUARDED_UNITS })
                .with_key(partition_key.as_str(), row_key.as_str()));
        }
    }
    Ok(entry)
}

/// Returns the index of `E` that has the name in `schema`.
pub(crate) fn index_of<E: Entity>(schema: &IndexSchema) -> Option<&'static IndexOf<E>> {
    E::INDEXES.iter().find(|index| index.schema().name == schema.name)
}

/// A function pointer to [`owner_of`] for one entity type.
pub(crate) type OwnerOf = fn(&IndexSchema, &EntityKey, &Row) -> Option<EntityKey>;

/// Returns the key of the entity that owns an index entry (a copy or a list member). Returns `None` if the row is not an entry of the index. `key` is the key
/// of the copy or the list.
pub(crate) fn owner_of<E: Entity>(schema: &IndexSchema, key: &EntityKey, row: &Row) -> Option<EntityKey> {
    let entry = EntityRef::new(key.partition_key.as_str(), key.row_key.as_str(), row.view());
    index_of::<E>(schema)?.owner(entry).ok()
}

/// A function pointer to [`holds_entry`] for one entity type.
pub(crate) type HoldsEntry = fn(&IndexSchema, (&EntityKey, &Row), &EntityKey) -> bool;

/// Returns `true` if a stored entity's index entry is at the key `at`, or if the entity cannot be read.
pub(crate) fn holds_entry<E: Entity>(
    schema: &IndexSchema,
    (owner, row): (&EntityKey, &Row),
    at: &EntityKey,
) -> bool {
    let Some(index) = index_of::<E>(schema) else { return true };
    let entry = read_as::<E>(owner, row).and_then(|entity| stored_entry(index, &entity));
    entry.map_or(true, |entry| entry.is_some_and(|entry| entry.key == *at))
}

#[cfg(test)]
mod tests;
