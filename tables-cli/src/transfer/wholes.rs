//! The wide entities of which a scan has read some parts.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use table_core::EntityKey;
use table_core::query::EntityRef;

use crate::failure::Result;

/// The wide entities of which a scan has read some parts and may read more, each with a value of type `T` that describes these parts.
///
/// Rows of other entities may be between the parts of an entity. For example, `2014_01_01` is between `2014_01` and `2014_02`. A store in key order has
/// therefore returned all parts of an entity only when it returns a row behind the range of the entity. A store without an order may return a part at any time.
#[derive(Debug)]
pub(crate) struct Wholes<T> {
    /// The values, by the PartitionKey and the RowKey of the entity.
    open: BTreeMap<(String, String), T>,
    is_ordered: bool,
}

impl<T: Default> Wholes<T> {
    /// Creates an empty list. `is_ordered` is `true` if the store returns rows in key order.
    pub(crate) const fn new(is_ordered: bool) -> Self {
        Self { open: BTreeMap::new(), is_ordered }
    }

    /// Returns the value of an entity, and `true` if it is new.
    pub(crate) fn entry(&mut self, partition: &str, base: &str) -> (&mut T, bool) {
        match self.open.entry((partition.to_owned(), base.to_owned())) {
            Entry::Occupied(found) => (found.into_mut(), false),
            Entry::Vacant(free) => (free.insert(T::default()), true),
        }
    }

    /// Removes the entities of which neither this row nor a later row can be a part.
    ///
    /// # Errors
    /// `InvalidInput` if the RowKey of an entity is not a valid key, which no store returns.
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
