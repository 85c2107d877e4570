//! Models the load on physical partitions. The model computes the utilization of each partition, its share of the throughput, and the next split.
//!
//! The service divides the throughput of a container evenly among its physical partitions, whatever their load is. It splits a partition that contains too much
//! data. It also adds partitions if the requested throughput requires them. A hot key does not cause a split, so it stays hot (HPK-12, HPK-14).

mod orders;

pub use orders::Order;

use std::collections::BTreeMap;

use crate::{Component, Epk, EpkRange, PartitionMap};
use table_core::{Error, ErrorCode, Result};

/// The number of bytes in a gigabyte. The service uses decimal units.
const GB: f64 = 1_000_000_000.0;
/// The maximum number of partitions that a throughput may require. The model adds partitions one at a time, so this limits the running time.
const MOST_PARTITIONS: f64 = 1_000.0;
/// The maximum number of splits in [`Load::settle`]. Each split adds a partition.
const MOST_SPLITS: usize = 1_000;

/// The limits on partition keys and physical partitions.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Bounds {
    /// The maximum size of the data under one partition key, in bytes. The service rejects writes beyond this size (LIM-1, HPK-17).
    pub logical_bytes: f64,
    /// The maximum number of request units per second for one partition key (LIM-1).
    pub logical_ru: f64,
    /// The maximum size of a physical partition, in bytes. The service splits a partition that exceeds it (HPK-24).
    pub physical_bytes: f64,
    /// The maximum number of request units per second for a physical partition (LIM-2).
    pub physical_ru: f64,
}

impl Bounds {
    /// The documented limits. A partition key has at most 20 GB, and a physical partition has at most 50 GB. Each has at most 10,000 request units per second.
    pub const SERVICE: Self = Self {
        logical_bytes: 20.0 * GB,
        logical_ru: 10_000.0,
        physical_bytes: 50.0 * GB,
        physical_ru: 10_000.0,
    };

    /// Returns limits with the given sizes and the documented throughput. They are for examples and tests with little data.
    #[must_use]
    pub const fn of_bytes(logical: f64, physical: f64) -> Self {
        Self { logical_bytes: logical, physical_bytes: physical, ..Self::SERVICE }
    }
}

/// The load of one partition key.
#[derive(Clone, Debug, PartialEq)]
pub struct KeyLoad {
    /// The values of the key's levels.
    pub levels: Vec<String>,
    /// The number of bytes stored.
    pub bytes: f64,
    /// The number of bytes added per second.
    pub growth: f64,
    /// The number of request units used per second.
    pub ru: f64,
}

/// The load of one physical partition.
#[derive(Clone, Debug, PartialEq)]
pub struct Heat {
    /// The number of the partition.
    pub id: u32,
    /// The partition's range of effective partition keys.
    pub range: EpkRange,
    /// The number of partition keys in the partition.
    pub keys: usize,
    /// The number of bytes stored.
    pub bytes: f64,
    /// The number of bytes added per second.
    pub growth: f64,
    /// The number of request units per second that the workload demands.
    pub ru: f64,
    /// The number of request units available per second: an even share of the container's throughput.
    pub share: f64,
    /// The utilization of the partition. It is the used fraction of the storage, or of the partition's share of the throughput, whichever is greater.
    ///
    /// A partition with a utilization above 1 is throttled or split.
    pub full: f64,
}

/// The cause of a split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The partition contains too many bytes.
    Storage,
    /// The requested throughput requires more partitions. Load alone never causes a split.
    Throughput,
}

/// The next split of a physical partition.
#[derive(Clone, Debug, PartialEq)]
pub struct NextSplit {
    /// The number of the partition.
    pub id: u32,
    /// The cause of the split.
    pub cause: Cause,
    /// The time in seconds until the split is due, or 0 if it is already due.
    pub seconds: f64,
    /// The bound between the two halves. `None` if the partition cannot be split, because all its data has the same partition key (LIM-11).
    pub at: Option<Epk>,
}

/// A model of a container: the load on its partition keys, distributed over its physical partitions.
///
/// ```
/// use table_hierarchy::{Bounds, Cause, Heat, KeyLoad, Load, NextSplit, PartitionMap};
///
/// let key = |tenant: &str, user: u32, gigabytes: f64| KeyLoad {
///     levels: vec![tenant.to_owned(), format!("u{user}")],
///     bytes: gigabytes * 1e9,
///     growth: 1e5,
///     ru: 40.0,
/// };
/// // The data of one tenant with a hundred users exceeds 20 GB. The data of no single user does.
/// let keys = (0..100).map(|user| key("Microsoft", user, 0.6)).collect();
/// let mut load = Load::new(PartitionMap::even(1), keys, Bounds::SERVICE);
/// let next: NextSplit = load.next_split().expect("60 GB are beyond 50");
/// assert_eq!((next.cause, next.seconds), (Cause::Storage, 0.0));
///
/// load.settle()?; // splits until no split is due
/// assert_eq!(load.map().partitions().len(), 2);
/// assert!(load.heat().iter().all(|heat: &Heat| heat.full < 1.0));
/// # Ok::<(), table_core::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Load {
    map: PartitionMap,
    /// The load of each key, ordered by effective partition key.
    keys: BTreeMap<Epk, KeyLoad>,
    bounds: Bounds,
    /// The throughput of the container. If it is `None`, each partition is assumed to have the maximum throughput.
    throughput: Option<f64>,
}

impl Load {
    /// Distributes the load of partition keys over the partitions of a map. If a key occurs several times, its loads are added.
    #[must_use]
    pub fn new(map: PartitionMap, loads: Vec<KeyLoad>, bounds: Bounds) -> Self {
        let mut keys: BTreeMap<Epk, KeyLoad> = BTreeMap::new();
        for load in loads {
            let epk = Epk::of(&components(&load.levels));
            match keys.get_mut(&epk) {
                Some(there) => {
                    there.bytes += load.bytes;
                    there.growth += load.growth;
                    there.ru += load.ru;
                }
                None => {
                    keys.insert(epk, load);
                }
            }
        }
        Self { map, keys, bounds, throughput: None }
    }

    /// Sets the throughput of the container, in request units per second.
    ///
    /// Each physical partition gets an even share. If no throughput is set, each partition is assumed to have the maximum throughput.
    #[must_use]
    pub fn with_throughput(self, ru: f64) -> Self {
        Self { throughput: Some(ru), ..self }
    }

    /// Returns the request units per second available to each partition.
    #[must_use]
    pub fn share(&self) -> f64 {
        let partitions = f64::from(u32::try_from(self.map.partitions().len()).unwrap_or(u32::MAX));
        let even = self.throughput.map(|ru| ru / partitions);
        even.map_or(self.bounds.physical_ru, |even| even.min(self.bounds.physical_ru))
    }

    /// Returns the factor by which throttling slows down the workload. Returns 1 if no partition exceeds its share.
    ///
    /// ```
    /// use table_hierarchy::{Bounds, KeyLoad, Load, PartitionMap};
    ///
    /// // One tenant requests 1,000 request units per second, in a container that has 3,200 on eight partitions.
    /// let key = KeyLoad { levels: vec!["contoso".to_owned()], bytes: 0.0, growth: 0.0, ru: 1_000.0 };
    /// let load = Load::new(PartitionMap::even(8), vec![key], Bounds::SERVICE).with_throughput(3_200.0);
    /// assert_eq!((load.share(), load.slowdown()), (400.0, 2.5));
    /// ```
    #[must_use]
    pub fn slowdown(&self) -> f64 {
        let most = self.heat().into_iter().map(|heat| heat.ru).fold(0.0, f64::max);
        (most / self.share()).max(1.0)
    }

    /// Returns the maximum number of request units per second that the container can serve. Assumes that the load on all keys grows in proportion (the ceiling
    /// of HPK-12).
    #[must_use]
    pub fn ceiling(&self) -> f64 {
        let heat = self.heat();
        let most = heat.iter().map(|heat| heat.ru).fold(0.0, f64::max);
        let whole = heat.iter().map(|heat| heat.ru).fold(0.0, |sum, ru| sum + ru);
        if most > 0.0 { self.share() * whole / most } else { 0.0 }
    }

    /// Returns the number of distinct values in the first level.
    #[must_use]
    pub fn first_values(&self) -> usize {
        let mut first: Vec<&String> = self.keys.values().filter_map(|load| load.levels.first()).collect();
        first.sort_unstable();
        first.dedup();
        first.len()
    }

    /// Returns the physical partitions of the container.
    #[must_use]
    pub const fn map(&self) -> &PartitionMap {
        &self.map
    }

    /// Returns the load of each partition, in order.
    #[must_use]
    pub fn heat(&self) -> Vec<Heat> {
        self.map.partitions().iter().map(|partition| self.heat_of(partition.id, &partition.range)).collect()
    }

    fn inside<'a>(&'a self, range: &'a EpkRange) -> impl Iterator<Item = (&'a Epk, &'a KeyLoad)> {
        self.keys.range(range.start()..).take_while(|(epk, _)| *epk < range.end())
    }

    fn heat_of(&self, id: u32, range: &EpkRange) -> Heat {
        let (mut keys, mut bytes, mut growth, mut ru) = (0, 0.0, 0.0, 0.0);
        for (_, load) in self.inside(range) {
            keys += 1;
            bytes += load.bytes;
            growth += load.growth;
            ru += load.ru;
        }
        let share = self.share();
        let full = f64::max(bytes / self.bounds.physical_bytes, ru / share);
        Heat { id, range: range.clone(), keys, bytes, growth, ru, share, full }
    }

    /// Returns the partition keys that use at least the fraction `part` of their limits, fullest first. Each comes with the fraction it uses.
    ///
    /// Once a key reaches a fraction of 1, the service rejects writes to it or throttles its requests. A split does not help then, but an additional level does
    /// (HPK-26).
    #[must_use]
    pub fn near(&self, part: f64) -> Vec<(&KeyLoad, f64)> {
        let mut near: Vec<(&KeyLoad, f64)> = self
            .keys
            .values()
            .map(|load| (load, self.full(load)))
            .filter(|(_, full)| *full >= part)
            .collect();
        near.sort_by(|left, right| right.1.total_cmp(&left.1));
        near
    }

    fn full(&self, load: &KeyLoad) -> f64 {
        f64::max(load.bytes / self.bounds.logical_bytes, load.ru / self.bounds.logical_ru.min(self.share()))
    }

    /// Returns the next split, or `None` if no split is due and no partition grows. Partitions that can be split come before partitions that cannot.
    ///
    /// If the throughput requires more partitions, the partition with the most data is split in the middle of its data. If its keys have no data, each half
    /// gets equally many keys. If no partition contains more than one key, the widest range is halved.
    #[must_use]
    pub fn next_split(&self) -> Option<NextSplit> {
        let heat = self.heat();
        let by_storage = heat.iter().filter_map(|heat| self.split_of(heat)).min_by(|left, right| {
            (left.at.is_none().cmp(&right.at.is_none())).then(left.seconds.total_cmp(&right.seconds))
        });
        let is_due = |split: &NextSplit| split.seconds <= 0.0 && split.at.is_some();
        if by_storage.as_ref().is_some_and(is_due) || !self.needs_partitions() {
            return by_storage;
        }
        self.throughput_split(&heat)
    }

    /// Returns the next split that the stored bytes of a partition cause. Returns `None` if the partition is within the limit and does not grow.
    fn split_of(&self, heat: &Heat) -> Option<NextSplit> {
        let seconds = if heat.bytes > self.bounds.physical_bytes {
            0.0
        } else if heat.growth > 0.0 {
            (self.bounds.physical_bytes - heat.bytes) / heat.growth
        } else {
            return None;
        };
        let at = self.middle(&heat.range, |load| load.bytes);
        Some(NextSplit { id: heat.id, cause: Cause::Storage, seconds, at })
    }

    fn throughput_split(&self, heat: &[Heat]) -> Option<NextSplit> {
        // Each key counts as one extra byte. A partition whose keys have no data is therefore split into halves with equally many keys.
        let weight = |load: &KeyLoad| load.bytes + 1.0;
        let divisible = heat.iter().filter_map(|heat| {
            let at = self.middle(&heat.range, weight)?;
            let whole: f64 = self.inside(&heat.range).map(|(_, load)| weight(load)).sum();
            Some((whole, heat.id, at))
        });
        let widest = || heat.iter().map(|heat| (heat.range.width(), heat.id, heat.range.middle()));
        let first_of_most = |left: &(f64, u32, Epk), right: &(f64, u32, Epk)| right.0.total_cmp(&left.0);
        let (_, id, at) = divisible.min_by(first_of_most).or_else(|| widest().min_by(first_of_most))?;
        Some(NextSplit { id, cause: Cause::Throughput, seconds: 0.0, at: Some(at) })
    }

    /// Returns `true` if the container's throughput exceeds the combined maximum of its current partitions.
    fn needs_partitions(&self) -> bool {
        let partitions = f64::from(u32::try_from(self.map.partitions().len()).unwrap_or(u32::MAX));
        self.throughput.is_some_and(|ru| ru > partitions * self.bounds.physical_ru)
    }

    /// Returns the key at which a split divides the weight most evenly. Returns `None` if one side would always have no weight.
    fn middle(&self, range: &EpkRange, weight: impl Fn(&KeyLoad) -> f64) -> Option<Epk> {
        let whole = self.inside(range).map(|(_, load)| weight(load)).fold(0.0, |sum, weight| sum + weight);
        let half = whole / 2.0;
        let mut before = 0.0;
        let mut best: Option<(f64, &Epk)> = None;
        for (epk, load) in self.inside(range) {
            let off = f64::abs(before - half);
            if epk > range.start()
                && 0.0 < before
                && before < whole
                && best.is_none_or(|(least, _)| off < least)
            {
                best = Some((off, epk));
            }
            before += weight(load);
        }
        best.map(|(_, epk)| epk.clone())
    }

    /// Performs all due splits and returns them. If a partition is too large because of a single key, it is not split. [`near`](Self::near) lists such keys.
    ///
    /// # Errors
    /// `InvalidInput` if the throughput is not a number. `InvalidInput` if the throughput or the stored bytes need more than 1,000 partitions.
    pub fn settle(&mut self) -> Result<Vec<NextSplit>> {
        let mut made = Vec::new();
        let needed = self.throughput.map_or(0.0, |ru| (ru / self.bounds.physical_ru).ceil());
        // Written this way because of NaN, for which `needed > MOST_PARTITIONS` would be `false`.
        let is_possible = needed <= MOST_PARTITIONS;
        if !is_possible {
            let message = format!(
                "the throughput needs {needed} physical partitions, at most {MOST_PARTITIONS} are modelled; check the number"
            );
            return Err(Error::new(ErrorCode::InvalidInput, message));
        }
        while let Some(split) = self.next_split() {
            let Some(at) = split.at.as_ref().filter(|_| split.seconds <= 0.0) else { break };
            if made.len() >= MOST_SPLITS {
                let message = format!(
                    "the data needs more than {MOST_PARTITIONS} physical partitions, which is the maximum that is modelled; check the days and the sizes"
                );
                return Err(Error::new(ErrorCode::InvalidInput, message));
            }
            self.map.split(split.id, at)?;
            made.push(split);
        }
        Ok(made)
    }
}

fn components(levels: &[String]) -> Vec<Component<'_>> {
    levels.iter().map(|level| Component::text(level.as_str())).collect()
}

#[cfg(test)]
mod tests;
