//! Routes: the physical partitions touched by a query, and the reasons for touching them.

mod any;

use std::fmt;

use crate::{Component, EpkRange, PartitionMap};
use table_core::Result;

/// The maximum number of ranges in one query. If the values of a level would need more ranges, the level only filters the results, and does not narrow the
/// query (RT-9).
const MOST_RANGES: usize = 256;

/// A query's condition on one level of the partition key.
#[derive(Clone, Debug, PartialEq)]
pub enum Fixed<'a> {
    /// The level has no condition that narrows the ranges. This includes a range of values and a prefix, because hashes do not preserve order (RT-11).
    Not,
    /// The level has one of the given values (RT-8).
    To(Vec<Component<'a>>),
}

/// The class of a query. It depends on which levels the query fixes, not on the current number of partitions (HPK-39).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RouteClass {
    /// The conditions of the query exclude each other, so it touches no partition.
    Empty,
    /// Every level has a single value, so the query touches one partition (RT-1).
    SinglePartition,
    /// Every level has a set of values, so the query touches at most one partition per key.
    MultiPoint,
    /// Only the first levels are fixed, so the query touches the partitions of a prefix (RT-2).
    Targeted,
    /// The first level is not fixed, so the query touches every partition (RT-3).
    FanOut,
}

impl fmt::Display for RouteClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Empty => "empty",
            Self::SinglePartition => "single partition",
            Self::MultiPoint => "several partition keys",
            Self::Targeted => "targeted cross-partition",
            Self::FanOut => "fan-out",
        })
    }
}

/// A partition touched by a query.
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
    /// The number of the partition.
    pub id: u32,
    /// The part of the partition's range that is requested (RT-4).
    pub range: EpkRange,
    /// `true` if the entire partition is requested. The request then needs no bounds.
    pub whole: bool,
}

/// The physical partitions and key ranges read by a query.
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
/// assert_eq!(user.reasons, ["level 2 is fixed but level 1 is not: the query goes to every partition"]);
/// # Ok::<(), table_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Route {
    /// The class of the query, which determines its cost.
    pub class: RouteClass,
    /// The number of levels that narrow the ranges.
    pub depth: usize,
    /// The requested ranges, disjoint and in order.
    pub ranges: Vec<EpkRange>,
    /// The touched partitions, in order. A partition that two ranges touch occurs twice.
    pub touched: Vec<Touched>,
    /// The number of partitions in the container.
    pub total: usize,
    /// Notes for the user, for example about conditions that do not narrow the query.
    pub reasons: Vec<String>,
}

impl Route {
    /// Returns the route of a query. `levels` contains the query's condition on each level, starting with the first level.
    ///
    /// # Errors
    /// `InvalidInput` if the map has gaps. This cannot happen, because a `PartitionMap` has no gaps.
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
            let then = if sets.is_empty() {
                "the query goes to every partition"
            } else {
                "it only filters the results"
            };
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

    /// Returns the number of distinct partitions touched by the query.
    #[must_use]
    pub fn partitions(&self) -> usize {
        let mut ids: Vec<u32> = self.touched.iter().map(|touched| touched.id).collect();
        ids.sort_unstable();
        ids.dedup();
        ids.len()
    }
}

/// Returns the parts of the partitions that are inside the given ranges.
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

/// Returns the distinct values of a level. Stops when the number of values exceeds the number of ranges allowed in a query.
fn different<'s, 'a>(values: &'s [Component<'a>]) -> Vec<&'s Component<'a>> {
    let mut found = Vec::new();
    for value in values {
        if found.len() > MOST_RANGES {
            break;
        }
        if !found.contains(&value) {
            found.push(value);
        }
    }
    found
}

/// Returns all combinations of the levels' values as keys, and the number of levels used. Stops before the first level whose values would need too many ranges.
fn product<'a>(sets: &[&[Component<'a>]], reasons: &mut Vec<String>) -> (usize, Vec<Vec<Component<'a>>>) {
    let mut keys: Vec<Vec<Component<'a>>> = vec![Vec::new()];
    for (depth, values) in sets.iter().enumerate() {
        let values = different(values);
        if keys.len().saturating_mul(values.len()) > MOST_RANGES {
            reasons.push(format!(
                "the values of level {} would make more than {MOST_RANGES} ranges: it only filters the results",
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
