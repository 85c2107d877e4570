//! Physical partitions: ranges that cover the space of effective partition keys without gaps or overlaps.

use crate::{Epk, EpkRange};
use table_core::{Error, ErrorCode, Result};

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
    /// The number of the partition. Numbers are never reused.
    pub id: u32,
    /// The partition's range of effective partition keys.
    pub range: EpkRange,
    /// All direct and indirect ancestors: the partitions from which splits and merges have created this one (MAP-4).
    pub parents: Vec<u32>,
}

/// The physical partitions of a container, in order. The first partition begins at `Epk::START`, and each subsequent partition begins where its predecessor
/// ends
/// (MAP-1).
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
    /// The partitions. The list is never empty, and the ranges have no gaps or overlaps.
    partitions: Vec<Partition>,
    next: u32,
}

impl PartitionMap {
    /// Creates a map of `count` partitions of equal width, like the partitions of a new container. A count of 0 is treated as 1.
    #[must_use]
    pub fn even(count: u32) -> Self {
        let count = count.max(1);
        // All keys are less than `40`, so they use only a quarter of the possible byte strings.
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

    /// Creates a map from the ranges of a live container. The ranges may be in any order.
    ///
    /// # Errors
    /// `InvalidInput` if the ranges have gaps or overlaps. In that case, read the ranges again (MAP-1).
    pub fn from_ranges(ranges: impl IntoIterator<Item = EpkRange>) -> Result<Self> {
        let mut ranges: Vec<EpkRange> = ranges.into_iter().collect();
        ranges.sort();
        let mut end = &Epk::START;
        for range in &ranges {
            if range.start() != end || range.is_empty() {
                return Err(gap(&format!("{range} does not start at {end}")));
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

    /// Returns all partitions, in order.
    #[must_use]
    pub fn partitions(&self) -> &[Partition] {
        &self.partitions
    }

    /// Returns the partition that contains a key: the last partition that starts at or before the key (MAP-5). For a bound above all keys, returns the last
    /// partition.
    #[must_use]
    pub fn locate(&self, epk: &Epk) -> &Partition {
        let after = self.partitions.partition_point(|partition| partition.range.start() <= epk);
        // The first partition starts at or before every key.
        after.checked_sub(1).and_then(|at| self.partitions.get(at)).unwrap_or(&self.partitions[0])
    }

    /// Returns the partitions touched by a range.
    ///
    /// # Errors
    /// `InvalidInput` if the range is empty. An empty range is a programming error, so it does not produce an empty result (MAP-10).
    pub fn overlaps(&self, range: &EpkRange) -> Result<&[Partition]> {
        let from = self.partitions.partition_point(|partition| partition.range.end() <= range.start());
        let to = self.partitions.partition_point(|partition| partition.range.start() < range.end());
        match self.partitions.get(from..to) {
            Some(touched) if !touched.is_empty() && !range.is_empty() => Ok(touched),
            _ => {
                let message = format!("{range} is empty and touches no partition; pass a range with keys");
                Err(Error::new(ErrorCode::InvalidInput, message).with_rule("MAP-10"))
            }
        }
    }

    fn position(&self, id: u32) -> Result<usize> {
        self.partitions.iter().position(|partition| partition.id == id).ok_or_else(|| {
            Error::new(
                ErrorCode::InvalidInput,
                format!("partition {id} does not exist; it may have been split or merged"),
            )
        })
    }

    fn number(&mut self) -> u32 {
        let id = self.next;
        self.next = self.next.saturating_add(1);
        id
    }

    /// Splits a partition in two and returns the numbers of the new partitions. The second new partition starts at the given key.
    ///
    /// # Errors
    /// `InvalidInput` if the partition does not exist or the key is not inside it.
    pub fn split(&mut self, id: u32, at: &Epk) -> Result<(u32, u32)> {
        let position = self.position(id)?;
        let Partition { range, mut parents, .. } = self.partitions[position].clone();
        if *range.start() >= *at || *at >= *range.end() {
            let message = format!("the bound {at} is not inside {range}");
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

    /// Merges two adjacent partitions and returns the number of the new partition. `left` must precede `right`.
    ///
    /// # Errors
    /// `InvalidInput` if one of the partitions does not exist or they are not adjacent.
    pub fn merge(&mut self, left: u32, right: u32) -> Result<u32> {
        let (first, second) = (self.position(left)?, self.position(right)?);
        if second != first + 1 {
            let message = format!("the partitions {left} and {right} are not adjacent");
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
    let message = format!("the ranges of partitions have a gap or overlap: {what}; read them again");
    Error::new(ErrorCode::InvalidInput, message).with_rule("MAP-1")
}

#[cfg(test)]
mod tests;
