//! Buffers changes in groups, one group per partition. This way, rows can be added in any order and are still written in few transactions.

use std::collections::{HashMap, VecDeque};

use table_core::limits::Limits;
use table_core::{Error, PartitionKey};

use crate::transfer::change::{Mode, Numbered};
use crate::transfer::writer::group::Group;

/// Once this many changes are buffered, the oldest group is written.
pub(super) const CHANGES: usize = 20_000;
/// Once the buffered changes reach this total size, in bytes, the oldest group is written.
pub(super) const BYTES: usize = 16 << 20;
/// A stale entry in `order` refers to a group already removed from the buffer. Once `order` has more entries than twice the number of groups plus `STALE`, its
/// stale entries are removed.
const STALE: usize = 1_000;

/// The groups not yet written.
#[derive(Default)]
pub(super) struct Buffer {
    groups: HashMap<PartitionKey, (u64, Group)>,
    /// The groups, oldest first. An entry is stale if the current group of its partition has a different number.
    order: VecDeque<(u64, PartitionKey)>,
    begun: u64,
    changes: usize,
    bytes: usize,
}

/// The result of adding a unit of changes.
#[derive(Default)]
pub(super) struct Pushed {
    /// The previous group of the partition, if the unit did not fit into it.
    pub(super) full: Option<Group>,
    /// The unit and the reason for its rejection, if the unit does not fit into any group.
    pub(super) refused: Option<(Vec<Numbered>, Error)>,
}

impl Buffer {
    /// Adds a unit of changes to the group of the partition they write to.
    pub(super) fn push(
        &mut self,
        unit: Vec<Numbered>,
        mode: Mode,
        limits: Limits,
    ) -> table_core::Result<Pushed> {
        let (mut pushed, mut unit) = (Pushed::default(), unit);
        let Some(first) = unit.first() else { return Ok(pushed) };
        let (partition_key, count) = (&first.change.key().partition_key.clone(), unit.len());
        if let Some((_, group)) = self.groups.get_mut(partition_key) {
            let bytes = group.bytes();
            match group.push(unit, mode) {
                Ok(()) => {
                    self.changes += count;
                    self.bytes += group.bytes() - bytes;
                    return Ok(pushed);
                }
                Err(returned) => unit = returned.0,
            }
            pushed.full = self.take(partition_key);
        }
        let mut group = Group::new(partition_key.clone(), limits)?;
        match group.push(unit, mode) {
            Ok(()) => {
                self.changes += count;
                self.bytes += group.bytes();
                self.begun += 1;
                self.order.push_back((self.begun, partition_key.clone()));
                self.groups.insert(partition_key.clone(), (self.begun, group));
            }
            Err(refused) => pushed.refused = Some(*refused),
        }
        Ok(pushed)
    }

    /// Removes the group of a partition from the buffer and returns it.
    pub(super) fn take(&mut self, partition_key: &PartitionKey) -> Option<Group> {
        let (_, group) = self.groups.remove(partition_key)?;
        self.changes -= group.len();
        self.bytes -= group.bytes();
        if self.order.len() > 2 * self.groups.len() + STALE {
            let groups = &self.groups;
            self.order.retain(|(number, key)| groups.get(key).is_some_and(|(found, _)| found == number));
        }
        Some(group)
    }

    /// Removes the oldest group from the buffer and returns it.
    pub(super) fn take_oldest(&mut self) -> Option<Group> {
        while let Some((number, partition_key)) = self.order.pop_front() {
            if self.groups.get(&partition_key).is_some_and(|(found, _)| *found == number) {
                return self.take(&partition_key);
            }
        }
        None
    }

    /// Returns `true` if the oldest group must be written before another change is added.
    pub(super) const fn is_full(&self) -> bool {
        self.changes >= CHANGES || self.bytes >= BYTES
    }
}
