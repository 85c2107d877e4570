//! Division of entities into transactions: grouped by partition, split at the limits, in order within each partition.

use std::collections::HashMap;

use crate::error::{ErrorCode, Result};
use crate::key::{EntityKey, PartitionKey};
use crate::limits::Limits;
use crate::operation::{Operation, OperationKind};
use crate::transaction::Transaction;

/// Number of entities in a window. Those of one partition share transactions.
const ENTITIES: usize = 4_000;
/// Size of a window in bytes, by the published formula, which bounds memory.
const BYTES: usize = 64 << 20;

/// The transactions of one partition, in order, each with the input positions of its entities.
pub(super) type Chain = Vec<(Vec<usize>, Transaction)>;

/// Consecutive entities, grouped by partition in the order of first occurrence.
pub(super) struct Window {
    limits: Limits,
    chains: Vec<Chain>,
    index: HashMap<PartitionKey, usize>,
    entities: usize,
    bytes: usize,
}

impl Window {
    pub(super) fn new(limits: Limits) -> Self {
        Self { limits, chains: Vec::new(), index: HashMap::new(), entities: 0, bytes: 0 }
    }

    pub(super) const fn is_full(&self) -> bool {
        self.entities >= ENTITIES || self.bytes >= BYTES
    }

    /// Adds a write to the last transaction of its partition, or to a new one if it does not fit.
    ///
    /// # Errors
    /// The errors of an entity beyond its limits. The window is unchanged then.
    pub(super) fn add(&mut self, position: usize, key: EntityKey, kind: OperationKind) -> Result<()> {
        let operation = Operation { row_key: key.row_key, kind };
        let chain = match self.index.get(&key.partition_key) {
            Some(index) => self.chains.get_mut(*index),
            None => None,
        };
        if let Some((positions, transaction)) = chain.and_then(|chain| chain.last_mut()) {
            let before = transaction.bytes();
            match transaction.push(operation.clone()) {
                Ok(()) => {
                    positions.push(position);
                    self.entities += 1;
                    self.bytes += transaction.bytes() - before;
                    return Ok(());
                }
                Err(error) if is_full_or_has_it(error.code()) => {}
                Err(error) => return Err(error),
            }
        }
        let mut transaction = Transaction::new(key.partition_key.clone(), self.limits)?;
        transaction.push(operation)?;
        self.entities += 1;
        self.bytes += transaction.bytes();
        let chains = self.chains.len();
        let index = *self.index.entry(key.partition_key).or_insert(chains);
        let link = (vec![position], transaction);
        match self.chains.get_mut(index) {
            Some(chain) => chain.push(link),
            None => self.chains.push(vec![link]),
        }
        Ok(())
    }

    pub(super) fn into_chains(self) -> Vec<Chain> {
        self.chains
    }
}

/// Returns `true` if a transaction refused an operation because of its earlier operations.
const fn is_full_or_has_it(code: ErrorCode) -> bool {
    matches!(code, ErrorCode::InvalidInput | ErrorCode::RequestBodyTooLarge | ErrorCode::InvalidDuplicateRow)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::RowWriter;
    use crate::value::ValueRef;

    fn add(window: &mut Window, position: usize, partition: &str, row: &str, bytes: usize) {
        let mut writer = RowWriter::new();
        let blob = vec![0; 60_000];
        for index in 0..bytes / 60_000 {
            writer.property(&format!("P{index}"), ValueRef::Binary(&blob));
        }
        let key = EntityKey::new(partition, row).unwrap();
        window.add(position, key, OperationKind::InsertOrReplace(writer.finish())).unwrap();
    }

    fn shape(window: Window) -> Vec<Vec<Vec<usize>>> {
        let positions = |chain: Chain| chain.into_iter().map(|(positions, _)| positions).collect();
        window.into_chains().into_iter().map(positions).collect()
    }

    #[test]
    fn egt_1_partitions_are_apart_and_keep_their_order() {
        let mut window = Window::new(Limits::PORTABLE);
        for (position, partition) in ["b", "a", "b", "a", "b"].into_iter().enumerate() {
            add(&mut window, position, partition, &position.to_string(), 0);
        }
        assert_eq!(shape(window), [vec![vec![0, 2, 4]], vec![vec![1, 3]]]);
    }

    #[test]
    fn egt_2_3_and_4_a_transaction_ends_at_100_operations_4_mib_and_a_key_it_has() {
        let mut window = Window::new(Limits::PORTABLE);
        for position in 0..101 {
            add(&mut window, position, "a", &position.to_string(), 0);
        }
        assert_eq!(shape(window), [vec![(0..100).collect(), vec![100]]]);

        let mut window = Window::new(Limits::PORTABLE);
        for position in 0..6 {
            add(&mut window, position, "a", &position.to_string(), 960_000);
        }
        assert_eq!(shape(window), [vec![vec![0, 1, 2, 3], vec![4, 5]]]);

        let mut window = Window::new(Limits::PORTABLE);
        for (position, row) in ["x", "y", "x"].into_iter().enumerate() {
            add(&mut window, position, "a", row, 0);
        }
        assert_eq!(shape(window), [vec![vec![0, 1], vec![2]]]);
    }
}
