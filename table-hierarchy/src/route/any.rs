//! Routes of queries whose alternatives are joined by `OR`.

use crate::route::{Fixed, Route, RouteClass, touched};
use crate::{EpkRange, PartitionMap};
use table_core::Result;

impl Route {
    /// Returns the route of a query whose alternatives are joined by `OR`. It is the union of the routes of the alternatives.
    ///
    /// Each alternative is a list of conditions, one for each level. If an alternative does not fix the first level, the query touches every partition (RT-10).
    ///
    /// ```
    /// use table_hierarchy::{Component, Fixed, PartitionMap, Route, RouteClass};
    ///
    /// let one = |text| Fixed::To(vec![Component::text(text)]);
    /// let map = PartitionMap::even(4);
    /// let tenants = Route::any(&[vec![one("contoso"), Fixed::Not], vec![one("fabrikam"), Fixed::Not]], &map)?;
    /// assert_eq!((tenants.class, tenants.ranges.len()), (RouteClass::Targeted, 2));
    /// let or_a_user = Route::any(&[vec![one("contoso"), Fixed::Not], vec![Fixed::Not, one("ada")]], &map)?;
    /// assert_eq!((or_a_user.class, or_a_user.touched.len()), (RouteClass::FanOut, 4));
    /// # Ok::<(), table_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// `InvalidInput` if the map has gaps. This cannot happen, because a `PartitionMap` has no gaps.
    pub fn any(branches: &[Vec<Fixed<'_>>], map: &PartitionMap) -> Result<Self> {
        let mut routes = Vec::new();
        for branch in branches {
            routes.push(Self::new(branch, map)?);
        }
        routes.retain(|route| route.class != RouteClass::Empty);
        let mut reasons: Vec<String> = routes.iter().flat_map(|route| route.reasons.clone()).collect();
        reasons.dedup();
        let worst = routes.iter().map(|route| route.class).max().unwrap_or(RouteClass::Empty);
        if worst == RouteClass::FanOut && routes.len() > 1 {
            reasons
                .push("one alternative does not fix level 1: the query goes to every partition".to_owned());
        }
        let depth = routes.iter().map(|route| route.depth).min().unwrap_or_default();
        let ranges = apart(routes.into_iter().flat_map(|route| route.ranges).collect());
        let class = match worst {
            RouteClass::SinglePartition if ranges.len() > 1 => RouteClass::MultiPoint,
            class => class,
        };
        let touched = touched(&ranges, map)?;
        Ok(Self { class, depth, ranges, touched, total: map.partitions().len(), reasons })
    }
}

/// Sorts the ranges, and removes those inside another range. The result is disjoint, because two prefix or key ranges are always nested or disjoint.
fn apart(mut ranges: Vec<EpkRange>) -> Vec<EpkRange> {
    ranges.sort_by(|left, right| left.start().cmp(right.start()).then_with(|| right.end().cmp(left.end())));
    let mut apart: Vec<EpkRange> = Vec::new();
    for range in ranges {
        if apart.last().is_none_or(|last| range.start() >= last.end()) {
            apart.push(range);
        }
    }
    apart
}
