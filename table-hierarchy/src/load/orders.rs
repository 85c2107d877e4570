//! Compares all possible orders of a key's levels.

use crate::load::{KeyLoad, Load};
use crate::{Component, Fixed, PartitionMap, Route};
use table_core::Result;

/// One order of the levels, with the load that results from it.
///
/// ```
/// use table_hierarchy::{Bounds, KeyLoad, Load, Order, PartitionMap};
///
/// let key = |tenant: u32, user: u32| KeyLoad {
///     levels: vec![format!("t{tenant}"), format!("u{user}")],
///     bytes: 0.0,
///     growth: 0.0,
///     ru: 1.0,
/// };
/// // Two tenants have 500 users each, and each query specifies the user.
/// let keys = (0..1_000).map(|user| key(user % 2, user)).collect();
/// let load = Load::new(PartitionMap::even(8), keys, Bounds::SERVICE);
/// let orders: Vec<Order> = load.orders(&[vec![false, true]])?;
/// assert_eq!((&orders[0].levels, orders[0].first_values), (&vec![1, 0], 1_000)); // the user first
/// # Ok::<(), table_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Order {
    /// The levels in the new order, as zero-based positions in the current order.
    pub levels: Vec<usize>,
    /// The number of distinct values in the first level.
    pub first_values: usize,
    /// The utilization of the fullest partition.
    pub fullest: f64,
    /// The utilization of the fullest partition key, as a fraction of its limits.
    pub fullest_key: f64,
    /// The number of partitions touched by each query, averaged over the current keys.
    pub touched: Vec<f64>,
}

impl Load {
    /// Simulates every possible order of the levels, and returns the results, best order first.
    ///
    /// For each order, the keys are distributed over partitions of equal width, as many as the container has now. Then all due splits are performed. Each query
    /// in `questions` is a list with one entry per level: `true` if the query fixes the level.
    ///
    /// Orders are sorted by these criteria:
    /// 1. Orders whose first level has fewer values than the container has partitions come last, because they leave partitions idle (HPK-9).
    /// 2. Orders with an overloaded partition, whose requests are throttled, come after orders without one.
    /// 3. Orders that are equal in both respects are sorted by the number of partitions that the queries touch.
    ///
    /// # Errors
    /// `InvalidInput`, as in [`settle`](Self::settle), if the throughput is not a number or if any order needs too many partitions. An order whose first level
    /// has few values needs the most splits, because all its data starts in few partitions. The call may therefore fail even if the current order does not need
    /// too many.
    pub fn orders(&self, questions: &[Vec<bool>]) -> Result<Vec<Order>> {
        let depth = self.keys.values().map(|load| load.levels.len()).max().unwrap_or_default();
        let mut orders = Vec::new();
        for levels in permutations(depth) {
            orders.push(self.in_order(levels, questions)?);
        }
        let partitions = self.map.partitions().len();
        let sum = |order: &Order| order.touched.iter().sum::<f64>();
        let is_narrow = |order: &Order| order.first_values < partitions;
        orders.sort_by(|left, right| {
            is_narrow(left)
                .cmp(&is_narrow(right))
                .then((left.fullest > 1.0).cmp(&(right.fullest > 1.0)))
                .then(sum(left).total_cmp(&sum(right)))
                .then(left.fullest.total_cmp(&right.fullest))
        });
        Ok(orders)
    }

    fn in_order(&self, levels: Vec<usize>, questions: &[Vec<bool>]) -> Result<Order> {
        let reordered = |load: &KeyLoad| KeyLoad {
            levels: levels.iter().filter_map(|at| load.levels.get(*at).cloned()).collect(),
            ..load.clone()
        };
        let count = u32::try_from(self.map.partitions().len()).unwrap_or(u32::MAX);
        let keys = self.keys.values().map(reordered).collect();
        let mut other =
            Self { throughput: self.throughput, ..Self::new(PartitionMap::even(count), keys, self.bounds) };
        other.settle()?;
        let first_values = other.first_values();
        let mut touched = Vec::new();
        for question in questions {
            let fixes: Vec<bool> =
                levels.iter().map(|at| question.get(*at).copied().unwrap_or_default()).collect();
            touched.push(other.touched(&fixes)?);
        }
        let fullest = other.heat().iter().map(|heat| heat.full).fold(0.0, f64::max);
        let fullest_key = other.keys.values().map(|load| other.full(load)).fold(0.0, f64::max);
        Ok(Order { levels, first_values, fullest, fullest_key, touched })
    }

    /// Returns the average number of partitions touched by a query that fixes the given levels.
    fn touched(&self, fixes: &[bool]) -> Result<f64> {
        let (mut sum, mut count) = (0.0, 0.0);
        for load in self.keys.values() {
            let question: Vec<Fixed<'_>> = load
                .levels
                .iter()
                .zip(fixes)
                .map(
                    |(text, fixed)| {
                        if *fixed { Fixed::To(vec![Component::text(text.as_str())]) } else { Fixed::Not }
                    },
                )
                .collect();
            let route = Route::new(&question, &self.map)?;
            sum += f64::from(u32::try_from(route.partitions()).unwrap_or(u32::MAX));
            count += 1.0;
        }
        Ok(if count > 0.0 { sum / count } else { 0.0 })
    }
}

/// Returns all permutations of `0..count`. A key has at most three levels (HPK-2), so at most six permutations exist.
fn permutations(count: usize) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for _ in 0..count.min(3) {
        all = all
            .iter()
            .flat_map(|order: &Vec<usize>| {
                let left = (0..count).filter(|at| !order.contains(at)).collect::<Vec<_>>();
                left.into_iter().map(|at| [order.as_slice(), &[at]].concat()).collect::<Vec<_>>()
            })
            .collect();
    }
    all
}
