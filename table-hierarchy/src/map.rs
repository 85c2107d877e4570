//! Physical partitions: ranges that tile the space of effective partition keys.

use crate::{Epk, EpkRange};
use table_core::error::{Error, ErrorCode, Result};

/// One physical partition.
///
/// ```
/// use table_hierarchy::{Partition, PartitionMap};
///
/// let map = PartitionMap::even(4);
/// let numbers: Vec<u32> = map.partitions().iter().map(|partition: &Partition| partition.id).collect();
/// assert_eq!(numbers, [0, 1, 2, 3]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partition {
    /// Its number, which no other ever has.
    pub id: u32,
    /// The keys it holds.
    pub range: EpkRange,
    /// All that it was split or merged from (MAP-4).
    pub parents: Vec<u32>,
}

/// The physical partitions of a container, in order: the first begins where the space does, each where the one before it ends (MAP-1).
///
/// ```
/// use table_hierarchy::{Component, Epk, PartitionMap};
///
/// let mut map = PartitionMap::even(2);
/// let key = Epk::of(&["Microsoft", "u1"].map(Component::text));
/// let full = map.locate(&key).id;
/// let (left, right) = map.split(full, &key)?; // between two users of one tenant
/// assert_eq!(map.locate(&key).id, right);
/// assert_eq!(map.partitions().len(), 3);
/// map.merge(left, right)?;
/// assert_eq!(map.partitions().len(), 2);
/// # Ok::<(), table_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartitionMap {
    /// Never empty, and tiling.
    partitions: Vec<Partition>,
    next: u32,
}

impl PartitionMap {
    /// So many partitions of the same width, at least one: how containers of one throughput begin.
    #[must_use]
    pub fn even(count: u32) -> Self {
        let count = count.max(1);
        // Keys take the quarter below 40.
        let bound = |at: u32| match at {
            0 => Epk::START,
            at if at == count => Epk::END,
            at => {
                Epk::from_bytes(((1_u128 << 126) / u128::from(count) * u128::from(at)).to_be_bytes().to_vec())
            }
        };
        let partition = |id| Partition {
            id,
            range: EpkRange::new(bound(id), bound(id.saturating_add(1))),
            parents: Vec::new(),
        };
        Self { partitions: (0..count).map(partition).collect(), next: count }
    }

    /// The ranges of a live container, in any order.
    ///
    /// # Errors
    /// `InvalidInput` where they do not tile the space: read them again (MAP-1).
    pub fn from_ranges(ranges: impl IntoIterator<Item = EpkRange>) -> Result<Self> {
        let mut ranges: Vec<EpkRange> = ranges.into_iter().collect();
        ranges.sort();
        let mut end = &Epk::START;
        for range in &ranges {
            if range.start() != end || range.is_empty() {
                return Err(gap(&format!("{range} does not begin at {end}")));
            }
            end = range.end();
        }
        if *end != Epk::END {
            return Err(gap(&format!("the last range ends at {end}")));
        }
        let numbered = (0..).zip(ranges).map(|(id, range)| Partition { id, range, parents: Vec::new() });
        let partitions: Vec<Partition> = numbered.collect();
        let next = u32::try_from(partitions.len()).unwrap_or(u32::MAX);
        Ok(Self { partitions, next })
    }

    /// All, in order.
    #[must_use]
    pub fn partitions(&self) -> &[Partition] {
        &self.partitions
    }

    /// The one that holds a key: the rightmost that begins at it or before it (MAP-5). What is not a key lies in the last.
    #[must_use]
    pub fn locate(&self, epk: &Epk) -> &Partition {
        let after = self.partitions.partition_point(|partition| partition.range.start() <= epk);
        // The first begins before every key.
        after.checked_sub(1).and_then(|at| self.partitions.get(at)).unwrap_or(&self.partitions[0])
    }

    /// Those that a range touches.
    ///
    /// # Errors
    /// `InvalidInput` for an empty range, which is not the same as finding nothing (MAP-10).
    pub fn overlaps(&self, range: &EpkRange) -> Result<&[Partition]> {
        let from = self.partitions.partition_point(|partition| partition.range.end() <= range.start());
        let to = self.partitions.partition_point(|partition| partition.range.start() < range.end());
        match self.partitions.get(from..to) {
            Some(touched) if !touched.is_empty() && !range.is_empty() => Ok(touched),
            _ => {
                let message =
                    format!("{range} touches no partition: a fault of the program, not an empty answer");
                Err(Error::new(ErrorCode::InvalidInput, message).with_rule("MAP-10"))
            }
        }
    }

    fn position(&self, id: u32) -> Result<usize> {
        self.partitions.iter().position(|partition| partition.id == id).ok_or_else(|| {
            Error::new(ErrorCode::InvalidInput, format!("there is no partition {id}: it was split or merged"))
        })
    }

    fn number(&mut self) -> u32 {
        let id = self.next;
        self.next = self.next.saturating_add(1);
        id
    }

    /// Splits a partition in two, the second of which begins with this key.
    ///
    /// # Errors
    /// `InvalidInput` if there is no such partition, or the bound does not lie inside it.
    pub fn split(&mut self, id: u32, at: &Epk) -> Result<(u32, u32)> {
        let position = self.position(id)?;
        let Partition { range, mut parents, .. } = self.partitions[position].clone();
        if *range.start() >= *at || *at >= *range.end() {
            let message = format!("the bound {at} does not divide {range}");
            return Err(Error::new(ErrorCode::InvalidInput, message));
        }
        parents.push(id);
        let (left, right) = (self.number(), self.number());
        let halves = [
            Partition {
                id: left,
                range: EpkRange::new(range.start().clone(), at.clone()),
                parents: parents.clone(),
            },
            Partition { id: right, range: EpkRange::new(at.clone(), range.end().clone()), parents },
        ];
        self.partitions.splice(position..=position, halves);
        Ok((left, right))
    }

    /// Makes one of two neighbours, the first of which is on the left.
    ///
    /// # Errors
    /// `InvalidInput` if one of them is not there, or they are not neighbours.
    pub fn merge(&mut self, left: u32, right: u32) -> Result<u32> {
        let (first, second) = (self.position(left)?, self.position(right)?);
        if second != first + 1 {
            let message = format!("the partitions {left} and {right} are no neighbours");
            return Err(Error::new(ErrorCode::InvalidInput, message));
        }
        let (one, other) = (&self.partitions[first], &self.partitions[second]);
        let mut parents = [one.parents.as_slice(), &other.parents, &[left, right]].concat();
        parents.sort_unstable();
        parents.dedup();
        let range = EpkRange::new(one.range.start().clone(), other.range.end().clone());
        let id = self.number();
        self.partitions.splice(first..=second, [Partition { id, range, parents }]);
        Ok(id)
    }
}

fn gap(what: &str) -> Error {
    let message = format!("the ranges of partitions have a gap or overlap: {what}: read them again");
    Error::new(ErrorCode::InvalidInput, message).with_rule("MAP-1")
}

#[cfg(test)]
mod tests;
