//! A heat map of the load on partitions over time.

use crate::random::real;

/// The maximum number of partitions with a row in a heat map.
const ROWS: usize = 16;
/// The maximum number of columns in a heat map.
const COLUMNS: u32 = 60;

/// The load of one operation on one partition, in entities written or pages read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Touch {
    pub(super) second: u32,
    pub(super) partition: usize,
    pub(super) load: u64,
}

/// A heat map: the load by partition and time, in entities written and pages read per second.
///
/// The sixteen hottest partitions have a row each, in key order.
///
/// ```
/// use table_advice::HeatMap;
///
/// /// Returns the highest value in the heat map.
/// fn hottest(map: &HeatMap) -> f64 {
///     let shown = map.rows.iter().flat_map(|(_, cells)| cells).copied();
///     shown.fold(map.hottest_other, f64::max)
/// }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct HeatMap {
    /// The number of seconds per column. The last column may be shorter.
    pub seconds_per_column: u32,
    /// The displayed partitions, each with its cells. The name of a partition is its PartitionKey. If the name of the table is known, it precedes the
    /// PartitionKey.
    pub rows: Vec<(String, Vec<f64>)>,
    /// The number of partitions without a row.
    pub others: usize,
    /// The highest value among the partitions without a row.
    pub hottest_other: f64,
}

impl HeatMap {
    pub(super) fn new(names: &[String], touches: &[Touch], seconds: u32) -> Self {
        let mut totals: Vec<(usize, u64)> = (0..names.len()).map(|number| (number, 0)).collect();
        for touch in touches {
            if let Some((_, total)) = totals.get_mut(touch.partition) {
                *total = total.saturating_add(touch.load);
            }
        }
        let name = |number: usize| names.get(number).map_or("", String::as_str);
        totals.sort_by(|left, right| right.1.cmp(&left.1).then_with(|| name(left.0).cmp(name(right.0))));
        let mut row_of = vec![None; names.len()];
        let mut shown: Vec<usize> = totals.iter().take(ROWS).map(|(number, _)| *number).collect();
        shown.sort_by(|left, right| name(*left).cmp(name(*right)));
        for (row, number) in shown.iter().enumerate() {
            if let Some(place) = row_of.get_mut(*number) {
                *place = Some(row);
            }
        }
        let seconds_per_column = seconds.div_ceil(COLUMNS).max(1);
        let columns = usize::try_from(seconds.div_ceil(seconds_per_column)).unwrap_or_default();
        let mut rows: Vec<_> =
            shown.iter().map(|number| (name(*number).to_owned(), vec![0.0; columns])).collect();
        let mut others = std::collections::BTreeMap::new();
        for touch in touches {
            let column = touch.second / seconds_per_column;
            // The last column may be shorter.
            let length = seconds_per_column.min(seconds - (column * seconds_per_column).min(seconds)).max(1);
            let load = real(touch.load) / f64::from(length);
            match row_of.get(touch.partition).copied().flatten() {
                Some(row) => {
                    let cells = rows.get_mut(row).map(|(_, cells)| cells);
                    let place = usize::try_from(column).unwrap_or_default();
                    if let Some(cell) = cells.and_then(|cells| cells.get_mut(place)) {
                        *cell += load;
                    }
                }
                None => *others.entry((touch.partition, column)).or_insert(0.0) += load,
            }
        }
        Self {
            seconds_per_column,
            rows,
            others: names.len().saturating_sub(ROWS),
            hottest_other: others.values().copied().fold(0.0, f64::max),
        }
    }

    /// Returns the highest value among the displayed cells.
    #[must_use]
    pub fn hottest(&self) -> f64 {
        self.rows.iter().flat_map(|(_, cells)| cells).copied().fold(0.0, f64::max)
    }
}
