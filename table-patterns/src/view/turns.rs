//! The order in which a follower (a process that applies changes to a view) processes the partitions of a source.

use std::collections::{HashMap, HashSet};

use table_core::key::PartitionKey;

use crate::feed::Listed;

/// The order in which partitions had their last turn. A call begins with the partition that has waited longest since its last turn.
///
/// Each call that applies changes ends at least one turn, and partitions without a turn are appended. As a result, a waiting partition has fewer partitions
/// ahead of it after each such call, even if the calls fail, are cancelled or lose the view's lease before they reach it.
#[derive(Debug)]
pub(super) struct Turns {
    /// A random number, which makes processes start with different partitions even if each process makes only one call.
    chance: usize,
    /// The number of the next turn.
    next: u64,
    /// For each partition, the number of its last turn or, before that turn, the number assigned when it first appeared.
    last: HashMap<PartitionKey, u64>,
}

/// The end of a partition's turn, which can be undone with `Turns::restore`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ended {
    /// The partition's new number.
    number: u64,
    /// The partition's previous number, if it had one.
    before: Option<u64>,
}

impl Turns {
    pub(super) fn new(chance: usize) -> Self {
        Self { chance, next: 0, last: HashMap::new() }
    }

    /// Sorts partitions in the order of their turns.
    pub(super) fn sort(&mut self, partitions: &mut [Listed]) {
        let first = self.chance.checked_rem(partitions.len()).unwrap_or(0);
        partitions.rotate_left(first);
        for listed in &*partitions {
            if !self.last.contains_key(&listed.partition_key) {
                self.end(&listed.partition_key);
            }
        }
        partitions.sort_by_cached_key(|listed| self.last.get(&listed.partition_key).copied());
    }

    /// Ends a partition's turn, which moves the partition behind all others. The result can be passed to `restore`.
    pub(super) fn end(&mut self, partition_key: &PartitionKey) -> Ended {
        let number = self.next;
        let before = self.last.insert(partition_key.clone(), number);
        self.next = self.next.saturating_add(1);
        Ended { number, before }
    }

    /// Gives a turn back to a partition if the call could not begin it. Does nothing if a clone of the follower has ended another turn of the partition since
    /// then.
    pub(super) fn restore(&mut self, partition_key: &PartitionKey, ended: &Ended) {
        if let (Some(last), Some(before)) = (self.last.get_mut(partition_key), ended.before)
            && *last == ended.number
        {
            *last = before;
        }
    }

    /// Forgets the partitions that are no longer listed, if more partitions are remembered than listed.
    pub(super) fn keep_listed(&mut self, listed: &[Listed]) {
        if self.last.len() > listed.len() {
            let listed: HashSet<_> = listed.iter().map(|listed| &listed.partition_key).collect();
            self.last.retain(|partition_key, _| listed.contains(partition_key));
        }
    }
}
