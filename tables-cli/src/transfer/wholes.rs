//! Tracks wide entities that a scan has partially read.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use table_core::EntityKey;
use table_core::query::EntityRef;

use crate::failure::Result;

/// The wide entities that a scan has partially read, each with a value of type `T` that describes the parts read so far.
///
/// Rows of other entities can sort between the parts of an entity. For example, `2014_01_01` sorts between `2014_01` and `2014_02`. On a store with key order,
/// all parts of an entity have been read only once a row after the entity's key range is read. A store without key order may return a part at any time.
#[derive(Debug)]
pub(crate) struct Wholes<T> {
    /// The values, keyed by the entity's PartitionKey and RowKey.
    open: BTreeMap<(String, String), T>,
    is_ordered: bool,
}

impl<T: Default> Wholes<T> {
    /// Creates an empty list. `is_ordered` is `true` if the store returns rows in key order.
    pub(crate) const fn new(is_ordered: bool) -> Self {
        Self { open: BTreeMap::new(), is_ordered }
    }

    /// Returns the value of an entity, and `true` if the entity is new.
    pub(crate) fn entry(&mut self, partition: &str, base: &str) -> (&mut T, bool) {
        match self.open.entry((partition.to_owned(), base.to_owned())) {
            Entry::Occupied(found) => (found.into_mut(), false),
            Entry::Vacant(free) => (free.insert(T::default()), true),
        }
    }

    /// Removes and returns the entities that neither `row` nor any later row can belong to.
    ///
    /// # Errors
    /// `InvalidInput` if an entity's RowKey is invalid. No store returns such a key.
    pub(crate) fn closed_by(&mut self, row: EntityRef<'_>) -> Result<Vec<(EntityKey, T)>> {
        if !self.is_ordered {
            return Ok(Vec::new());
        }
        let can_follow = |(partition, base): &(String, String)| {
            let rest = row.row_key.strip_prefix(base.as_str());
            partition == row.partition_key && rest.is_some_and(|rest| rest.starts_with('_'))
        };
        let closed: Vec<_> = self.open.keys().filter(|key| !can_follow(key)).cloned().collect();
        keyed(closed.into_iter().filter_map(|key| self.open.remove_entry(&key)))
    }

    /// Returns all entities that have not been removed.
    ///
    /// # Errors
    /// Any error from [`closed_by`](Self::closed_by).
    pub(crate) fn into_rest(self) -> Result<Vec<(EntityKey, T)>> {
        keyed(self.open.into_iter())
    }
}

fn keyed<T>(entities: impl Iterator<Item = ((String, String), T)>) -> Result<Vec<(EntityKey, T)>> {
    let keyed = |((partition, base), value)| Ok((EntityKey::new(partition, base)?, value));
    entities.map(keyed).collect()
}
