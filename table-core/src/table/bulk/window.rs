//! Divides a sequence of entities into batches. Entities are grouped by partition, and keep their order within a partition.
//!
//! A batch ends when [`BulkTarget::push`] refuses the next entity, because the batch has reached a limit of a transaction.

use std::collections::HashMap;

use table_store::Result;

use crate::key::PartitionKey;
use crate::table::bulk::BulkTarget;

/// The maximum number of entities in one window. Entities in the same partition can share a transaction only if they are in the same window.
const ENTITIES: usize = 4_000;
/// The maximum size of one window in bytes, according to the service's published formula. It limits the memory used by a bulk write.
const BYTES: usize = 64 << 20;

/// A batch, and the positions of its entities in the input.
pub(super) struct Link<B> {
    pub(super) positions: Vec<usize>,
    pub(super) batch: B,
}

/// A sequence of entities, grouped by partition in order of first appearance.
pub(super) struct Window<'a, T: BulkTarget> {
    target: &'a T,
    chains: Vec<Vec<Link<T::Batch>>>,
    index: HashMap<PartitionKey, usize>,
    entities: usize,
    bytes: usize,
}

impl<'a, T: BulkTarget> Window<'a, T> {
    pub(super) fn new(target: &'a T) -> Self {
        Self { target, chains: Vec::new(), index: HashMap::new(), entities: 0, bytes: 0 }
    }

    /// Returns `true` if the window accepts no more entities.
    pub(super) const fn is_full(&self) -> bool {
        self.entities >= ENTITIES || self.bytes >= BYTES
    }

    /// Adds a write to the last batch of its partition, or to a new batch if the last one is full.
    ///
    /// # Errors
    /// A validation error if the entity alone exceeds a limit. The window is then unchanged.
    pub(super) fn add(&mut self, position: usize, item: T::Item) -> Result<()> {
        let known = self.index.get(T::partition_key(&item)).copied();
        let last = known.and_then(|at| self.chains.get_mut(at)).and_then(|chain| chain.last_mut());
        let item = match last {
            None => item,
            Some(Link { positions, batch }) => {
                let before = T::bytes(batch);
                let Some(item) = self.target.push(batch, item)? else {
                    positions.push(position);
                    self.entities += 1;
                    self.bytes += T::bytes(batch).saturating_sub(before);
                    return Ok(());
                };
                item
            }
        };
        let partition_key = T::partition_key(&item).clone();
        let batch = self.target.batch(item)?;
        self.entities += 1;
        self.bytes += T::bytes(&batch);
        let chains = self.chains.len();
        let at = *self.index.entry(partition_key).or_insert(chains);
        let link = Link { positions: vec![position], batch };
        match self.chains.get_mut(at) {
            Some(chain) => chain.push(link),
            None => self.chains.push(vec![link]),
        }
        Ok(())
    }

    /// Returns the batches of each partition, in order.
    pub(super) fn into_chains(self) -> Vec<Vec<Link<T::Batch>>> {
        self.chains
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bag::TableEntity;
    use crate::embedded::Engine;
    use crate::key::EntityKey;
    use crate::operation::OperationKind;
    use crate::row::RowWriter;
    use crate::table::bulk::plain::BulkWrite;
    use crate::{Table, TableName};
    use table_store::ValueRef;

    type Untyped = Table<TableEntity, Engine>;

    fn table() -> Untyped {
        Table::new(Engine::in_memory(), TableName::new("Company").unwrap())
    }

    fn add(window: &mut Window<'_, Untyped>, position: usize, partition: &str, row: &str, bytes: usize) {
        let mut writer = RowWriter::new();
        let blob = vec![0; 60_000];
        for index in 0..bytes / 60_000 {
            writer.property(&format!("P{index}"), ValueRef::Binary(&blob));
        }
        let key = EntityKey::new(partition, row).unwrap();
        let kind = OperationKind::InsertOrReplace(writer.finish());
        window.add(position, BulkWrite { key, kind, schemas: &[] }).unwrap();
    }

    fn shape(window: Window<'_, Untyped>) -> Vec<Vec<Vec<usize>>> {
        let chains = window.into_chains().into_iter();
        chains.map(|chain| chain.into_iter().map(|link| link.positions).collect()).collect()
    }

    #[test]
    fn egt_1_partitions_are_separate_and_keep_their_order() {
        let table = table();
        let mut window = Window::new(&table);
        for (position, partition) in ["b", "a", "b", "a", "b"].into_iter().enumerate() {
            add(&mut window, position, partition, &position.to_string(), 0);
        }
        assert_eq!(shape(window), [vec![vec![0, 2, 4]], vec![vec![1, 3]]]);
    }

    #[test]
    fn egt_2_3_and_4_a_transaction_ends_at_100_operations_4_mib_or_a_repeated_key() {
        let table = table();
        let mut window = Window::new(&table);
        for position in 0..101 {
            add(&mut window, position, "a", &position.to_string(), 0);
        }
        assert_eq!(shape(window), [vec![(0..100).collect(), vec![100]]]);

        let mut window = Window::new(&table);
        for position in 0..6 {
            add(&mut window, position, "a", &position.to_string(), 960_000);
        }
        assert_eq!(shape(window), [vec![vec![0, 1, 2, 3], vec![4, 5]]]);

        let mut window = Window::new(&table);
        for (position, row) in ["x", "y", "x"].into_iter().enumerate() {
            add(&mut window, position, "a", row, 0);
        }
        assert_eq!(shape(window), [vec![vec![0, 1], vec![2]]]);
    }
}
