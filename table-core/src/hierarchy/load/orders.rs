//! What another order of the levels would give.

use crate::error::Result;
use crate::hierarchy::load::{KeyLoad, Load};
use crate::hierarchy::{Component, Fixed, PartitionMap, Route};

/// What an order of levels gives.
#[derive(Clone, Debug, PartialEq)]
pub struct Order {
    /// The levels in this order, as numbers of the order that there is; the first is 0.
    pub levels: Vec<usize>,
    /// How many distinct values the first of them has.
    pub first_values: usize,
    /// How full the fullest partition is.
    pub fullest: f64,
    /// How full the fullest whole key is.
    pub fullest_key: f64,
    /// For each question, how many partitions it touches on average, over the keys that there are.
    pub touched: Vec<f64>,
}

impl Load {
    /// Every order of the levels with the same keys, on even partitions as many as there are, settled: the least touched first, by
    /// the sum over the questions. A question says which levels it fixes.
    ///
    /// # Errors
    /// None: see [`settle`](Self::settle).
    pub fn orders(&self, questions: &[Vec<bool>]) -> Result<Vec<Order>> {
        let depth = self.keys.values().map(|load| load.levels.len()).max().unwrap_or_default();
        let mut orders = Vec::new();
        for levels in permutations(depth) {
            orders.push(self.in_order(levels, questions)?);
        }
        let sum = |order: &Order| order.touched.iter().sum::<f64>();
        orders.sort_by(|left, right| {
            sum(left).total_cmp(&sum(right)).then(left.fullest.total_cmp(&right.fullest))
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
        let mut other = Self::new(PartitionMap::even(count), keys, self.bounds);
        other.settle()?;
        let mut first: Vec<&String> = other.keys.values().filter_map(|load| load.levels.first()).collect();
        first.sort_unstable();
        first.dedup();
        let first_values = first.len();
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

    /// How many partitions a question touches that fixes these levels, on average over the keys.
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

/// Every order of `0..count`, of which there are at most six: a key has three levels (HPK-2).
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
