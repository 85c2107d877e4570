//! Sequences from which each process allocates numbers in advance, one block at a time.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use table_core::Result;
use table_core::entity::Entity;
use table_core::key::{EntityKey, PartitionKey, RowKey};
use table_core::query::Select;
use table_core::selection::{Partition, Selection};
use table_core::store::TableStore;

use crate::entities::{Entities, NoOutbox};
use crate::outbox::rows::together;
use crate::sequence::row;
use crate::unit::partition_key as key_of;

/// The maximum number of partitions for which a process keeps blocks.
const REMEMBERED: usize = 100_000;

/// The blocks allocated by this process, by partition. The oldest block comes first.
type InHand = BTreeMap<PartitionKey, VecDeque<Range<u64>>>;

/// A sequence with gaps. A process allocates a block of numbers, and then returns numbers from the block without further requests. For the costs, see [the
/// module](crate::sequence).
///
/// Clones share the allocated blocks. Within a block, numbers are returned in ascending order. If several concurrent calls find no allocated number, each of
/// them allocates a block. A process keeps blocks for at most 100,000 partitions. Before it allocates a block for one more partition, it discards all blocks,
/// and their numbers become gaps.
pub struct BlockSequence<E, S, O = NoOutbox> {
    entities: Entities<E, S, O>,
    row_key: RowKey,
    size: u32,
    in_hand: Arc<Mutex<InHand>>,
}

impl<E: Entity, S: TableStore + Clone, O: Clone> BlockSequence<E, S, O> {
    /// Creates a handle to the sequence with the given name. Each partition has its own sequence. A block contains `size` numbers, or one number if `size` is
    /// 0. Sends no request.
    ///
    /// # Errors
    /// `InvalidInput` if the name is empty. `KeyEncoding` or `PropertyValueTooLarge` if the name cannot be part of a key.
    pub fn new(entities: &Entities<E, S, O>, name: &str, size: u32) -> Result<Self> {
        let (row_key, in_hand) = (row::row_key(name)?, Arc::default());
        Ok(Self { entities: entities.clone(), row_key, size: size.max(1), in_hand })
    }

    /// Returns a number that no other call for this partition returns, in any process.
    ///
    /// # Errors
    /// - `UpdateConditionNotSatisfied` (CON-3) if other writers committed first in all attempts allowed by the [policy](Entities::with_retry).
    /// - `InvalidInput` if the type `N` cannot represent the number. No number is returned, and the numbers that are left in the process's blocks may be lost.
    /// - `SchemaMismatch` if a different entity type has a sequence with this name in the partition.
    /// - Any error from the store.
    pub async fn next<N: TryFrom<u64>>(&self, partition: Selection<E, Partition>) -> Result<N> {
        let partition_key = key_of(partition)?;
        if let Some(number) = self.with(|in_hand| first(in_hand, &partition_key)) {
            return self.convert(&partition_key, number);
        }
        let mut block = self.block(&partition_key).await?;
        let number = block.start;
        block.start += 1;
        self.with(|in_hand| keep(in_hand, partition_key.clone(), block));
        self.convert(&partition_key, number)
    }

    fn convert<N: TryFrom<u64>>(&self, partition_key: &PartitionKey, number: u64) -> Result<N> {
        let key = EntityKey { partition_key: partition_key.clone(), row_key: self.row_key.clone() };
        row::convert(number).map_err(|error| self.entities.here(error, &key))
    }

    async fn block(&self, partition_key: &PartitionKey) -> Result<Range<u64>> {
        let (store, table) = (self.entities.table().store(), self.entities.table().name()?);
        let mut race = self.entities.retry().start("the sequence");
        loop {
            let key = EntityKey { partition_key: partition_key.clone(), row_key: self.row_key.clone() };
            let found = store.get(table, &key, &Select::All).await?;
            let (block, operation) = row::take(found, (&self.row_key, E::SCHEMA.entity), self.size.into())
                .map_err(|error| self.entities.here(error, &key))?;
            let transaction = together(partition_key, [operation], store.capabilities().limits)?;
            match store.submit(table, transaction).await {
                Ok(_) => return Ok(block),
                // IMPORTANT: if the outcome is unknown, the block is not used, because another process may own it. This avoids duplicates, but may leave a gap.
                Err(error) if error.is_conflict() || error.is_ambiguous() => race.retry(error).await?,
                Err(error) => return Err(error),
            }
        }
    }

    fn with<T>(&self, look: impl FnOnce(&mut InHand) -> T) -> T {
        look(&mut self.in_hand.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Removes and returns the first number from this process's blocks in a partition.
fn first(in_hand: &mut InHand, partition_key: &PartitionKey) -> Option<u64> {
    let blocks = in_hand.get_mut(partition_key)?;
    while let Some(block) = blocks.front_mut() {
        if let Some(number) = block.next() {
            return Some(number);
        }
        blocks.pop_front();
    }
    in_hand.remove(partition_key);
    None
}

/// Adds a block for a partition. If blocks are held for too many partitions, first discards all blocks. Their numbers become gaps.
fn keep(in_hand: &mut InHand, partition_key: PartitionKey, block: Range<u64>) {
    if block.is_empty() {
        return;
    }
    if in_hand.len() >= REMEMBERED && !in_hand.contains_key(&partition_key) {
        in_hand.clear();
    }
    in_hand.entry(partition_key).or_default().push_back(block);
}

clone_fields!([E, S: Clone, O: Clone] BlockSequence[E, S, O] { entities, row_key, size, in_hand });

debug_fields!([E, S, O] BlockSequence[E, S, O] { row_key, size, .. });

#[cfg(test)]
mod tests;
