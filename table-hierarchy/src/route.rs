//! The physical partitions that a question touches, and why.

mod any;

use std::fmt;

use crate::{Component, EpkRange, PartitionMap};
use table_core::error::Result;

/// The most ranges that one question is made of: more, and its deepest level is looked at in the answer instead (RT-9).
const MOST_RANGES: usize = 256;

/// What a question says of one level.
#[derive(Clone, Debug, PartialEq)]
pub enum Fixed<'a> {
    /// Nothing that narrows the ranges: no condition, or one that a hash does not keep, such as a range or a prefix of text (RT-11).
    Not,
    /// One of these values (RT-8).
    To(Vec<Component<'a>>),
}

/// What a question costs, by the levels that it fixes and never by how many partitions there happen to be (HPK-39).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RouteClass {
    /// The conditions exclude each other: no partition.
    Empty,
    /// Every level has one value: one partition (RT-1).
    SinglePartition,
    /// Every level has some values: one partition for each key at most.
    MultiPoint,
    /// The first levels are fixed: the partitions that hold them (RT-2).
    Targeted,
    /// The first level is not fixed: every partition (RT-3).
    FanOut,
}

impl fmt::Display for RouteClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Empty => "empty",
            Self::SinglePartition => "single partition",
            Self::MultiPoint => "some whole keys",
            Self::Targeted => "targeted cross-partition",
            Self::FanOut => "fan-out",
        })
    }
}

/// A partition that a question touches.
///
/// ```
/// use table_hierarchy::{Fixed, PartitionMap, Route, Touched};
///
/// let all = Route::new(&[Fixed::Not], &PartitionMap::even(2))?;
/// assert!(all.touched.iter().all(|touched: &Touched| touched.whole));
/// # Ok::<(), table_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Touched {
    /// Its number.
    pub id: u32,
    /// What of it is asked for (RT-4).
    pub range: EpkRange,
    /// All of it is, so that the request needs no bounds.
    pub whole: bool,
}

/// Where a question goes.
///
/// ```
/// use table_hierarchy::{Component, Fixed, PartitionMap, Route, RouteClass};
///
/// let map = PartitionMap::even(4);
/// let one = |text| Fixed::To(vec![Component::text(text)]);
/// let tenant = Route::new(&[one("Microsoft"), Fixed::Not, Fixed::Not], &map)?;
/// assert_eq!((tenant.class, tenant.touched.len(), tenant.total), (RouteClass::Targeted, 1, 4));
///
/// let user = Route::new(&[Fixed::Not, one("u1"), Fixed::Not], &map)?;
/// assert_eq!((user.class, user.touched.len()), (RouteClass::FanOut, 4));
/// assert_eq!(user.reasons, ["level 2 is fixed but level 1 is not: every partition is asked"]);
/// # Ok::<(), table_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Route {
    /// What it costs.
    pub class: RouteClass,
    /// How many levels narrow it.
    pub depth: usize,
    /// The ranges asked for, in order and apart.
    pub ranges: Vec<EpkRange>,
    /// The partitions, in order; one that two ranges touch is there twice.
    pub touched: Vec<Touched>,
    /// How many partitions there are.
    pub total: usize,
    /// What a reader should know, in words.
    pub reasons: Vec<String>,
}

impl Route {
    /// Of a question that says this of each level, the first level first.
    ///
    /// # Errors
    /// None where the map tiles the space, as every map does.
    pub fn new(levels: &[Fixed<'_>], map: &PartitionMap) -> Result<Self> {
        let mut reasons = Vec::new();
        let sets: Vec<&[Component<'_>]> = levels
            .iter()
            .map_while(|level| match level {
                Fixed::To(values) => Some(values.as_slice()),
                Fixed::Not => None,
            })
            .collect();
        let empty = levels.iter().any(|level| matches!(level, Fixed::To(values) if values.is_empty()));
        let skipped = levels.iter().enumerate().skip(sets.len()).filter(|(_, level)| **level != Fixed::Not);
        for (at, _) in skipped {
            let (level, missing) = (at + 1, sets.len() + 1);
            let then =
                if sets.is_empty() { "every partition is asked" } else { "it only filters what is found" };
            reasons.push(format!("level {level} is fixed but level {missing} is not: {then}"));
        }
        let (depth, keys) = if empty { (sets.len(), Vec::new()) } else { product(&sets, &mut reasons) };
        let class = match keys.as_slice() {
            _ if empty => RouteClass::Empty,
            _ if depth == 0 => RouteClass::FanOut,
            [_] if depth == levels.len() => RouteClass::SinglePartition,
            _ if depth == levels.len() => RouteClass::MultiPoint,
            _ => RouteClass::Targeted,
        };
        let range = |key: &Vec<Component<'_>>| match key.len() {
            0 => EpkRange::ALL,
            all if all == levels.len() => EpkRange::of_key(key),
            _ => EpkRange::of_prefix(key),
        };
        let mut ranges: Vec<EpkRange> = keys.iter().map(range).collect();
        ranges.sort();
        ranges.dedup();
        let touched = touched(&ranges, map)?;
        Ok(Self { class, depth, ranges, touched, total: map.partitions().len(), reasons })
    }

    /// How many partitions are touched, each counted once.
    #[must_use]
    pub fn partitions(&self) -> usize {
        let mut ids: Vec<u32> = self.touched.iter().map(|touched| touched.id).collect();
        ids.sort_unstable();
        ids.dedup();
        ids.len()
    }
}

/// The parts of partitions that lie in the ranges.
fn touched(ranges: &[EpkRange], map: &PartitionMap) -> Result<Vec<Touched>> {
    let mut touched = Vec::new();
    for range in ranges {
        for partition in map.overlaps(range)? {
            if let Some(clipped) = partition.range.intersection(range) {
                let whole = clipped == partition.range;
                touched.push(Touched { id: partition.id, range: clipped, whole });
            }
        }
    }
    Ok(touched)
}

/// Every choice of one value a level, of as many levels as give not too many.
fn product<'a>(sets: &[&[Component<'a>]], reasons: &mut Vec<String>) -> (usize, Vec<Vec<Component<'a>>>) {
    let mut keys: Vec<Vec<Component<'a>>> = vec![Vec::new()];
    for (depth, values) in sets.iter().enumerate() {
        if keys.len().saturating_mul(values.len()) > MOST_RANGES {
            reasons.push(format!(
                "the values of level {} would make more than {MOST_RANGES} ranges: it only filters what is found",
                depth + 1
            ));
            return (depth, keys);
        }
        let longer = |key: &Vec<Component<'a>>, value: &Component<'a>| {
            let mut key = key.clone();
            key.push(value.clone());
            key
        };
        keys = keys
            .iter()
            .flat_map(|key| values.iter().map(|value| longer(key, value)).collect::<Vec<_>>())
            .collect();
    }
    (sets.len(), keys)
}

#[cfg(test)]
mod tests;
