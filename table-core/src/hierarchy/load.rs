//! The load of physical partitions: which is hot, and which splits next.

mod orders;

pub use orders::Order;

use std::collections::BTreeMap;

use crate::error::Result;
use crate::hierarchy::{Component, Epk, EpkRange, PartitionMap};

/// A gigabyte, as the service counts.
const GB: f64 = 1_000_000_000.0;

/// How far partitions go.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Bounds {
    /// Bytes of a whole key, beyond which its writes are refused (LIM-1, HPK-17).
    pub logical_bytes: f64,
    /// Request units a second of a whole key (LIM-1).
    pub logical_ru: f64,
    /// Bytes of a physical partition, beyond which it is split (HPK-24).
    pub physical_bytes: f64,
    /// Request units a second of a physical partition (LIM-2).
    pub physical_ru: f64,
}

impl Bounds {
    /// Those of the documentation: 20 GB and 50 GB, 10,000 request units a second for either.
    pub const SERVICE: Self = Self {
        logical_bytes: 20.0 * GB,
        logical_ru: 10_000.0,
        physical_bytes: 50.0 * GB,
        physical_ru: 10_000.0,
    };

    /// Other sizes, the throughput as the service has it: for pictures and tests of small data.
    #[must_use]
    pub const fn of_bytes(logical: f64, physical: f64) -> Self {
        Self { logical_bytes: logical, physical_bytes: physical, ..Self::SERVICE }
    }
}

/// What one whole key holds and takes.
#[derive(Clone, Debug, PartialEq)]
pub struct KeyLoad {
    /// The texts of its levels.
    pub levels: Vec<String>,
    /// Bytes stored.
    pub bytes: f64,
    /// Bytes that come each second.
    pub growth: f64,
    /// Request units a second.
    pub ru: f64,
}

/// What one physical partition holds and takes.
#[derive(Clone, Debug, PartialEq)]
pub struct Heat {
    /// The partition's number.
    pub id: u32,
    /// Its keys.
    pub range: EpkRange,
    /// How many whole keys it holds.
    pub keys: usize,
    /// Bytes stored.
    pub bytes: f64,
    /// Bytes that come each second.
    pub growth: f64,
    /// Request units a second.
    pub ru: f64,
    /// The part of what it can take or hold that is used, whichever is more; 1 is full.
    pub full: f64,
}

/// Why a partition is split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// It holds too much.
    Storage,
    /// It is asked for too much.
    Throughput,
}

/// The next split.
#[derive(Clone, Debug, PartialEq)]
pub struct NextSplit {
    /// The partition.
    pub id: u32,
    /// Why.
    pub cause: Cause,
    /// In how many seconds; 0 if it is due.
    pub seconds: f64,
    /// Where; `None` if it holds a single key, which no split divides (LIM-11): add a level.
    pub at: Option<Epk>,
}

/// The whole keys of a container with their load, on a map of partitions.
///
/// ```
/// use table_core::hierarchy::{Bounds, Cause, Heat, KeyLoad, Load, NextSplit, PartitionMap};
///
/// let key = |tenant: &str, user: u32, gigabytes: f64| KeyLoad {
///     levels: vec![tenant.to_owned(), format!("u{user}")],
///     bytes: gigabytes * 1e9,
///     growth: 1e5,
///     ru: 40.0,
/// };
/// // One tenant of a hundred users is beyond 20 GB, and no user is.
/// let keys = (0..100).map(|user| key("Microsoft", user, 0.6)).collect();
/// let mut load = Load::new(PartitionMap::even(1), keys, Bounds::SERVICE);
/// let next: NextSplit = load.next_split().expect("60 GB are beyond 50");
/// assert_eq!((next.cause, next.seconds), (Cause::Storage, 0.0));
///
/// load.settle()?; // splits until nothing is due
/// assert_eq!(load.map().partitions().len(), 2);
/// assert!(load.heat().iter().all(|heat: &Heat| heat.full < 1.0));
/// # Ok::<(), table_core::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Load {
    map: PartitionMap,
    /// In the order of their effective partition keys.
    keys: BTreeMap<Epk, KeyLoad>,
    bounds: Bounds,
}

impl Load {
    /// Keys on a map; what is said twice of one key is added.
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
        Self { map, keys, bounds }
    }

    /// The partitions.
    #[must_use]
    pub const fn map(&self) -> &PartitionMap {
        &self.map
    }

    /// The heat of each partition, in their order.
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
        let full = f64::max(bytes / self.bounds.physical_bytes, ru / self.bounds.physical_ru);
        Heat { id, range: range.clone(), keys, bytes, growth, ru, full }
    }

    /// Whole keys that use this part of what a key may hold or take, or more, the fullest first: at 1 their writes are refused, and
    /// no split helps. Another level does (HPK-26).
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
        f64::max(load.bytes / self.bounds.logical_bytes, load.ru / self.bounds.logical_ru)
    }

    /// The split that comes first, among partitions that can be divided before those that cannot; `None` where nothing grows.
    #[must_use]
    pub fn next_split(&self) -> Option<NextSplit> {
        let splits = self.heat().into_iter().filter_map(|heat| self.split_of(&heat));
        splits.min_by(|left, right| {
            (left.at.is_none().cmp(&right.at.is_none())).then(left.seconds.total_cmp(&right.seconds))
        })
    }

    fn split_of(&self, heat: &Heat) -> Option<NextSplit> {
        let (cause, seconds) = if heat.bytes > self.bounds.physical_bytes {
            (Cause::Storage, 0.0)
        } else if heat.ru > self.bounds.physical_ru {
            (Cause::Throughput, 0.0)
        } else if heat.growth > 0.0 {
            (Cause::Storage, (self.bounds.physical_bytes - heat.bytes) / heat.growth)
        } else {
            return None;
        };
        let weight = |load: &KeyLoad| match cause {
            Cause::Storage => load.bytes,
            Cause::Throughput => load.ru,
        };
        Some(NextSplit { id: heat.id, cause, seconds, at: self.middle(&heat.range, weight) })
    }

    /// The key that comes nearest to having half the weight before it, among those that leave some on both sides.
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

    /// Splits until no split is due, and says which were made. Partitions of a single key that are too full stay
    /// ([`near`](Self::near) lists them).
    ///
    /// # Errors
    /// None: each bound lies inside its partition.
    pub fn settle(&mut self) -> Result<Vec<NextSplit>> {
        let mut made = Vec::new();
        while let Some(split) = self.next_split() {
            let Some(at) = split.at.as_ref().filter(|_| split.seconds <= 0.0) else { break };
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
