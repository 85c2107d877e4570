//! The "Space-Saving" algorithm with weights that decay, and a history for each counted partition.

use std::cmp::Reverse;
use std::hash::{BuildHasher, RandomState};

use super::ring::Ring;

/// The maximum number of counted partitions.
pub const COUNTED: usize = 128;
/// The number of five-second periods in the last minute.
pub const MINUTE: usize = 12;
/// The number of one-minute periods in the last hour.
pub const HOUR: usize = 60;

const SECOND: u64 = 10_000_000;
/// The lengths of the periods in the two histories, and the interval at which weights are halved, in ticks.
const SHORT: u64 = 5 * SECOND;
const LONG: u64 = 60 * SECOND;
const HALVED_AFTER: u64 = 600 * SECOND;
/// The number of hashes compared in one step.
const GROUP: usize = 16;

/// The request counts of one partition.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BusyPartition {
    /// The table name, as passed to [`record`](crate::load::PartitionLoad::record).
    pub table: String,
    /// The `PartitionKey`.
    pub partition_key: String,
    /// The number of requests in each five-second period of the last minute, oldest first.
    pub seconds: [u32; MINUTE],
    /// The number of requests in each minute of the last hour, oldest first. The last minute is incomplete.
    pub minutes: [u32; HOUR],
    /// An estimate of the number of requests. Recent requests count more. It may be too high by at most the weight of the partition that this one replaced.
    pub weight: u64,
}

impl BusyPartition {
    /// Returns the number of requests in the last minute.
    #[must_use]
    pub fn last_minute(&self) -> u64 {
        self.seconds.iter().map(|count| u64::from(*count)).sum()
    }

    /// Returns the number of requests in the last hour.
    #[must_use]
    pub fn last_hour(&self) -> u64 {
        self.minutes.iter().map(|count| u64::from(*count)).sum()
    }
}

#[derive(Debug, Default)]
struct Slot {
    table: String,
    partition_key: String,
    seconds: Ring<MINUTE>,
    minutes: Ring<HOUR>,
}

/// The counted partitions and their weights.
#[derive(Debug, Default)]
pub(super) struct Sketch {
    hasher: RandomState,
    /// The partition hash of each slot. Comparing hashes is faster than comparing keys.
    hashes: Vec<u32>,
    /// The weight of each slot.
    ///
    /// Each request to an uncounted partition searches for the lowest weight. The search reads 1 KiB. If the weights were stored in the slots, it would read 50
    /// KiB.
    weights: Vec<u64>,
    /// A lower bound on all weights.
    least: u64,
    /// The number of slots at the start whose weights are greater than `least`. Until the next halving, weights only grow, so the search for the lowest weight
    /// can skip these slots.
    passed: usize,
    slots: Vec<Slot>,
    all: Ring<MINUTE>,
    /// The period in which the weights were last halved.
    halved: u64,
}

impl Sketch {
    pub(super) fn record(&mut self, table: &str, partition_key: &str, now: u64) {
        self.halve(now / HALVED_AFTER);
        self.all.add(now / SHORT);
        let hash = self.hash(table, partition_key);
        let at =
            self.find(hash, table, partition_key).unwrap_or_else(|| self.admit(hash, table, partition_key));
        if let Some(weight) = self.weights.get_mut(at) {
            *weight += 1;
        }
        if let Some(slot) = self.slots.get_mut(at) {
            slot.seconds.add(now / SHORT);
            slot.minutes.add(now / LONG);
        }
    }

    pub(super) fn read(&self, now: u64) -> Vec<BusyPartition> {
        let mut all: Vec<_> = (0..self.slots.len()).filter_map(|at| self.read_slot(at, now)).collect();
        all.retain(|one| one.last_hour() > 0);
        all.sort_by(|one, other| {
            let rank = |one: &BusyPartition| (Reverse(one.weight), Reverse(one.last_hour()));
            rank(one).cmp(&rank(other)).then_with(|| one.partition_key.cmp(&other.partition_key))
        });
        all
    }

    pub(super) fn of(&self, table: &str, partition_key: &str, now: u64) -> Option<BusyPartition> {
        let at = self.find(self.hash(table, partition_key), table, partition_key)?;
        self.read_slot(at, now)
    }

    pub(super) fn last_minute(&self, now: u64) -> u64 {
        self.all.up_to(now / SHORT).iter().map(|count| u64::from(*count)).sum()
    }

    fn read_slot(&self, at: usize, now: u64) -> Option<BusyPartition> {
        let slot = self.slots.get(at)?;
        Some(BusyPartition {
            table: slot.table.clone(),
            partition_key: slot.partition_key.clone(),
            seconds: slot.seconds.up_to(now / SHORT),
            minutes: slot.minutes.up_to(now / LONG),
            weight: self.weights.get(at).copied().unwrap_or(0),
        })
    }

    fn hash(&self, table: &str, partition_key: &str) -> u32 {
        u32::try_from(self.hasher.hash_one((table, partition_key)) >> 32).unwrap_or_default()
    }

    fn find(&self, hash: u32, table: &str, partition_key: &str) -> Option<usize> {
        let is_same = |slot: &Slot| slot.partition_key == partition_key && slot.table == table;
        let within = |first: usize, hashes: &[u32]| {
            let mut same_hash = (first..).zip(hashes).filter(|(_, known)| **known == hash);
            same_hash.find_map(|(at, _)| self.slots.get(at).is_some_and(is_same).then_some(at))
        };
        let (groups, rest) = self.hashes.as_chunks::<GROUP>();
        // Groups are compared without branches, so the compiler can use vector instructions.
        let may_have =
            |group: &[u32; GROUP]| group.iter().fold(0, |any, known| any | u32::from(*known == hash)) > 0;
        let mut candidates = groups.iter().enumerate().filter(|(_, group)| may_have(group));
        let found = candidates.find_map(|(number, group)| within(number * GROUP, group));
        found.or_else(|| within(groups.len() * GROUP, rest))
    }

    /// Assigns a slot to a partition, and returns the index of the slot. If no slot is free, it is the one with the lowest weight, and the partition inherits
    /// this weight.
    fn admit(&mut self, hash: u32, table: &str, partition_key: &str) -> usize {
        let at = if self.slots.len() < COUNTED {
            self.hashes.push(0);
            self.weights.push(0);
            self.slots.push(Slot::default());
            self.slots.len() - 1
        } else {
            self.lightest()
        };
        if let (Some(known), Some(slot)) = (self.hashes.get_mut(at), self.slots.get_mut(at)) {
            *known = hash;
            slot.assign(table, partition_key);
        }
        at
    }

    /// Returns the index of the slot with the lowest weight.
    fn lightest(&mut self) -> usize {
        let from = |weights: &[u64], first: usize, least: u64| {
            let rest = weights.get(first..).unwrap_or_default();
            rest.iter().position(|weight| *weight == least).map(|at| first + at)
        };
        let at = from(&self.weights, self.passed, self.least).or_else(|| {
            self.least = self.weights.iter().copied().min()?;
            from(&self.weights, 0, self.least)
        });
        self.passed = at.unwrap_or_default();
        self.passed
    }

    /// Halves the weights once for each period since the last halving.
    fn halve(&mut self, period: u64) {
        // The clock was ahead and has been corrected. A difference of one period is tolerated, because other threads may still record the previous period at
        // the end of a period.
        if self.halved > period.saturating_add(1) {
            self.halved = period;
        }
        let passed = u32::try_from(period.saturating_sub(self.halved)).unwrap_or(u32::MAX);
        if passed > 0 {
            self.weights.iter_mut().for_each(|weight| *weight = weight.checked_shr(passed).unwrap_or(0));
            self.halved = period;
            (self.least, self.passed) = (0, 0);
        }
    }
}

impl Slot {
    /// Assigns the slot to a different partition. Reuses the memory of the slot's strings.
    fn assign(&mut self, table: &str, partition_key: &str) {
        self.table.clear();
        self.table.push_str(table);
        self.partition_key.clear();
        self.partition_key.push_str(partition_key);
        self.seconds = Ring::default();
        self.minutes = Ring::default();
    }
}
